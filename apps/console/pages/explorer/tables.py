"""The tables of the Cost explorer: its groups, and what made a difference."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.utils.html import format_html

from apps.console.kit.cells import GPU_HOURS, MONEY, RATIO, SIGNED_MONEY, TEXT, Locale, linked
from apps.console.kit.table import CURRENCY_COLUMN, Column, Table
from apps.console.pages.costs.tables import strip_cell, unit_cost_cell
from apps.economics.hours import HOUR_MS
from apps.economics.states import State
from apps.ledger.queries.cube import CubeAnswer, CubeRow, CubeSums, dimensions
from apps.show.amounts import share
from apps.show.money import symbol
from apps.show.words import STATES, STATUSES, StateWords, Word

KEYED = frozenset({"state", "kind", "status", "purchase_option"})
"""Dimensions whose names are keys of the ledger, which a page shows as words."""
WORDS: Mapping[str, Sequence[StateWords | Word]] = {"state": STATES, "status": STATUSES}


def keyed_words(dimension: str, text: str) -> str:
    """A group's name as pages say it: `Idle while allocated` for `held_idle`."""
    labels = {word.key: word.label for word in WORDS.get(dimension, ())}
    plain = text.replace("_", " ").capitalize() if dimension in KEYED else text
    return labels.get(text, plain)


@dataclass(frozen=True, slots=True)
class GroupLinks:
    """Functions of what a group is called along a dimension, where that narrows to, and where its rows are."""

    name: Callable[[CubeRow, int], str]
    narrowed: Callable[[CubeRow, int], str]
    rows: Callable[[CubeRow], str]
    note: Callable[[CubeRow, int], str]


def explored_table(answer: CubeAnswer, links: GroupLinks, currency: str) -> Table[CubeRow]:
    """The groups, the dearest first; days, weeks and months in their order."""
    known_dimensions = dimensions()
    groups = [
        _group_column(name, place, known_dimensions[name].label, links)
        for place, name in enumerate(answer.question.group_by)
    ]
    is_compared = answer.question.against is not None
    is_of_time = any(known_dimensions[name].is_time for name in answer.question.group_by)
    of_today = ", ".join(answer.of_today)
    return Table(
        name="groups",
        title=f"By {' and '.join(_lowered_label(column.text) for column in groups)}",
        noun=("group", "groups"),
        about="{said}; cost of each, by state of its GPU time; per GPU-hour is Cost ÷ GPU-hours",
        sort="sort",
        default_sort="" if is_of_time else "-cost",
        columns=(
            *groups,
            *_money_columns(links, currency, is_compared=is_compared),
            *_time_columns(),
            CURRENCY_COLUMN,
            Column("as_of_today", "", lambda _: of_today, TEXT),
        ),
    )


def _lowered_label(label: str) -> str:
    return label if label.startswith("GPU") else label.lower()


def _group_column(name: str, place: int, label: str, links: GroupLinks) -> Column[CubeRow]:
    def shown(row: CubeRow, _: Locale) -> str:
        if not row.keys:
            return "" if place else "Total"
        text = links.name(row, place)
        words = keyed_words(name, text)
        note = links.note(row, place)
        cell = linked(words, links.narrowed(row, place))
        return format_html("{}<small>{}</small>", cell, note) if note else cell

    return Column(name, label, lambda row: links.name(row, place), TEXT, shown=shown)


def _money_columns(
    links: GroupLinks, currency: str, *, is_compared: bool
) -> tuple[Column[CubeRow], ...]:
    return (
        Column("cost", "Cost", lambda row: row.sums.micros, MONEY, href=links.rows),
        Column(
            "before_cost", "Before" if is_compared else "", lambda row: _before_amount(row, "micros"), MONEY
        ),
        Column(
            "change", "Change" if is_compared else "", lambda row: row.change_micros, SIGNED_MONEY
        ),
        Column("bought", "By state", lambda row: _active_part(row.sums), csv="", shown=_strip_shown),
        Column(
            "state_waste_cost", "Idle or not held by a job",
            lambda row: row.sums.not_worked_micros, MONEY, href=links.rows,
        ),
        Column(
            "gpu_hours", "GPU-hours", lambda row: row.sums.gpu_milliseconds, GPU_HOURS,
            href=links.rows,
        ),
        _hours_column("before_gpu_hours", lambda row: _before_amount(row, "gpu_milliseconds")),
        Column(
            "unit_cost", f"{symbol(currency).strip()} per GPU-hour",
            lambda row: _unit_cost(row.sums), MONEY, csv="",
            shown=lambda row, _: unit_cost_cell(
                _unit_cost(row.sums), currency, is_part=bool(row.sums.unpriced_milliseconds)
            ),
        ),
    )  # fmt: skip


def _time_columns() -> tuple[Column[CubeRow], ...]:
    """Times that the file has, and the page leaves out."""
    return (
        _hours_column("active_gpu_hours", lambda row: row.sums.active_milliseconds),
        _hours_column("held_gpu_hours", lambda row: row.sums.held_milliseconds),
        _hours_column("observed_gpu_hours", lambda row: row.sums.observed_milliseconds),
        _hours_column("core_hours", lambda row: row.sums.core_milliseconds),
        _hours_column("unpriced_hours", lambda row: row.sums.unpriced_milliseconds),
        Column("coverage", "", lambda row: share(
            row.sums.observed_milliseconds, row.sums.held_milliseconds), RATIO),
    )  # fmt: skip


def _hours_column(key: str, value: Callable[[CubeRow], int | None]) -> Column[CubeRow]:
    return Column(key, "", value, GPU_HOURS)


def _before_amount(row: CubeRow, measure: str) -> int | None:
    amount: int | None = None if row.before is None else getattr(row.before, measure)
    return amount


def _unit_cost(sums: CubeSums) -> int | None:
    """Micro-units for a GPU-hour; None without GPU time, or where cores are in the cost too."""
    if sums.micros is None or not sums.gpu_milliseconds or sums.core_milliseconds:
        return None
    return round(Fraction(sums.micros * HOUR_MS, sums.gpu_milliseconds))


def _active_part(sums: CubeSums) -> Fraction | None:
    return share(sums.of_states[State.ACTIVE] or 0, sums.micros)


def _strip_shown(row: CubeRow, _: Locale) -> str:
    by_state = {
        State(number).name.lower() if number else "other": micros
        for number, micros in enumerate(row.sums.of_states)
    }
    return strip_cell(by_state, _active_part(row.sums))


@dataclass(frozen=True, slots=True)
class CauseRow:
    """One cause of a difference, in words."""

    name: str
    explanation: str
    micros: int


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
