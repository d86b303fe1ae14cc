"""The table of jobs that no rule gives to a team."""

from apps.ledger.queries.unowned import UnownedWork
from apps.tables.column import CURRENCY_COLUMN, Column, field
from apps.tables.table import Table

RULE_ASKS = ("account", "namespace", "user", "partition")
"""What a rule would ask of a job, besides its cluster."""


def _submitter_column(key: str, text: str) -> Column[UnownedWork]:
    return Column(
        key,
        text,
        field(f"submitter.{key}"),
        order=lambda row: getattr(row.submitter, key) or None,
    )


UNOWNED = Table[UnownedWork](
    "unowned",
    "Unowned",
    (
        _submitter_column("account", "Account"),
        _submitter_column("namespace", "Namespace"),
        _submitter_column("user", "User"),
        _submitter_column("cluster", "Cluster"),
        _submitter_column("partition", ""),
        Column("jobs", "Jobs"),
        Column(
            "cost",
            "Cost",
            field("micros"),
            definition="effective; null where nothing of it has a price",
        ),
        CURRENCY_COLUMN,
        Column("gpu_hours", "GPU-hours", field("gpu_milliseconds")),
        Column("unpriced_gpu_hours", "", field("unpriced_milliseconds")),
    ),
    empty="What turns up without an owner is listed here, with the rule that would give it one.",
    csv_first=("cluster", *RULE_ASKS),
    row=UnownedWork,
    unique=lambda row: row.rank,
)
