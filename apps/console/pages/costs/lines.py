"""Lines as a table and as CSV."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from django.http import HttpResponse

from apps.console.kit.cells import hours_cell, money_cell, text_cell
from apps.console.kit.table import csv_answer
from apps.console.pages.costs.question import CostQuestion
from apps.console.pages.costs.table import columns_of, csv_owner
from apps.console.pages.costs.values import LineCells, LinesTotal, LineTable
from apps.console.pages.overview.sums import Sums, state_key
from apps.economics.money import sum_of_known
from apps.economics.states import Evidence, Flag
from apps.ledger.queries.drill import LineRow
from apps.show.time import machine
from apps.show.words import Word, flag_words, state_words

Shown = TypeVar("Shown")
HEADINGS = (
    *(
        "hour",
        "node",
        "pool",
        "team",
        "cost_centre",
        "kind",
        "status",
        "state",
        "flags",
        "evidence",
    ),
    *("cost", "currency", "basis", "gpu_hours", "line", "shared_cost", "shared_by", "core_hours"),
)


COLUMNS = {
    "hour": "Hour from",
    "node": "Node",
    "state": "State",
    "status": "Status",
    "gpu_hours": "GPU-hours",
    "cost": "Cost",
}
_SORT_VALUES: dict[str, Callable[[LineCells], Any]] = {
    "hour": lambda row: row.hour,
    "node": lambda row: row.node or None,
    "state": lambda row: row.state.label,
    "status": lambda row: row.status,
    "gpu_hours": lambda row: row.gpu_milliseconds,
    "cost": lambda row: row.micros,
}


@dataclass(frozen=True, slots=True)
class LinesOf:
    """What lines are of: the page they are on, its CSV, all they sum to, and how many to show."""

    name: str
    of: tuple[int, ...]
    csv_href: str
    whole: Sums
    most: int


def line_table(asked: CostQuestion, found: Sequence[LineRow], given: LinesOf) -> LineTable:
    """The newest lines, as many as fit, in the order asked for."""
    order = asked.given["lines"]
    cells = [_cells(asked, each) for each in found[: given.most]]
    return LineTable(
        columns=columns_of(
            COLUMNS,
            order,
            lambda sort: f"{asked.href(given.name, *given.of, lines=sort)}#lines",
        ),
        rows=tuple(in_order(cells, _SORT_VALUES[order.removeprefix("-")], order)),
        totals=_totals(cells, given, is_cut=len(found) > given.most),
        csv_href=given.csv_href,
        is_cut=len(found) > given.most,
        zone=ZoneInfo(asked.organisation.zone),
    )


def in_order(rows: Sequence[Shown], value: Callable[[Shown], Any], order: str) -> list[Shown]:
    """By the value, `-` for the largest first; rows of which it is not known come last."""
    known = [row for row in rows if value(row) is not None]
    known.sort(key=value, reverse=order.startswith("-"))
    return known + [row for row in rows if value(row) is None]


def _totals(cells: Sequence[LineCells], given: LinesOf, *, is_cut: bool) -> tuple[LinesTotal, ...]:
    shown = LinesTotal(
        text=f"These {len(cells)} lines" if is_cut else "Total",
        micros=sum_of_known(row.micros for row in cells),
        gpu_milliseconds=sum(row.gpu_milliseconds for row in cells),
    )
    if not is_cut:
        return (shown,)
    whole = LinesTotal("All of the period", given.whole.total, given.whole.gpu_milliseconds)
    return (shown, whole)


def lines_csv(asked: CostQuestion, name: str, found: Sequence[LineRow]) -> HttpResponse:
    """Every line that was found, with every micro-unit."""
    return csv_answer(
        name,
        HEADINGS,
        [
            [
                machine(each.hour),
                text_cell(each.node),
                text_cell(asked.pools[each.pool_id].name if each.pool_id else ""),
                *map(text_cell, csv_owner(asked, each.team_id)),
                each.kind,
                each.status,
                state_key(each.state),
                " ".join(flag_keys(each.flags)),
                " ".join(evidence_keys(each.evidence)),
                money_cell(each.micros, asked.currency),
                asked.currency,
                str(asked.drill.chosen.basis),
                hours_cell(_gpu_milliseconds(asked, each)),
                f"{each.month:%Y-%m}/{each.id}",
                text_cell(each.shared_cost),
                each.shared_by,
                hours_cell(each.unit_milliseconds - _gpu_milliseconds(asked, each)),
            ]
            for each in found
        ],
    )


def _gpu_milliseconds(asked: CostQuestion, each: LineRow) -> int:
    """The time of cores is no GPU time."""
    return 0 if each.pool_id in asked.drill.core_pool_ids else each.unit_milliseconds


def flag_keys(flags: Flag) -> list[str]:
    """The names of the bits that are set."""
    return [each.name.lower() for each in flags if each.name]


def evidence_keys(evidence: Evidence) -> list[str]:
    """The names of the bits that are set."""
    return [each.name.lower() for each in evidence if each.name]


def flags_in_words(flags: Flag) -> tuple[Word, ...]:
    """What a reader must know beside the state."""
    return tuple(flag_words(key) for key in flag_keys(flags))


def _cells(asked: CostQuestion, each: LineRow) -> LineCells:
    return LineCells(
        href=asked.down("costs-line", f"{each.month:%Y-%m}", each.id),
        hour=each.hour,
        node=each.node,
        state=state_words(state_key(each.state)),
        flags=flags_in_words(each.flags),
        status=each.status,
        micros=each.micros,
        gpu_milliseconds=_gpu_milliseconds(asked, each),
    )
