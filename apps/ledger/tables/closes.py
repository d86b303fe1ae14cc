"""The tables of what a close says: each team's statement, and the journal."""

from apps.ledger.queries.closes.statements import CloseJournalEntry, CloseStatement
from apps.tables.column import CURRENCY_COLUMN, Column, field
from apps.tables.table import Table

NONE = "–"

STATEMENTS = Table[CloseStatement](
    "statements",
    "Statements",
    (
        Column("month", "", field("close.month_text")),
        Column("version", "", field("close.version")),
        Column("team", "Team", field("statement.team_name")),
        Column("cost_centre", "Cost centre", field("statement.cost_centre"),
               shown=lambda row, _: row.statement.cost_centre or NONE),
        Column("gpu_hours", "GPU-hours", field("statement.gpu_milliseconds")),
        Column("effective", "Effective cost", field("statement.effective_micros")),
        Column("billed", "Billed", field("statement.billed_micros")),
        Column("corrections", "Of that corrections", field("statement.corrections_micros"),
               missing=NONE, definition="the part that late facts of other months added"),
        Column("unpriced_gpu_hours", "", field("statement.unpriced_milliseconds")),
        CURRENCY_COLUMN,
        Column("cut_off", "", field("close.cut_off")),
        Column("team_id", "", field("statement.team_id")),
    ),
    empty="Nothing of this month was your teams’.",
    row=CloseStatement,
    unique=lambda row: (row.statement.team_id,),
)  # fmt: skip
JOURNAL = Table[CloseJournalEntry](
    "journal",
    "Journal",
    (
        Column("month", "", field("close.month_text")),
        Column("version", "", field("close.version")),
        Column("cost_centre", "", field("entry.cost_centre")),
        Column("team", "", field("entry.team")),
        Column("account", "", field("entry.account")),
        Column("gl_code", "", field("entry.gl_code")),
        Column("debit", "", field("entry.debit")),
        Column("credit", "", field("entry.credit")),
        Column("amount", "", field("entry.amount")),
        CURRENCY_COLUMN,
    ),
    row=CloseJournalEntry,
    unique=lambda row: (row.entry.cost_centre, row.entry.team, row.entry.account),
)
