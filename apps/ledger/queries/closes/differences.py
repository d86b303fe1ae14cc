"""The lines of an hour summed by whose they are, with or without what later corrected them."""

from datetime import date, datetime
from typing import LiteralString, NamedTuple

from apps.ledger.queries.tables import columns_as, named_rows, rows


class LineKey(NamedTuple):
    """The key of a line, and whose it is: everything but its amounts and how it came to be."""

    kind: str
    number: int
    part: int
    node_id: int | None
    pool_id: int | None
    team_id: int
    workload_id: int | None
    job_id: int | None
    holder_key_id: int | None
    state: int | None
    flags: int


class BasisSums(NamedTuple):
    """Micro-units on each basis; None where none of it is known."""

    list_micros: int | None
    contracted_micros: int | None
    effective_micros: int | None
    billed_micros: int | None


KEY_OF, SUMS_OF = columns_as(LineKey), columns_as(BasisSums)
COLUMNS: LiteralString = """
       charge.kind AS kind,
       coalesce(original.billed_charge_id, original.node_id, original.shared_cost_id,
                original.commitment_id, original.owned_plan_id, original.api_item_id, 0)
           AS number,
       original.part, original.node_id, line.pool_id, line.team_id, line.workload_id, line.job_id,
       line.holder_key_id, line.state, line.flags,
       sum(line.list_micros)::int8 AS list_micros,
       sum(line.contracted_micros)::int8 AS contracted_micros,
       sum(line.effective_micros)::int8 AS effective_micros,
       sum(line.billed_micros)::int8 AS billed_micros
"""
SUMS = """
SELECT :columns
FROM ledger_charge AS original
JOIN ledger_charge AS charge
  ON charge.id = original.id OR %(corrected)s AND charge.corrects_id = original.id
JOIN ledger_line AS line ON line.charge_id = charge.id
WHERE original.hour = %(hour)s AND original.corrects_id IS NULL
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
""".replace(":columns", COLUMNS)
CORRECTIONS = """
SELECT original.hour, :columns
FROM ledger_charge AS original
JOIN ledger_charge AS charge ON charge.corrects_id = original.id
JOIN ledger_line AS line ON line.charge_id = charge.id
WHERE original.posting_month = %(month)s
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
HAVING sum(line.list_micros) <> 0 OR sum(line.contracted_micros) <> 0
    OR sum(line.effective_micros) <> 0 OR sum(line.billed_micros) <> 0
""".replace(":columns", COLUMNS)


def sums_of_hour(hour: datetime) -> dict[LineKey, BasisSums]:
    """By charge and owner, what the hour's own lines come to."""
    return _sums_by_line(hour, {"corrected": False})


def corrected_sums_of_hour(hour: datetime) -> dict[LineKey, BasisSums]:
    """Return the hour's sums by charge and owner, with all corrections of it that were posted."""
    return _sums_by_line(hour, {"corrected": True})


def corrections_of_month(month: date) -> dict[datetime, dict[LineKey, BasisSums]]:
    """Return the sums of all corrections of a month, where they are not nothing, by the hour they correct."""
    sums_by_hour: dict[datetime, dict[LineKey, BasisSums]] = {}
    for row in named_rows(CORRECTIONS, {"month": month}):
        sums_by_hour.setdefault(row.hour, {})[KEY_OF(row)] = SUMS_OF(row)
    return sums_by_hour


POSTED = """
SELECT charge.posting_month, coalesce(sum(charge.effective_micros), 0)::int8
FROM ledger_charge AS original JOIN ledger_charge AS charge ON charge.corrects_id = original.id
WHERE original.posting_month = %(month)s
GROUP BY 1 ORDER BY 1
"""


def corrections_posted(month: date) -> list[tuple[date, int]]:
    """By the month that they are posted in, what corrections of a month come to, of effective cost."""
    return [(posted, micros) for posted, micros in rows(POSTED, {"month": month})]


def _sums_by_line(hour: datetime, params: dict[str, object]) -> dict[LineKey, BasisSums]:
    sum_rows = named_rows(SUMS, params | {"hour": hour})
    return {KEY_OF(row): SUMS_OF(row) for row in sum_rows}
