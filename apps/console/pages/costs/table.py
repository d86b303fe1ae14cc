"""Rows of sums in the order asked for, their total and their headings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.console.kit.cells import hours_cell, money_cell, text_cell
from apps.console.kit.table import ColumnHeading
from apps.console.pages.costs.question import CostQuestion
from apps.console.pages.costs.values import CostRow, CostTable
from apps.console.pages.overview.sums import Sums, sums_of
from apps.ledger.queries import StateSum
from apps.show.amounts import Ratio, gpu_hours
from apps.show.money import symbol
from apps.show.strip import strip_of_states
from apps.show.words import STATES

WORDS = frozenset({"name", "holder", "team", "node", "state", "status"})
CSV_OWNER = ("team", "cost_centre")
STATE_KEYS = [state.key for state in STATES]
_SORT_VALUES: dict[str, Callable[[CostRow], Ratio | None]] = {
    "cost": lambda row: row.cost_micros,
    "bought": lambda row: row.worked_ratio,
    "not_worked": lambda row: row.not_worked_micros,
    "gpu_hours": lambda row: row.gpu_milliseconds,
    "unit_cost": lambda row: row.gpu_hour_micros,
}


@dataclass(frozen=True, slots=True)
class Heading:
    """What a table is of: its anchor, title, note, first column and the page that it is on."""

    id: str
    title: str
    note: str
    first: str
    csv_href: str
    sorts: Callable[[str], str]


def cost_row(name: str, states: Iterable[StateSum], href: str = "", note: str = "") -> CostRow:
    """A row of the sums by state."""
    sums = sums_of(states)
    unpriced = (
        f"{gpu_hours(sums.unpriced_milliseconds)} GPU-hours unpriced"
        if sums.unpriced_milliseconds
        else ""
    )
    return CostRow(
        name=name,
        cost_micros=sums.total,
        strip=strip_of_states({key: micros or 0 for key, micros in sums.by_state.items()}),
        worked_ratio=sums.worked_ratio,
        not_worked_micros=sums.not_worked,
        gpu_milliseconds=sums.gpu_milliseconds,
        gpu_hour_micros=sums.gpu_hour_micros,
        is_partly_unpriced=bool(sums.unpriced_milliseconds),
        href=href,
        note=", ".join(filter(None, (note, unpriced))),
    )


def cost_table(
    asked: CostQuestion, heading: Heading, rows: Sequence[CostRow], total: Sequence[StateSum]
) -> CostTable:
    """The rows as they are given, over their total."""
    return CostTable(
        id=heading.id,
        title=heading.title,
        note=heading.note,
        columns=_columns(asked, heading),
        rows=tuple(rows),
        total=replace(cost_row("Total", total), note=""),
        csv_href=heading.csv_href,
        states=sums_of(total).states,
    )


def ordered(rows: Sequence[CostRow], sort: str) -> list[CostRow]:
    """By the column asked for; rows of which it is not known come last either way."""
    is_descending, key = sort.startswith("-"), sort.removeprefix("-")
    by_name = sorted(rows, key=lambda row: row.name.casefold())
    if key == "name":
        return by_name[::-1] if is_descending else by_name
    value = _SORT_VALUES[key]
    known = [row for row in by_name if value(row) is not None]
    known.sort(key=lambda row: value(row) or 0, reverse=is_descending)
    return known + [row for row in by_name if value(row) is None]


def csv_owner(asked: CostQuestion, team_id: int) -> tuple[str, str]:
    """A team's name and the cost centre that it is booked to, under `CSV_OWNER`."""
    team = asked.teams[team_id]
    return team.name, team.cost_centre


def csv_headings(*first: str) -> list[str]:
    """The columns of every table of sums."""
    return [
        *first,
        *("cost", "currency", "basis", "cost_is"),
        *STATE_KEYS,
        *("gpu_hours", "unpriced_gpu_hours", "window_start", "window_end"),
    ]


def csv_cells(asked: CostQuestion, names: Sequence[str], states: Iterable[StateSum]) -> list[str]:
    """One row of sums, every micro-unit of it."""
    sums: Sums = sums_of(states)
    window = asked.drill.chosen.window
    return [
        *map(text_cell, names),
        money_cell(sums.total, asked.currency),
        asked.currency,
        str(asked.drill.chosen.basis),
        str(asked.drill.loading),
        *(money_cell(sums.by_state.get(key), asked.currency) for key in STATE_KEYS),
        hours_cell(sums.gpu_milliseconds),
        hours_cell(sums.unpriced_milliseconds),
        window.first_day.isoformat(),
        window.end_day.isoformat(),
    ]


def _columns(asked: CostQuestion, heading: Heading) -> tuple[ColumnHeading, ...]:
    texts = {
        "name": heading.first,
        "cost": "Cost",
        "bought": "By state",
        "not_worked": "Idle or not held by a job",
        "gpu_hours": "GPU-hours",
        "unit_cost": f"{symbol(asked.currency).strip()} per GPU-hour",
    }
    return columns_of(texts, asked.sort, heading.sorts)


def columns_of(
    texts: Mapping[str, str], sort: str, sorts: Callable[[str], str]
) -> tuple[ColumnHeading, ...]:
    """Headings that sort: words begin at A, numbers and hours with the largest."""
    return tuple(_column(sort, key, text, sorts) for key, text in texts.items())


def _column(sort: str, key: str, text: str, sorts: Callable[[str], str]) -> ColumnHeading:
    is_chosen, is_descending = sort.removeprefix("-") == key, sort.startswith("-")
    first = key if key in WORDS else f"-{key}"
    turned = key if is_descending else f"-{key}"
    order = ("descending" if is_descending else "ascending") if is_chosen else ""
    return ColumnHeading(
        key=key,
        text=text,
        href=sorts(turned if is_chosen else first),
        order=order,
        is_number=key not in WORDS and key not in ("bought", "hour"),
    )
