"""Events that people enter: kept, changed, removed; forecasts that they touch are made again."""

from dataclasses import asdict
from datetime import date, datetime
from math import isfinite

from django.db import transaction

from apps.accounts.actions.removal import delete_locked
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.planning.models import DemandEvent, ForecastSeries
from apps.planning.queries.events import (
    ADDED,
    EVENT_EFFECTS,
    EVENT_KINDS,
    FACTOR,
    DemandEventFact,
    demand_event,
    touched_series,
)
from apps.planning.queries.series import DIMENSIONS_OF, QUEUE_WAIT

LARGEST_FACTOR, LARGEST_AMOUNT = 1_000, 10**15
EARLIEST, LATEST = date(1970, 1, 2), date(2200, 1, 1)


class EventNotClear(Refusal):
    """A refusal: what was said of an event is not enough, or too much, to act on."""


@logged_change()
@transaction.atomic
def add_demand_event(*, event: DemandEventFact, at: datetime) -> int:
    """Keep an event and have the forecasts that it touches made again; its id. Refuses EventNotClear."""
    check_demand_event(event)
    row = DemandEvent.objects.create(**asdict(event) | {"id": None}, created_at=at)
    forecast_again(event)
    return row.id


@logged_change()
@transaction.atomic
def change_demand_event(*, event: DemandEventFact) -> None:
    """Have the event of this id say this instead. Refuses EventNotClear."""
    check_demand_event(event)
    forecast_again(_event_by_id(event.id))
    DemandEvent.objects.filter(id=event.id).update(**asdict(event))
    forecast_again(event)


@logged_change()
@transaction.atomic
def remove_demand_event(*, event_id: int) -> None:
    """Take its days for ordinary ones again. Refuses EventNotClear where there is none."""
    forecast_again(_event_by_id(event_id))
    delete_locked(DemandEvent.objects.filter(id=event_id))


def check_demand_event(event: DemandEventFact) -> None:
    """Refuse EventNotClear, by the name of the field."""
    if not event.name.strip():
        raise EventNotClear("name", "say what happens")
    if event.kind not in EVENT_KINDS:
        raise EventNotClear("kind", f"{event.kind!r} is none of {', '.join(EVENT_KINDS)}")
    for field, day in (("first_day", event.first_day), ("last_day", event.last_day)):
        if day is not None and not EARLIEST <= day < LATEST:
            raise EventNotClear(field, "that day is out of reach")
    if event.last_day is not None and event.last_day < event.first_day:
        raise EventNotClear("last_day", "it is before the first day")
    _check_series(event)
    _check_effect(event)


def _check_series(event: DemandEventFact) -> None:
    if event.measure and event.measure not in DIMENSIONS_OF:
        raise EventNotClear("measure", f"{event.measure!r} is none of {', '.join(DIMENSIONS_OF)}")
    measures = [event.measure] if event.measure else list(DIMENSIONS_OF)
    if event.dimension and not any(event.dimension in DIMENSIONS_OF[name] for name in measures):
        raise EventNotClear("series", f"{' or '.join(measures)} is not forecast by that")


def _check_effect(event: DemandEventFact) -> None:
    if event.effect not in EVENT_EFFECTS:
        raise EventNotClear("effect", f"{event.effect!r} is none of {', '.join(EVENT_EFFECTS)}")
    for field in (FACTOR, ADDED):
        if (getattr(event, field) is not None) != (event.effect == field):
            needed = "say how much" if event.effect == field else "this belongs to another effect"
            raise EventNotClear(field, needed)
    if event.factor is not None and not 0 <= event.factor <= LARGEST_FACTOR:
        raise EventNotClear("factor", f"from 0 to {LARGEST_FACTOR:,}: 1.4 is 40 % more")
    if event.added is not None:
        _check_added(event, event.added)


def _check_added(event: DemandEventFact, added: float) -> None:
    if not isfinite(added) or abs(added) > LARGEST_AMOUNT:
        raise EventNotClear("added", "that is more than anybody has")
    if not event.measure or event.measure == QUEUE_WAIT:
        raise EventNotClear(
            "measure", "an amount more is of GPU-hours, requests, tokens or spend: say which"
        )
    if event.dimension not in DIMENSIONS_OF[event.measure]:
        raise EventNotClear("series", f"{event.measure} has no such series: say of what it is more")


def _event_by_id(event_id: int) -> DemandEventFact:
    event = demand_event(event_id)
    if event is None:
        raise EventNotClear("", "there is no such event any more")
    return event


def forecast_again(event: DemandEventFact) -> None:
    """The sweep makes forecasts of series that were never looked at, at once."""
    for series in touched_series(event):
        ForecastSeries.objects.filter(**asdict(series)).update(looked_at=None)
