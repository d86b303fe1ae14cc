"""The tables of months and statements."""

from collections.abc import Sequence
from dataclasses import replace

from django.urls import reverse
from django.utils.html import format_html

from apps.console.kit.cells import (
    COUNT,
    DAY_OR_INSTANT,
    GPU_HOURS,
    MONEY,
    WRAPPED,
    Locale,
    digest_shown,
)
from apps.console.kit.table import Table
from apps.economics.money import sum_or_unknown
from apps.economics.states import State
from apps.ledger.queries.closes.checklist import Item
from apps.ledger.queries.closes.months import CloseFact, MonthStatus
from apps.ledger.queries.closes.statements import (
    ACCOUNTS,
    StatedLine,
    TeamStatement,
)
from apps.ledger.tables import closes
from apps.ledger.tables.closes import NONE
from apps.show.time import month as month_words
from apps.show.words import state_words
from apps.tables.column import CURRENCY_COLUMN, Column


def line_words(line: StatedLine) -> str:
    """Return what a line is of, and which month it corrects."""
    account_name = ACCOUNTS.get(line.kind, line.kind)
    return (
        f"{account_name}, correction of {line.corrects_month:%Y-%m}"
        if line.corrects_month
        else account_name
    )


def total_line(team_statement: TeamStatement, lines: Sequence[StatedLine]) -> StatedLine:
    """The statement as the line under its lines."""
    return StatedLine(
        kind="In all",
        workload="",
        pool="",
        state=None,
        status="",
        corrects_month=None,
        unit="" if team_statement.gpu_milliseconds is None else "gpu",
        unit_milliseconds=team_statement.gpu_milliseconds or 0,
        list_micros=sum_or_unknown(line.list_micros for line in lines),
        contracted_micros=None,
        effective_micros=team_statement.effective_micros,
        billed_micros=team_statement.billed_micros,
    )


def _state_label(line: StatedLine) -> str | None:
    return None if line.state is None else state_words(State(line.state).name.lower()).label


def _gpu_time(line: StatedLine) -> int | None:
    return line.unit_milliseconds if line.unit == "gpu" else None


def _opened_again(close: CloseFact, locale: Locale) -> str:
    if close.reopened_at is None:
        return NONE
    opened = DAY_OR_INSTANT.shown(close.reopened_at, locale)
    return format_html("{}: {}", opened, close.reopen_reason)


def checklist_table(*, may_close: bool) -> Table[Item]:
    """Return the table of what stands open before a close; whoever may close ticks what is waived, by its code."""

    def waived(item: Item, _: Locale) -> str:
        if not item.count:
            return "nothing open"
        if item.is_blocking:
            return "no"
        if not may_close:
            return "finance decides"
        tick = '<label><input type="checkbox" name="accept" value="{}"> waive</label>'
        return format_html(tick, item.code)

    return Table[Item](
        "checklist",
        "Before it is closed",
        (
            Column("label", "Question", lambda item: item.label),
            Column("count", "How many", lambda item: item.count, COUNT,
                   warns=lambda item: bool(item.count) and item.is_blocking),
            Column("micros", "Effective cost", lambda item: item.micros, MONEY, missing=NONE),
            Column("meaning", "What it means", lambda item: item.meaning, WRAPPED),
            Column("waived", "Can be waived", lambda item: item.code, shown=waived),
        ),
    )  # fmt: skip


MONTHS = Table[MonthStatus](
    "months",
    "Months",
    (
        Column("month", "Month", lambda row: month_words(row.month),
               href=lambda row: reverse("month", args=[f"{row.month:%Y-%m}"]),
               written=lambda row, _: f"{row.month:%Y-%m}"),
        Column("standing", "Close status", lambda row: row.standing),
        Column("closed_at", "Closed", lambda row: row.closed_at, DAY_OR_INSTANT, missing=NONE),
        Column("closed_by", "By", lambda row: row.closed_by or None, missing=NONE),
        Column("effective", "Effective cost", lambda row: row.effective_micros, MONEY),
        Column("late_hours", "Late-arriving hours", lambda row: row.late_hours, COUNT,
               warns=lambda row: bool(row.late_hours)),
    ),
    empty="No hour has been charged yet: a month appears here with its first cost.",
)  # fmt: skip
MONTHS_WITHOUT_SUMS = replace(
    MONTHS,
    columns=tuple(
        replace(column, text="") if column.key in {"effective", "late_hours"} else column
        for column in MONTHS.columns
    ),
)
"""For whom the organisation's sums are not."""
STATEMENTS = Table.of(
    closes.STATEMENTS,
    dress={
        "team": {
            "href": lambda row: reverse("statement", args=[row.close.id, row.statement.team_id])
        }
    },
)
VERSIONS = Table[CloseFact](
    "versions",
    "How it was closed",
    (
        Column("version", "Version", lambda close: close.version),
        Column("closed_at", "Closed", lambda close: close.closed_at, DAY_OR_INSTANT),
        Column("closed_by", "By", lambda close: close.closed_by or None, missing=NONE),
        Column("lines", "Lines", lambda close: close.lines, COUNT),
        Column("digest", "Digest", lambda close: close.digest,
               shown=lambda close, _: digest_shown(close.digest)),
        Column("invoices", "Billed by then", lambda close: close.invoices or None, WRAPPED,
               missing=NONE),
        Column("note", "Note", lambda close: close.note or None, WRAPPED, missing=NONE),
        Column("reopened_at", "Opened again", lambda close: close.reopened_at, WRAPPED,
               shown=_opened_again),
    ),
    about="the digest is of every line: equal digests, equal months",
)  # fmt: skip
LINES = Table[StatedLine](
    "lines",
    "Line by line",
    (
        Column("what", "What", line_words,
               written=lambda line, _: ACCOUNTS.get(line.kind, line.kind)),
        Column("workload", "Workload", lambda line: line.workload or None, missing=NONE),
        Column("pool", "Pool", lambda line: line.pool or None, missing=NONE),
        Column("state", "State", _state_label, missing=NONE),
        Column("status", "", lambda line: line.status),
        Column("corrects", "",
               lambda line: f"{line.corrects_month:%Y-%m}" if line.corrects_month else None),
        Column("gpu_hours", "GPU-hours", _gpu_time, GPU_HOURS, missing=NONE),
        Column("list", "List price", lambda line: line.list_micros, MONEY),
        Column("contracted", "", lambda line: line.contracted_micros, MONEY),
        Column("effective", "Effective cost", lambda line: line.effective_micros, MONEY),
        Column("billed", "Billed", lambda line: line.billed_micros, MONEY),
        CURRENCY_COLUMN,
    ),
    about="they sum to the statement, to the micro-unit in the CSV",
)  # fmt: skip
JOURNAL = Table.of(closes.JOURNAL)
