"""The tables of the Cost explorer: its groups, and what made a difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.console.kit.cells import GPU_HOURS, MONEY, RATIO, SIGNED_MONEY, TEXT, Locale, linked
from apps.console.kit.table import Table
from apps.console.pages.costs.question import CostQuery
from apps.console.pages.costs.sums import state_key
from apps.console.pages.costs.tables import NOTES, strip_cell, unit_cost_cell
from apps.console.pages.explorer.links import group_href
from apps.economics.states import State
from apps.ledger.queries.cost_report import CostReport
from apps.ledger.queries.cube import CubeRow, Key, dimensions
from apps.show.amounts import share
from apps.show.money import symbol
from apps.show.words import CAUSE_WORDS, STATES, STATUSES, StateWords, Word
from apps.tables.column import CURRENCY_COLUMN, Column

KEYED = frozenset({"state", "kind", "status", "purchase_option"})
"""Dimensions whose names are keys of the ledger, which a page shows as words."""
STATE_KEYS = [state_key(State(number) if number else None) for number in range(len(State) + 1)]
"""In the order of `CubeSums.of_states`."""
WORDS: Mapping[str, Sequence[StateWords | Word]] = {"state": STATES, "status": STATUSES}


def keyed_words(dimension: str, text: str) -> str:
    """A group's name as pages say it: `Idle while allocated` for `held_idle`."""
    labels = {word.key: word.label for word in WORDS.get(dimension, ())}
    plain = text.replace("_", " ").capitalize() if dimension in KEYED else text
    return labels.get(text, plain)


def explored_table(report: CostReport, cost_query: CostQuery) -> Table[CubeRow]:
    """The groups, the dearest first; days, weeks and months in their order."""
    group_by, dimension_by_name = report.question.group_by, dimensions()
    names, currency = report.names, cost_query.currency
    labels = [dimension_by_name[name].label for name in group_by]
    is_compared = report.question.against is not None
    is_of_time = any(dimension_by_name[name].is_time for name in group_by)
    of_today = ", ".join(report.of_today)
    # Several cells of a row lead there.
    href_by_keys = cache(lambda keys: group_href(cost_query, names, keys, range(len(keys))))
    return Table(
        name="groups",
        title="By "
        + " and ".join(label if label.startswith("GPU") else label.lower() for label in labels),
        noun=("group", "groups"),
        about="{said}; cost of each, by state of its GPU time; per GPU-hour is Cost ÷ GPU-hours",
        sort="sort",
        default_sort="" if is_of_time else "-cost",
        columns=(
            *(_group_column(report, cost_query, place, label) for place, label in enumerate(labels)),
            Column(
                "cost", "Cost", lambda row: row.sums.micros, MONEY,
                href=lambda row: href_by_keys(row.keys),
            ),
            Column(
                "before_cost", "Before" if is_compared else "",
                lambda row: row.before and row.before.micros, MONEY,
            ),
            Column(
                "change", "Change" if is_compared else "", lambda row: row.change_micros, SIGNED_MONEY
            ),
            Column(
                "bought", "By state", lambda row: row.sums.active_ratio, csv="",
                shown=lambda row, _: strip_cell(
                    dict(zip(STATE_KEYS, row.sums.of_states, strict=True)), row.sums.active_ratio
                ),
            ),
            Column(
                "state_waste_cost", "Idle or not held by a job",
                lambda row: row.sums.not_worked_micros, MONEY,
                href=lambda row: href_by_keys(row.keys),
            ),
            Column(
                "gpu_hours", "GPU-hours", lambda row: row.sums.gpu_milliseconds, GPU_HOURS,
                href=lambda row: href_by_keys(row.keys),
            ),
            Column(
                "before_gpu_hours", "",
                lambda row: row.before and row.before.gpu_milliseconds, GPU_HOURS,
            ),
            Column(
                "unit_cost", f"{symbol(currency).strip()} per GPU-hour",
                lambda row: row.sums.gpu_hour_micros, MONEY, csv="",
                shown=lambda row, _: unit_cost_cell(
                    row.sums.gpu_hour_micros, currency,
                    is_part=bool(row.sums.unpriced_milliseconds),
                ),
            ),
            *TIME_COLUMNS,
            CURRENCY_COLUMN,
            Column("as_of_today", "", lambda _: of_today, TEXT),
        ),
    )  # fmt: skip


def _group_column(
    report: CostReport, cost_query: CostQuery, place: int, label: str
) -> Column[CubeRow]:
    """Return the column of what a group is called along a dimension, with where that narrows to."""
    names, name = report.names, report.question.group_by[place]
    kinds: dict[Key, str] = {}
    if name == "team":
        kinds |= {team.id: team.kind for team in accounts.teams()}

    def shown(row: CubeRow, _: Locale) -> str:
        if not row.keys:
            return "" if place else "Total"
        words = keyed_words(name, names.text(name, row.keys[place]))
        cell = linked(words, group_href(cost_query, names, row.keys, (place,)))
        note = NOTES.get(kinds.get(row.values[place], ""), "")
        return format_html("{}<small>{}</small>", cell, note) if note else cell

    return Column(name, label, lambda row: names.text(name, row.keys[place]), TEXT, shown=shown)


TIME_COLUMNS: tuple[Column[CubeRow], ...] = (
    Column("active_gpu_hours", "", lambda row: row.sums.active_milliseconds, GPU_HOURS),
    Column("held_gpu_hours", "", lambda row: row.sums.held_milliseconds, GPU_HOURS),
    Column("observed_gpu_hours", "", lambda row: row.sums.observed_milliseconds, GPU_HOURS),
    Column("core_hours", "", lambda row: row.sums.core_milliseconds, GPU_HOURS),
    Column("unpriced_hours", "", lambda row: row.sums.unpriced_milliseconds, GPU_HOURS),
    Column("coverage", "", lambda row: share(
        row.sums.observed_milliseconds, row.sums.held_milliseconds), RATIO),
)  # fmt: skip
"""Times that the file has, and the page leaves out."""


@dataclass(frozen=True, slots=True)
class CauseRow:
    """One cause of a difference, in words."""

    name: str
    explanation: str
    micros: int


def cause_rows(causes: Mapping[str, int]) -> list[CauseRow]:
    """Return the causes in words, in the order in which they are always told."""
    return [CauseRow(*CAUSE_WORDS[name], causes[name]) for name in CAUSE_WORDS]


CAUSES: Table[CauseRow] = Table(
    name="causes",
    title="What made the difference",
    columns=(
        Column("cause", "Cause", lambda row: row.name),
        Column("change", "Change", lambda row: row.micros, SIGNED_MONEY),
        Column("explanation", "Is", lambda row: row.explanation),
        CURRENCY_COLUMN,
    ),
)
