"""Outcomes of each kind of recommendation, and what later ones of it are multiplied with."""

from dataclasses import dataclass

from apps.console.kit.cells import COUNT, RATIO, WHOLE_MONEY
from apps.console.kit.request import Context
from apps.console.kit.table import Table
from apps.console.pages.recommendations import words
from apps.economics.kept_promises import PromiseRecord
from apps.review.queries.recommending.kept_promises import promise_records
from apps.tables.column import CURRENCY_COLUMN, Column


@dataclass(frozen=True, slots=True)
class KindRecord:
    """A kind and its record."""

    kind: str
    record: PromiseRecord


KEPT = Table[KindRecord](
    "kept",
    "Realised and promised, by kind",
    (
        Column("kind", "Kind", lambda row: words.kind_label(row.kind)),
        Column("cases", "Judged", lambda row: row.record.cases, COUNT,
               note=lambda row: f"{row.record.verified} verified"),
        Column("promised", "Promised a month", lambda row: row.record.promised_micros, WHOLE_MONEY),
        Column("realised", "Realised a month", lambda row: row.record.realised_micros, WHOLE_MONEY),
        Column("ratio", "Realised of promised", lambda row: row.record.ratio, RATIO, csv="realised_ratio"),
        Column("factor", "Later ones promise", lambda row: row.record.factor, RATIO,
               note=lambda row: "of what is computed"),
        Column("verified", "", lambda row: row.record.verified, COUNT),
        CURRENCY_COLUMN,
    ),
    noun=("kind", "kinds"),
    about="the newest ten of each kind that were verified or failed; few cases move later promises little",
)  # fmt: skip


def kind_records(context: Context) -> list[KindRecord]:
    """Those with a case, the largest promises first."""
    rows = [KindRecord(kind, record) for kind, record in promise_records(context.at).items()]
    return sorted(
        (row for row in rows if row.record.cases),
        key=lambda row: (-row.record.promised_micros, row.kind),
    )
