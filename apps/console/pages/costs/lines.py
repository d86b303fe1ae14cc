"""Lines as a table and as CSV."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from django.http import HttpResponse

from apps.console.pages.costs.question import CostQuestion
from apps.console.pages.costs.values import LineCells, LineTable
from apps.console.pages.csv_table import csv_answer, hours_cell, money_cell, text_cell
from apps.console.pages.overview.sums import state_key
from apps.economics.states import Evidence, Flag
from apps.fleet import queries as fleet
from apps.ledger.queries.drill import LineRow
from apps.show.time import machine
from apps.show.words import Word, flag_words, state_words

HEADINGS = (
    *("hour", "node", "pool", "team", "kind", "status", "state", "flags", "evidence"),
    *("cost", "currency", "basis", "gpu_hours", "line"),
)


def line_table(
    asked: CostQuestion, found: Sequence[LineRow], csv_href: str, most: int
) -> LineTable:
    """The first `most` of what was found."""
    names = _node_names(found)
    return LineTable(
        rows=tuple(_cells(asked, each, names) for each in found[:most]),
        csv_href=csv_href,
        is_cut=len(found) > most,
        zone=ZoneInfo(asked.organisation.zone),
    )


def lines_csv(asked: CostQuestion, name: str, found: Sequence[LineRow]) -> HttpResponse:
    """Every line that was found, with every micro-unit."""
    names = _node_names(found)
    return csv_answer(
        name,
        HEADINGS,
        [
            [
                machine(each.hour),
                text_cell(names.get(each.node_id or 0, "")),
                text_cell(asked.pools[each.pool_id].name if each.pool_id else ""),
                text_cell(asked.teams[each.team_id].name),
                each.kind,
                each.status,
                state_key(each.state),
                " ".join(flag_keys(each.flags)),
                " ".join(evidence_keys(each.evidence)),
                money_cell(each.micros, asked.currency),
                asked.currency,
                str(asked.drill.chosen.basis),
                hours_cell(each.unit_milliseconds),
                f"{each.month:%Y-%m}/{each.id}",
            ]
            for each in found
        ],
    )


def flag_keys(flags: Flag) -> list[str]:
    """The names of the bits that are set."""
    return [each.name.lower() for each in flags if each.name]


def evidence_keys(evidence: Evidence) -> list[str]:
    """The names of the bits that are set."""
    return [each.name.lower() for each in evidence if each.name]


def flags_in_words(flags: Flag) -> tuple[Word, ...]:
    """What a reader must know beside the state."""
    return tuple(flag_words(key) for key in flag_keys(flags))


def _cells(asked: CostQuestion, each: LineRow, names: dict[int, str]) -> LineCells:
    return LineCells(
        href=asked.down("costs-line", f"{each.month:%Y-%m}", each.id),
        hour=each.hour,
        node=names.get(each.node_id or 0, ""),
        state=state_words(state_key(each.state)),
        flags=flags_in_words(each.flags),
        status=each.status,
        micros=each.micros,
        gpu_milliseconds=each.unit_milliseconds,
    )


def _node_names(found: Sequence[LineRow]) -> dict[int, str]:
    return fleet.node_names(sorted({each.node_id for each in found if each.node_id}))
