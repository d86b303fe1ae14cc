"""Events that forecasts know of: all of them, entering, changing and removing one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts.queries import Role
from apps.console.kit.cells import Locale, linked
from apps.console.kit.entered import EnteredPages, FormOf
from apps.console.kit.entries import PickField
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, Context
from apps.console.kit.table import Table
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
    FACTOR,
    UNKNOWN,
    DemandEventFact,
    demand_event,
    demand_events,
    describe_effect,
    touched_series,
)
from apps.planning.queries.series import (
    DIMENSIONS,
    SeriesKey,
    name_of_key,
    series_title,
    unit_of,
)
from apps.planning.tables.demand_events import DEMAND_EVENTS
from apps.show.amounts import counted
from apps.show.entries import entered
from apps.show.words import joined
from apps.tables.column import Column

MOST_NAMED = 5
EVERY = ":"


def _ways_to_change(event: DemandEventFact, _: Locale) -> str:
    change, remove = (
        linked(text, reverse(name, args=[event.id]))
        for text, name in (("Change", "change-demand-event"), ("Remove", "remove-demand-event"))
    )
    return format_html("{} {}", change, remove)


EVENTS = Table.of(DEMAND_EVENTS)
CHANGEABLE_EVENTS = Table.of(
    DEMAND_EVENTS, Column("change", "Change", csv="", sorts=False, shown=_ways_to_change)
)


class DemandEventForm(FormOf[DemandEventFact]):
    """Days, what they touch, and what is known of their effect."""

    series = PickField("Of what")
    field_order = ("name", "kind", "first_day", "last_day", "measure", "series")


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
                events, context, csv_name="demand events"
            ),
        ),
        empty=None if events else _no_events(may=may),
    )


def _series_picks() -> dict[str, str]:
    """Everything, and each part that a series is forecast of."""
    parts = {
        f"{series.dimension}:{series.key}": f"{DIMENSIONS[series.dimension]} {name_of_key(series)}"
        for series in touched_series()
        if series.dimension
    }
    ordered = sorted(parts.items(), key=lambda pair: pair[1].casefold())
    return {EVERY: "The organisation and all its parts", **dict(ordered)}


def _read(values: Mapping[str, Any], _: Context) -> DemandEventFact:
    """Return the demand event that was entered; it is not kept yet."""
    entries = dict(values)
    dimension, _, key = entries.pop("series").partition(":")
    event: DemandEventFact = entered(
        DemandEventFact, {**entries, "id": 0, "dimension": dimension, "key": key}
    )
    return event


def _effect_words(
    event: DemandEventFact, context: Context, _: DemandEventFact | None
) -> tuple[str, ...]:
    """Return what a demand event does with days before and ahead, and of which series."""
    before = event.days_within(event.first_day, max(event.first_day, context.calendar.today))
    sentences = [_touched_words(touched_series(event))]
    effect = describe_effect(event.effect, event.factor, event.added)
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


CHANGES = EnteredPages[DemandEventFact, DemandEventFact](
    noun="an event",
    name=lambda event: str(event.name),
    explanation="A holiday, a launch, a migration, a change of models: days that are not like the others. "
    "Forecasts know of it within ten minutes.",
    back=("Back to events", "demand-events"),
    key="demand-event",
    address="forecasts/events",
    roles=SEES_EVERYTHING,
    active_entry="forecasts",
    shape=DemandEventFact,
    form=DemandEventForm,
    find=lambda _, event_id: demand_event(event_id),
    check=lambda event, _: check_demand_event(event),
    add=lambda event, context: add_demand_event(event=event, at=context.at),
    replace=lambda event_id, event, _: change_demand_event(event=replace(event, id=event_id)),
    remove=lambda event_id, _: remove_demand_event(event_id=event_id),
    effects=_effect_words,
    effects_of_removal=lambda event, _: (
        "Its days are learnt from as ordinary ones, and nothing is put on those ahead.",
        _touched_words(touched_series(event)),
    ),
    read=_read,
    picks=lambda _: {"series": _series_picks()},
    initial=lambda _, fact: {} if fact is None else {"series": f"{fact.dimension}:{fact.key}"},
)

urlpatterns = [
    path("forecasts/events", demand_event_list, name="demand-events"),
    *CHANGES.urlpatterns,
]
