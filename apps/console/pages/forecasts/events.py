"""Events that forecasts know of: all of them, entering, changing and removing one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.http import HttpResponse
from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts.queries import Role
from apps.console.kit.cells import FIGURE, ISO_DAY, WRAPPED, Locale, linked
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import AmountField, DayField, PickField, TextField
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import Column, Table
from apps.console.pages.forecasts import words
from apps.console.pages.forecasts.switch import horizon_tabs
from apps.console.pages.managers import step_for
from apps.planning.actions.events import (
    add_demand_event,
    change_demand_event,
    check_demand_event,
    remove_demand_event,
)
from apps.planning.queries.events import (
    ADDED,
    EVENT_EFFECTS,
    EVENT_KINDS,
    FACTOR,
    UNKNOWN,
    DemandEventFact,
    demand_event,
    demand_events,
    touched_series,
)
from apps.planning.queries.series import (
    DIMENSIONS,
    MEASURES,
    SeriesKey,
    name_of_key,
    series_title,
    unit_of,
)
from apps.show.amounts import counted
from apps.show.words import joined

MOST_NAMED = 5
EVERY = ":"


def _of_words(event: DemandEventFact) -> str:
    """Return what a demand event touches, in words."""
    measure = MEASURES.get(event.measure, "Every figure")
    if not event.dimension:
        return (
            f"{measure} of everything"
            if event.effect != ADDED
            else f"{measure} of the organisation"
        )
    return f"{measure} of {DIMENSIONS[event.dimension]} {name_of_key(event.series)}"


def _ways_to_change(event: DemandEventFact, _: Locale) -> str:
    change, remove = (
        linked(text, reverse(name, args=[event.id]))
        for text, name in (("Change", "change-demand-event"), ("Remove", "remove-demand-event"))
    )
    return format_html("{} {}", change, remove)


_SAID: tuple[Column[DemandEventFact], ...] = (
    Column("name", "Event", lambda event: event.name, WRAPPED),
    Column("kind", "Kind", lambda event: EVENT_KINDS[event.kind]),
    Column("first_day", "First day", lambda event: event.first_day, ISO_DAY),
    Column("last_day", "Last day", lambda event: event.last_day, ISO_DAY, missing="open-ended"),
    Column("of", "Of", _of_words, WRAPPED),
    Column(
        "effect",
        "Effect on a day",
        lambda event: words.event_effect(event.effect, event.factor, event.added),
        FIGURE,
    ),
)
EVENTS = Table[DemandEventFact](
    "events",
    "Events",
    _SAID,
    noun=("event", "events"),
    about="{said}; days before are taken for what they would have been without, or left out where that is not known; "
    "what they do is put on days ahead",
    sort="events",
)
CHANGEABLE_EVENTS = replace(
    EVENTS,
    columns=(
        *_SAID,
        Column("change", "Change", lambda _: "", csv="", sorts=False, shown=_ways_to_change),
    ),
)


class DemandEventForm(ChangeForm):
    """Days, what they touch, and what is known of their effect."""

    name = TextField("What happens", needed="Say what happens.")
    kind = PickField("Kind", {key: text.capitalize() for key, text in EVENT_KINDS.items()})
    first_day = DayField("First day")
    last_day = DayField("Last day", "Empty: from then on.", is_needed=False)
    measure = PickField("Which figure", {"": "Every figure", **MEASURES})
    series = PickField("Of what")
    effect = PickField(
        "Effect on a day",
        {key: text.capitalize() for key, text in EVENT_EFFECTS.items()},
        "Not known: its days before are left out of what is learnt, those ahead are taken as ordinary.",
    )
    factor = AmountField("Factor", "1.4 is 40 % more; 0 is nothing at all.", "1.4")
    added = AmountField(
        "Amount more a day", "In the unit of a day of that figure; with a minus: less.", "200"
    )


@shown(EVERYONE, "forecasts")
def demand_event_list(context: Context) -> ConsolePage:
    """Show the demand events that people entered of days before and ahead."""
    events = demand_events(context.seen_teams)
    may = context.viewer.sees_everything
    ahead = sum(
        1 for event in events if event.last_day is None or event.last_day >= context.calendar.today
    )
    return ConsolePage(
        context=context,
        finding=f"{counted(ahead, 'event')} now or ahead, {len(events) - ahead} over"
        if events
        else "No events",
        tabs=horizon_tabs("demand-events"),
        actions=(Link("Enter an event", reverse("add-demand-event")),) if may else (),
        sections=(
            (CHANGEABLE_EVENTS if may else EVENTS).section(
                events, context, csv_href=reverse("demand-events-csv")
            ),
        ),
        empty=None if events else _no_events(may=may),
    )


@shown(EVERYONE, "forecasts")
def demand_events_csv(context: Context) -> HttpResponse:
    """Return the demand events as CSV."""
    return EVENTS.csv(demand_events(context.seen_teams), context, "demand events")


@changing(SEES_EVERYTHING, "forecasts")
def add_event(context: Context) -> Change[DemandEventFact]:
    """Says which forecasts know of it then, and keeps it."""

    def apply(event: DemandEventFact) -> Done:
        add_demand_event(event=event, at=context.at)
        return f"{event.name} is entered; forecasts know of it within ten minutes.", (
            "demand-events",
        )

    return Change(
        finding="Enter an event",
        explanation="A holiday, a launch, a migration, a change of models: days that are not like the others.",
        back=_all_events(),
        form=DemandEventForm,
        confirm="Enter this event",
        read=_event_of,
        effects=lambda event: _effect_words(event, context),
        apply=apply,
        picks={"series": _series_picks()},
    )


@changing(SEES_EVERYTHING, "forecasts")
def change_event(context: Context, demand_event_id: int) -> Change[DemandEventFact]:
    """Change a demand event that is there."""
    current = _get_event_or_404(demand_event_id)

    def apply(event: DemandEventFact) -> Done:
        change_demand_event(event=event)
        return f"{event.name} is changed; forecasts know of it within ten minutes.", (
            "demand-events",
        )

    return Change(
        finding=f"Change {current.name}",
        explanation=f"Now: {_of_words(current)}, {words.event_span(current.first_day, current.last_day)}, "
        f"{words.event_effect(current.effect, current.factor, current.added)}.",
        back=_all_events(),
        form=DemandEventForm,
        confirm="Change this event",
        read=lambda entered: _event_of(entered, demand_event_id),
        effects=lambda event: _effect_words(event, context),
        apply=apply,
        picks={"series": _series_picks()},
        initial=_entered_before(current),
    )


@changing(SEES_EVERYTHING, "forecasts")
def remove_event(context: Context, demand_event_id: int) -> Change[DemandEventFact]:
    """Its days are ordinary ones again."""
    current = _get_event_or_404(demand_event_id)

    def apply(event: DemandEventFact) -> Done:
        remove_demand_event(event_id=event.id)
        return f"{event.name} is removed; its days are ordinary ones again.", ("demand-events",)

    return Change(
        finding=f"Remove {current.name}",
        explanation=f"{_of_words(current)}, {words.event_span(current.first_day, current.last_day)}.",
        back=_all_events(),
        form=ChangeForm,
        confirm="Remove this event",
        read=lambda _: current,
        effects=lambda event: (
            "Its days are learnt from as ordinary ones, and nothing is put on those ahead.",
            _touched_words(touched_series(event)),
        ),
        apply=apply,
    )


def _all_events() -> Link:
    return Link("Back to events", reverse("demand-events"))


def _get_event_or_404(event_id: int) -> DemandEventFact:
    return value_or_404(demand_event(event_id))


def _series_picks() -> dict[str, str]:
    """Everything, and each part that a series is forecast of."""
    parts = {
        f"{series.dimension}:{series.key}": f"{DIMENSIONS[series.dimension]} {name_of_key(series)}"
        for series in touched_series()
        if series.dimension
    }
    ordered = sorted(parts.items(), key=lambda pair: pair[1].casefold())
    return {EVERY: "The organisation and all its parts", **dict(ordered)}


def _event_of(entered: Mapping[str, Any], event_id: int = 0) -> DemandEventFact:
    """Return the demand event that was entered; refuse what is not clear."""
    dimension, _, key = entered["series"].partition(":")
    numbers: dict[str, Any] = {
        name: None if entered[name] is None else float(entered[name]) for name in (FACTOR, ADDED)
    }
    values: dict[str, Any] = {
        name: entered[name]
        for name in ("name", "kind", "first_day", "last_day", "measure", "effect")
    }
    event = DemandEventFact(id=event_id, dimension=dimension, key=key, **values, **numbers)
    check_demand_event(event)
    return event


def _entered_before(event: DemandEventFact) -> dict[str, Any]:
    """Return what the form of a demand event begins with."""
    values = {name: "" if value is None else value for name, value in asdict(event).items()}
    numbers = {name: f"{values[name]:g}" for name in (FACTOR, ADDED) if values[name] != ""}
    return {**values, **numbers, "series": f"{event.dimension}:{event.key}"}


def _effect_words(event: DemandEventFact, context: Context) -> tuple[str, ...]:
    """Return what a demand event does with days before and ahead, and of which series."""
    before = event.days_within(event.first_day, max(event.first_day, context.calendar.today))
    sentences = [_touched_words(touched_series(event))]
    effect = words.event_effect(event.effect, event.factor, event.added)
    if event.added is not None:
        effect = f"{effect} ({unit_of(event.measure, context.currency)})"
    if before:
        left_out = event.effect == UNKNOWN or event.factor == 0
        done = "left out of what is learnt" if left_out else "learnt from as if it had not been"
        sentences.append(f"{counted(before, 'day')} before today: {done}.")
    if event.last_day is None or event.last_day >= context.calendar.today:
        done = "taken as ordinary, and the forecast says so" if event.effect == UNKNOWN else effect
        sentences.append(f"Days from today on: {done}.")
    if event.effect == ADDED and event.dimension:
        sentences.append(
            "As much more is put on the organisation’s own forecast, and on no other part’s."
        )
    elif event.effect == FACTOR and event.dimension:
        sentences.append("A factor of a part changes nothing of the organisation’s own forecast.")
    return tuple(sentences)


def _touched_words(series: Sequence[SeriesKey]) -> str:
    if not series:
        return "It touches no series that is forecast so far."
    names = [series_title(key) for key in series[:MOST_NAMED]]
    if len(series) > MOST_NAMED:
        names.append(f"{len(series) - MOST_NAMED} more")
    return f"Forecasts made again within ten minutes: {joined(names)}."


def _no_events(*, may: bool) -> EmptyState:
    step = step_for(
        "Whoever knows of one enters it.",
        Link("Enter an event", reverse("add-demand-event")),
        "enters it",
        may=may,
        role=Role.FINANCE,
    )
    return EmptyState(
        title="No events yet",
        sentence="A forecast learns from days that were and knows of no holiday, launch, migration or change of models "
        "ahead. Who enters one says its days, what it touches and what it does to a day; days before are then "
        "not taken for ordinary ones.",
        steps=(step,),
    )


urlpatterns = [
    path("forecasts/events", demand_event_list, name="demand-events"),
    path("forecasts/events.csv", demand_events_csv, name="demand-events-csv"),
    path("forecasts/events/new", add_event, name="add-demand-event"),
    path("forecasts/events/<int:demand_event_id>/change", change_event, name="change-demand-event"),
    path("forecasts/events/<int:demand_event_id>/remove", remove_event, name="remove-demand-event"),
]
