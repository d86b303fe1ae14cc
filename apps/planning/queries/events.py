"""The events that people entered, and what they say of each day of a series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any

from apps.economics.forecast.planned import DayEffect, joint_effect
from apps.planning.models import DemandEvent, DemandEventKind, EventEffect, ForecastSeries
from apps.planning.queries.history import key_of
from apps.planning.queries.series import MEASURES, SeriesKey, is_series_visible, name_of_key
from apps.show.amounts import number
from apps.show.entries import Entry

FACTOR, ADDED, UNKNOWN = map(str, (EventEffect.FACTOR, EventEffect.ADDED, EventEffect.UNKNOWN))
EVENT_KINDS: Mapping[str, str] = dict(DemandEventKind.choices)
EVENT_EFFECTS: Mapping[str, str] = dict(EventEffect.choices)
EVERY_MEASURE = {"": "Every figure", **MEASURES}
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DemandEventFact:
    """An event; see the table for what each field is. `id` is 0 before it is kept."""

    id: int
    name: Annotated[str, Entry("What happens", needed="Say what happens.")]
    kind: Annotated[str, Entry("Kind", choices=EVENT_KINDS)]
    first_day: Annotated[date, Entry("First day", help="a day of the organisation's zone")]
    last_day: Annotated[
        date | None, Entry("Last day", "Empty: from then on.", "null: from then on")
    ]
    measure: Annotated[
        str, Entry("Which figure", help="empty: every figure", choices=EVERY_MEASURE)
    ]
    dimension: str
    key: str
    effect: Annotated[
        str,
        Entry(
            "Effect on a day",
            "Not known: its days before are left out of what is learnt, those ahead are taken as ordinary.",
            "factor, added, or unknown: days before are then left out, those ahead taken as ordinary",
            EVENT_EFFECTS,
        ),
    ]
    factor: Annotated[
        float | None,
        Entry(
            "Factor", "1.4 is 40 % more; 0 is nothing at all.", "1.4 is 40 % more", example="1.4"
        ),
    ]
    added: Annotated[
        float | None,
        Entry(
            "Amount more a day",
            "In the unit of a day of that figure; with a minus: less.",
            "more a day, in the figure's unit",
            example="200",
        ),
    ]

    @property
    def series(self) -> SeriesKey:
        """Return the series that the event names; without a measure of every one."""
        return SeriesKey(self.measure, self.dimension, self.key)

    @property
    def part(self) -> str:
        """The part of the organisation that it touches, as `pool=h100`; empty: all of it."""
        return f"{self.dimension}={name_of_key(self.series)}" if self.dimension else ""

    @property
    def day_effect(self) -> DayEffect:
        """Return the effect of the event on a day of a series that it touches."""
        if self.effect == UNKNOWN:
            return DayEffect(is_unknown=True)
        return DayEffect(
            1.0 if self.factor is None else self.factor, 0.0 if self.added is None else self.added
        )

    def touches(self, series: SeriesKey) -> bool:
        """Whether days of this series are meant.

        An amount more of a part is as much more of the whole organisation, but of no other part; a factor of a part
        says nothing of the whole.
        """
        if self.measure not in ("", series.measure):
            return False
        named, target = (self.dimension, self.key), (series.dimension, series.key)
        if self.effect == ADDED:
            return target in (named, ("", ""))
        return self.dimension == "" or named == target

    def is_on(self, day: date) -> bool:
        """Whether the day is one of its own."""
        return self.first_day <= day and (self.last_day is None or day <= self.last_day)

    def days_within(self, first: date, end: date) -> int:
        """How many of the days from `first` on and before `end` are its own."""
        last = end if self.last_day is None else min(end, self.last_day + DAY)
        return max(0, (last - max(first, self.first_day)).days)


def demand_events(team_ids: frozenset[int] | None = None) -> list[DemandEventFact]:
    """All that these teams (None: who sees everything) may see, the first to begin first."""
    names = DemandEventFact.__slots__
    rows = DemandEvent.objects.order_by("first_day", "id").values(*names)
    return [event for row in rows if _is_event_visible(event := DemandEventFact(**row), team_ids)]


def demand_event(event_id: int) -> DemandEventFact | None:
    """One of them."""
    return next((event for event in demand_events() if event.id == event_id), None)


def events_of(series: SeriesKey) -> list[DemandEventFact]:
    """Those that touch a series."""
    return [event for event in demand_events() if event.touches(series)]


def touched_series(event: DemandEventFact | None = None) -> list[SeriesKey]:
    """The series that are forecast, or those of them that an event touches."""
    keys = sorted(map(key_of, ForecastSeries.objects.all()))
    return [key for key in keys if event is None or event.touches(key)]


def _is_event_visible(event: DemandEventFact, team_ids: frozenset[int] | None) -> bool:
    """Return whether an event is seen: one of everybody is for everybody; of a part, for those who see the part."""
    return event.dimension == "" or is_series_visible(event.series, team_ids)


def describe_effect(effect: str, factor: float | None, added: float | None) -> str:
    """Return `times 1.4`, `+200 a day`, `not known`."""
    if effect == UNKNOWN:
        return "not known"
    if effect == ADDED and added is not None:
        return f"{'+' if added >= 0 else '−'}{number(abs(added))} a day"
    return f"times {factor:g}"


def effects_of_days(events: Sequence[DemandEventFact], first: date, count: int) -> list[DayEffect]:
    """Return the effects of the events that touch a series on each of `count` days of it."""
    days = (first + place * DAY for place in range(count))
    return [
        joint_effect([event.day_effect for event in events if event.is_on(day)]) for day in days
    ]


def events_to_store(
    events: Sequence[DemandEventFact], first: date, starts_on: date, end: date
) -> list[dict[str, Any]]:
    """Those with a day from `first` on and before `end`, as a forecast from `starts_on` on keeps them."""
    return [
        {
            "id": event.id,
            "name": event.name,
            "kind": event.kind,
            "first_day": event.first_day.isoformat(),
            "last_day": event.last_day and event.last_day.isoformat(),
            "effect": event.effect,
            "factor": event.factor,
            "added": event.added,
            "days_before": event.days_within(first, starts_on),
            "days_ahead": event.days_within(starts_on, end),
        }
        for event in events
        if event.days_within(first, end)
    ]
