"""The tables of the Cost explorer: its groups, and what made a difference."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from apps.console.kit.cells import (
    GPU_HOURS,
    MONEY,
    RATIO,
    SIGNED_MONEY,
    TEXT,
    UNIT_COST,
    Locale,
    linked,
)
from apps.console.kit.table import CURRENCY_COLUMN, Column, Table
from apps.ledger.queries.cube import CubeAnswer, CubeRow, CubeSums, dimensions
from apps.show.amounts import share

MS_PER_HOUR = 3_600_000
KEYED = frozenset({"state", "kind", "purchase_option"})
"""Dimensions whose names are keys of the ledger, which a page shows as words."""


@dataclass(frozen=True, slots=True)
class ExploredRow:
    """A group: its names, where each narrows to, where its rows are, and its sums."""

    names: tuple[str, ...]
    narrowed: tuple[str, ...]
    rows_href: str
    sums: CubeSums
    row: CubeRow
    of_today: str = ""


def explored_table(answer: CubeAnswer) -> Table[ExploredRow]:
    """The groups, the dearest first; days, weeks and months in their order."""
    known = dimensions()
    groups = [
        _group_column(name, place, known[name].label)
        for place, name in enumerate(answer.question.group_by)
    ]
    compared = answer.question.against is not None
    is_of_time = any(known[name].is_time for name in answer.question.group_by)
    return Table(
        name="groups",
        title=f"By {' and '.join(_lowered(column.text) for column in groups)}",
        noun=("group", "groups"),
        about="{said}; per GPU-hour is Cost ÷ GPU-hours",
        sort="sort",
        default_sort="" if is_of_time else "-cost",
        columns=(*groups, *_sum_columns(is_compared=compared)),
    )


def _lowered(label: str) -> str:
    return label if label.startswith("GPU") else label.lower()


def _group_column(name: str, place: int, label: str) -> Column[ExploredRow]:
    def shown(row: ExploredRow, _: Locale) -> str:
        text = row.names[place]
        words = text.replace("_", " ").capitalize() if name in KEYED else text
        return linked(words, row.narrowed[place] if place < len(row.narrowed) else "")

    return Column(name, label, lambda row: row.names[place], TEXT, shown=shown)


def _sum_columns(*, is_compared: bool) -> tuple[Column[ExploredRow], ...]:
    beside = "" if not is_compared else "Before"
    return (
        Column("cost", "Cost", lambda row: row.sums.micros, MONEY, href=lambda row: row.rows_href),
        Column("before_cost", beside, lambda row: _before(row, "micros"), MONEY),
        Column(
            "change", "Change" if is_compared else "", lambda row: row.row.change_micros, SIGNED_MONEY
        ),
        Column("state_waste_cost", "Waste by state", lambda row: row.sums.not_worked_micros, MONEY),
        Column("gpu_hours", "GPU-hours", lambda row: row.sums.gpu_milliseconds, GPU_HOURS),
        _hours("before_gpu_hours", lambda row: _before(row, "gpu_milliseconds")),
        Column(
            "unit_cost", "Per GPU-hour", lambda row: _unit_cost(row.sums), UNIT_COST, csv="",
            warns=lambda row: "at least: some of its time has no price"
            if row.sums.unpriced_milliseconds else False,
        ),
        Column("active", "Active", lambda row: _active(row.sums), RATIO, csv=""),
        _hours("active_gpu_hours", lambda row: row.sums.active_milliseconds),
        _hours("held_gpu_hours", lambda row: row.sums.held_milliseconds),
        _hours("observed_gpu_hours", lambda row: row.sums.observed_milliseconds),
        _hours("core_hours", lambda row: row.sums.core_milliseconds),
        _hours("unpriced_hours", lambda row: row.sums.unpriced_milliseconds),
        Column("coverage", "", lambda row: share(
            row.sums.observed_milliseconds, row.sums.held_milliseconds), RATIO),
        CURRENCY_COLUMN,
        Column("as_of_today", "", lambda row: row.of_today, TEXT),
    )  # fmt: skip


def _hours(key: str, value: Callable[[ExploredRow], int | None]) -> Column[ExploredRow]:
    """A time that the file has, and the page leaves out."""
    return Column(key, "", value, GPU_HOURS)


def _before(row: ExploredRow, measure: str) -> int | None:
    before = row.row.before
    amount: int | None = None if before is None else getattr(before, measure)
    return amount


def _unit_cost(sums: CubeSums) -> int | None:
    """Micro-units for a GPU-hour; None without GPU time, or where cores are in the cost too."""
    if sums.micros is None or not sums.gpu_milliseconds or sums.core_milliseconds:
        return None
    return round(Fraction(sums.micros * MS_PER_HOUR, sums.gpu_milliseconds))


def _active(sums: CubeSums) -> Fraction | None:
    return share(sums.active_milliseconds, sums.gpu_milliseconds)


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
CAUSE_WORDS = {
    "volume": ("Volume", "more or fewer useful hours"),
    "mix": ("Mix", "the same hours on dearer or cheaper pools; pools that came or went"),
    "efficiency": ("Efficiency", "hours paid for each useful one"),
    "price": ("Price", "rates per hour, before commitments"),
    "commitments": ("Commitments", "what they take off, what of them is unused or paid upfront"),
    "other": ("Other charges", "charges without device time"),
}
