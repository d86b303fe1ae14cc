"""Two ways to come to the same sums, compared key by key: the shape of most of the audit's checks."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import LiteralString

from apps.ledger.queries.audit_sql import Query

COMMA: LiteralString = ", "
BEGIN: LiteralString = "WITH "
ROWS: LiteralString = "rows"


@dataclass(frozen=True, slots=True)
class AuditComparison:
    """Two SELECTs of the same columns, first `keys`, then `measures`; a place is where they differ.

    Rows of a key are summed on each side; a sum of nothing known is null and differs from 0. So a
    column that is a key may be any type: one row with another key is missing there and too much
    here, and where nothing of it is known *rows* says so, 1 or 0. `place` says in SQL where that is, `hour` when; both may use `compared`'s keys and `joins`.
    Where `only` is not true of a key, or of its sums, nothing is compared.
    """

    tables: tuple[LiteralString, ...]
    expected: LiteralString
    found: LiteralString
    keys: tuple[LiteralString, ...]
    measures: tuple[LiteralString, ...]
    place: LiteralString
    hour: LiteralString = "compared.day"
    charge: LiteralString = "NULL"
    joins: LiteralString = ""
    only: LiteralString = "true"

    @property
    def text(self) -> LiteralString:
        """The whole statement; its columns are those of every check."""
        keys = COMMA.join(self.keys)
        own_tables = (self._sides_sql(), self._sums_sql(keys), self._compared_sql(keys))
        tables = (*self.tables, *own_tables)
        return (
            BEGIN
            + COMMA.join(tables)
            + f"""
SELECT {self.charge}, {self.place}, {self.hour}, compared.basis, compared.expected, compared.found,
       coalesce(compared.found, 0) - coalesce(compared.expected, 0), count(*) OVER (),
       sum(abs(coalesce(compared.found, 0) - coalesce(compared.expected, 0))) OVER ()
FROM compared {self.joins}
ORDER BY {COMMA.join(_with_prefix("compared.", self.keys))}, compared.basis
LIMIT %(shown)s
"""
        )

    def _sides_sql(self) -> LiteralString:
        return f"""
sides AS (
    SELECT 0 AS side, expected.* FROM ({self.expected}) AS expected
    UNION ALL
    SELECT 1, found.* FROM ({self.found}) AS found
)"""

    def _sums_sql(self, keys: LiteralString) -> LiteralString:
        sums = COMMA.join(
            f"sum({name}) FILTER (WHERE side = 0) AS expected_{name},"
            f" sum({name}) FILTER (WHERE side = 1) AS found_{name}"
            for name in self.measures
        )
        return f"""
summed AS (
    SELECT {keys}, {sums}, max(1 - side) AS expected_rows, max(side) AS found_rows
    FROM sides GROUP BY {keys}
)"""

    def _compared_sql(self, keys: LiteralString) -> LiteralString:
        measures = (*self.measures, ROWS)
        expected = COMMA.join(_with_prefix("expected_", measures))
        found_columns = COMMA.join(_with_prefix("found_", measures))
        pairs = COMMA.join(f"('{name}', expected_{name}, found_{name})" for name in measures)
        return f"""
compared AS (
    SELECT {keys}, basis.name AS basis, basis.expected, basis.found
    FROM summed CROSS JOIN LATERAL (VALUES {pairs}) AS basis (name, expected, found)
    WHERE ({expected}) IS DISTINCT FROM ({found_columns})
      AND basis.expected IS DISTINCT FROM basis.found AND ({self.only})
)"""


@dataclass(frozen=True, slots=True)
class Fact:
    """A column and what other data say that it is; `holds` where that is not plain equality."""

    name: LiteralString
    expected: LiteralString
    found: LiteralString
    holds: LiteralString = ""

    @property
    def condition(self) -> LiteralString:
        """Whether it agrees."""
        return self.holds or f"({self.found}) IS NOT DISTINCT FROM ({self.expected})"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Rows, and facts of each that other rows tell too; a place is a fact on which they disagree.

    `source` is what follows FROM, joins included.
    """

    tables: tuple[LiteralString, ...]
    source: LiteralString
    where: LiteralString
    facts: tuple[Fact, ...]
    place: LiteralString
    hour: LiteralString
    charge: LiteralString = "NULL::int8"

    @property
    def text(self) -> LiteralString:
        """The whole statement; its columns are those of every check."""
        conditions: LiteralString = " AND ".join(f"({fact.condition})" for fact in self.facts)
        fact_values = COMMA.join(
            f"('{fact.name}', ({fact.expected})::text, ({fact.found})::text, {fact.condition})"
            for fact in self.facts
        )
        begin = BEGIN + COMMA.join(self.tables) if self.tables else ""
        return f"""{begin}
SELECT {self.charge}, {self.place}, {self.hour}, fact.name, fact.expected, fact.found, 1,
       count(*) OVER (), count(*) OVER ()
FROM {self.source}
CROSS JOIN LATERAL (VALUES {fact_values}) AS fact (name, expected, found, holds)
WHERE ({self.where}) AND ({conditions}) IS NOT TRUE AND fact.holds IS NOT TRUE
ORDER BY 3, 1, 2, 4
LIMIT %(shown)s
"""


@dataclass(frozen=True, slots=True)
class Check:
    """A query whose rows are places; its last columns count and sum all of them."""

    name: str
    query: Query | AuditComparison | Agreement


def _with_prefix(prefix: LiteralString, names: Iterable[LiteralString]) -> list[LiteralString]:
    return [prefix + name for name in names]
