"""Data from outside that reached the ledger so far, for the first day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

from apps.ledger.queries.api_spend import VENDORS
from apps.ledger.queries.tables import rows

SOURCES: LiteralString = """
SELECT coalesce((SELECT jsonb_object_agg(state, files) FROM (
           SELECT state, count(*) AS files FROM ledger_billimport GROUP BY state) AS delivered),
           '{}'::jsonb),
       ARRAY(:vendors)
""".replace(":vendors", VENDORS)


@dataclass(frozen=True, slots=True)
class SourceArrivals:
    """How many files of bills there are by their state, those of none left out, and vendors of whom a call or a report is known."""

    bills: Mapping[str, int]
    vendors: Sequence[str]


def source_arrivals() -> SourceArrivals:
    """Both, in one statement."""
    (row,) = rows(SOURCES, {})
    return SourceArrivals(*row)
