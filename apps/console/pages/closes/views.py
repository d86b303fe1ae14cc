"""Months and statements, and their tables as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html

from apps.accounts.queries import Role
from apps.console.kit.cells import DAY_OR_INSTANT, INSTANT
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, answered, shown
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, Context, request_context
from apps.console.kit.table import TableSection
from apps.console.pages.closes.tables import (
    JOURNAL,
    LINES,
    MONTHS,
    MONTHS_WITHOUT_SUMS,
    STATEMENTS,
    VERSIONS,
    ToldEntry,
    ToldStatement,
)
from apps.economics.money import sum_of_known, sum_or_unknown
from apps.ledger.queries.closes import months as asked
from apps.ledger.queries.closes import statements as told
from apps.ledger.queries.closes.checklist import Item, checklist, has_ended
from apps.show.amounts import counted
from apps.show.money import full_amount

CLOSES = frozenset({Role.FINANCE})
NEVER_CHANGES = "A closed month never changes: late-arriving facts are posted in the open month, as corrections."


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthPage(ConsolePage):
    """One month: what stands open, or how it was closed and what each team was told."""

    template: ClassVar[str] = "closes/month.html"
    month: date
    key: str
    items: tuple[Item, ...]
    statements: TableSection | None
    versions: TableSection | None
    is_closed: bool
    is_over: bool
    may_close: bool
    late_hours: int

    @property
    def is_ready(self) -> bool:
        """Whether nothing is left that must be 0."""
        return not any(item.is_blocking and item.count for item in self.items)


@shown(EVERYONE, "months")
def months(context: Context) -> ConsolePage:
    """Every month with cost: open, closed, or closed with late-arriving facts."""
    rows = month_rows(context)
    table = MONTHS if context.viewer.sees_prices else MONTHS_WITHOUT_SUMS
    return ConsolePage(
        context=context,
        finding=_finding(rows),
        under=(NEVER_CHANGES,),
        sections=(
            table.section(
                rows,
                context,
                about=f"effective cost, in {context.currency}",
                csv_href=reverse("months-csv"),
            ),
        ),
    )


@shown(EVERYONE, "months")
def months_csv(context: Context) -> HttpResponse:
    """The months as CSV."""
    return MONTHS.csv(month_rows(context), context, "months")


@shown(EVERYONE, "months")
def month(context: Context, month: str) -> ConsolePage:
    """One month: what stands open before it is closed, or what was told of it."""
    return _month_page(context, month_of(month))


def refused_month(request: HttpRequest, of: date, problem: str, status: int) -> HttpResponse:
    """The page of a month, with why something could not be done."""
    page = _month_page(request_context(request, "months"), of, problem)
    return answered(request, page, status)


def _month_page(context: Context, of: date, problem: str = "") -> MonthPage:
    viewer, versions = context.viewer, asked.closes(of)
    current = next((each for each in versions if each.reopened_at is None), None)
    newest = current or (versions[0] if versions else None)
    statements = told.team_statements(newest.id, context.seen_teams) if newest else []
    return MonthPage(
        context=context,
        finding=_month_finding(of, current, statements, context.currency),
        problems=(problem,) if problem else (),
        back=Link("Month close", reverse("months")),
        month=of,
        key=f"{of:%Y-%m}",
        items=tuple(checklist(of)) if viewer.sees_everything and current is None else (),
        versions=VERSIONS.section(versions, context) if versions else None,
        statements=_statements(newest, statements, context) if newest else None,
        is_closed=current is not None,
        is_over=has_ended(of, context.at),
        may_close=viewer.may_close,
        late_hours=asked.late_facts(of).hours if current and viewer.sees_everything else 0,
    )


def _statements(
    close: asked.CloseFact, statements: Sequence[told.TeamStatement], context: Context
) -> TableSection:
    journal = Link("Journal", reverse("journal-csv", args=[close.id]))
    return STATEMENTS.section(
        [ToldStatement(close, each) for each in statements],
        context,
        about=f"effective cost, in {context.currency}; each team sees its own",
        links=(journal,) if context.viewer.sees_prices else (),
        csv_href=reverse("statements-csv", args=[close.id]),
    )


@shown(EVERYONE, "months")
def statement(context: Context, close_id: int, team_id: int) -> ConsolePage:
    """What one team was told, to read and to print."""
    close, whole = _statement(context, close_id, team_id)
    amount = full_amount(whole.effective_micros, context.currency)
    lines = told.stated_lines(close_id, team_id)
    return ConsolePage(
        context=context,
        finding=f"{whole.team_name} cost {amount} in {close.month:%B %Y}.",
        under=_how_closed(close, whole, context),
        notes=(close.note,) if close.note else (),
        back=Link("Month close", reverse("months")),
        sections=(
            LINES.section(
                lines,
                context,
                total=_whole_line(whole, lines),
                csv_href=reverse("statement-csv", args=[close_id, team_id]),
            ),
        ),
    )


@shown(EVERYONE, "months")
def statement_csv(context: Context, close_id: int, team_id: int) -> HttpResponse:
    """A statement line by line, every micro-unit."""
    close, whole = _statement(context, close_id, team_id)
    name = f"statement {close.month:%Y-%m} v{close.version} {whole.team_id}"
    return LINES.csv(told.stated_lines(close_id, team_id), context, name)


@shown(EVERYONE, "months")
def statements_csv(context: Context, close_id: int) -> HttpResponse:
    """Every team's sum that the viewer may see."""
    close = _close(close_id)
    found = told.team_statements(close_id, context.seen_teams)
    rows = [ToldStatement(close, each) for each in found]
    return STATEMENTS.csv(rows, context, f"statements {close.month:%Y-%m} v{close.version}")


@shown(SEES_EVERYTHING, "months")
def journal_csv(context: Context, close_id: int) -> HttpResponse:
    """The journal of a close: cost centre, account, amount."""
    close = _close(close_id)
    rows = [ToldEntry(close, each) for each in told.journal(close_id)]
    return JOURNAL.csv(rows, context, f"journal {close.month:%Y-%m} v{close.version}")


def month_rows(context: Context) -> list[asked.MonthStanding]:
    """The months with cost; of others than finance and platform without the organisation's sums."""
    found = asked.month_standings()
    if context.viewer.sees_everything:
        return found
    return [replace(each, effective_micros=None, late_hours=0) for each in found]


def month_of(text: str) -> date:
    """`2026-07` as its first day; 404 for anything else."""
    try:
        found = date.fromisoformat(f"{text}-01")
    except ValueError:
        raise Http404 from None
    return found


def _statement(
    context: Context, close_id: int, team_id: int
) -> tuple[asked.CloseFact, told.TeamStatement]:
    if not context.viewer.sees_team(team_id):
        raise Http404
    close = _close(close_id)
    found = told.team_statements(close_id, [team_id])
    if not found:
        raise Http404
    return close, found[0]


def _close(close_id: int) -> asked.CloseFact:
    found = asked.close_fact(close_id)
    if found is None:
        raise Http404
    return found


def _how_closed(
    close: asked.CloseFact, whole: told.TeamStatement, context: Context
) -> tuple[str, ...]:
    """Which facts the statement is of."""
    closed = DAY_OR_INSTANT.shown(close.closed_at, context.locale)
    by = format_html(" by {}", close.closed_by) if close.closed_by else ""
    cut_off = INSTANT.shown(close.cut_off, context.locale)
    return (
        f"effective cost, in {context.currency}",
        format_html("version {}, closed {}{}", close.version, closed, by),
        format_html("facts known by {}; what came later is a correction of a later month", cut_off),
        *([f"billed: {close.invoices}"] if close.invoices else []),
        *([f"cost centre {whole.cost_centre}"] if whole.cost_centre else []),
        *(
            ["the month was opened again since: a newer version may differ"]
            if close.reopened_at
            else []
        ),
    )


def _whole_line(whole: told.TeamStatement, lines: Sequence[told.StatedLine]) -> told.StatedLine:
    """The statement as the line under its lines."""
    return told.StatedLine(
        kind="In all",
        workload="",
        pool="",
        state=None,
        status="",
        corrects_month=None,
        unit="" if whole.gpu_milliseconds is None else "gpu",
        unit_milliseconds=whole.gpu_milliseconds or 0,
        list_micros=sum_or_unknown(line.list_micros for line in lines),
        contracted_micros=None,
        effective_micros=whole.effective_micros,
        billed_micros=whole.billed_micros,
    )


def _finding(rows: Sequence[asked.MonthStanding]) -> str:
    late = [row for row in rows if row.late_hours]
    if late:
        return f"{counted(len(late), 'closed month')} have late-arriving facts."
    closed = [row for row in rows if row.standing == "closed"]
    if not closed:
        return "No month is closed yet."
    return f"{closed[0].month:%B %Y} is the latest month that is closed."


def _month_finding(
    of: date,
    current: asked.CloseFact | None,
    statements: Sequence[told.TeamStatement],
    currency: str,
) -> str:
    if current is None:
        return f"{of:%B %Y} is open."
    amount = full_amount(sum_of_known(each.effective_micros for each in statements), currency)
    return f"{of:%B %Y} is closed: {amount} for {counted(len(statements), 'team')}."
