"""The table of demand events: their days, what they touch and what they do to each of them."""

from apps.planning.queries.events import ADDED, EVENT_KINDS, DemandEventFact, describe_effect
from apps.planning.queries.series import DIMENSIONS, MEASURES, name_of_key
from apps.show.cell_formats import FIGURE, WRAPPED, CellLocale, worded
from apps.show.csv_cells import csv_text
from apps.tables.column import Column, field
from apps.tables.table import Table


def _of_words(event: DemandEventFact) -> str:
    """Return what a demand event touches, in words."""
    measure = MEASURES.get(event.measure, "Every figure")
    if not event.dimension:
        of = "the organisation" if event.effect == ADDED else "everything"
        return f"{measure} of {of}"
    return f"{measure} of {DIMENSIONS[event.dimension]} {name_of_key(event.series)}"


def _effect_words(event: DemandEventFact) -> str:
    return describe_effect(event.effect, event.factor, event.added)


def _effect_cell(event: DemandEventFact, _: CellLocale) -> str:
    return csv_text(_effect_words(event))


DEMAND_EVENTS = Table[DemandEventFact](
    "events",
    "Events",
    (
        Column("name", "Event", format=WRAPPED),
        Column("kind", "Kind", format=worded(EVENT_KINDS), order=lambda event: EVENT_KINDS[event.kind]),
        Column("first_day", "First day"),
        Column("last_day", "Last day", missing="open-ended"),
        Column("of", "Of", _of_words, WRAPPED),
        Column("effect", "Effect on a day", format=FIGURE, order=_effect_words,
               shown=lambda event, _: _effect_words(event), written=_effect_cell),
        Column("id", ""),
        Column("measure", ""),
        Column("series", "", field("part")),
        Column("factor", ""),
        Column("added", ""),
    ),
    noun=("event", "events"),
    about="{said}; days before are taken for what they would have been without, or left out where that is not known; "
    "what they do is put on days ahead",
    sort="events",
    row=DemandEventFact,
    unique=lambda event: (event.first_day.isoformat(), event.id),
)  # fmt: skip
