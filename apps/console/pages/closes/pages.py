"""Months and statements, and their tables as CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from django.http import Http404, HttpResponse
from django.urls import path, reverse
from django.utils.html import format_html

from apps.console.kit.cells import DAY_OR_INSTANT, INSTANT
from apps.console.kit.csv_file import file_elsewhere
from apps.console.kit.form import FormSection
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import TableSection
from apps.console.pages.closes.changes import CloseForm, ReopeningForm, month_of
from apps.console.pages.closes.tables import (
    JOURNAL,
    LINES,
    MONTHS,
    MONTHS_WITHOUT_SUMS,
    STATEMENTS,
    VERSIONS,
    checklist_table,
    total_line,
)
from apps.economics.money import sum_of_known
from apps.ledger.queries.closes import months as asked
from apps.ledger.queries.closes import statements as told
from apps.ledger.queries.closes.checklist import Item, checklist, has_ended
from apps.show.amounts import counted
from apps.show.money import full_amount

NEVER_CHANGES = "A closed month never changes: late-arriving facts are posted in the open month, as corrections."
NOT_CLOSED = EmptyState("It is not closed yet", "Your statement will be here.")


@shown(EVERYONE, "months")
def months(context: Context) -> ConsolePage:
    """Every month with cost: open, closed, or closed with late-arriving facts."""
    rows = month_rows(context)
    table = MONTHS if context.viewer.sees_prices else MONTHS_WITHOUT_SUMS
    return ConsolePage(
        context=context,
        finding=_months_finding(rows),
        under=(NEVER_CHANGES,),
        sections=(
            table.section(
                rows,
                context,
                about=f"effective cost, in {context.currency}",
                csv=MONTHS.file("months", context, lambda: rows),
            ),
        ),
    )


@shown(EVERYONE, "months")
def month(context: Context, month: str) -> ConsolePage:
    """One month: what stands open before it is closed, or what was told of it."""
    return _month_page(context, month_of(month))


def _month_page(context: Context, of: date) -> ConsolePage:
    viewer, versions = context.viewer, asked.closes(of)
    current = next((version for version in versions if version.reopened_at is None), None)
    newest = current or (versions[0] if versions else None)
    statements = told.team_statements(newest.id, context.seen_teams) if newest else []
    items = checklist(of) if viewer.sees_everything and current is None else []
    return ConsolePage(
        context=context,
        finding=_month_finding(of, current, statements, context.currency),
        back=Link("Month close", reverse("months")),
        sections=(
            _checklist_section(of, items, context) if items else None,
            _statements_section(newest, statements, context) if newest else None,
            VERSIONS.section(versions, context) if versions else None,
            *(_after_close(of, context) if current and viewer.may_close else ()),
        ),
        empty=None if items or versions else NOT_CLOSED,
    )


def _checklist_section(of: date, items: Sequence[Item], context: Context) -> TableSection:
    """Return the section of what stands open before a close, with ticks and the button for whoever closes."""
    is_over, may_close = has_ended(of, context.at), context.viewer.may_close
    about = "nothing is left to settle; the rest is for finance to accept"
    if not is_over:
        about = "it can be closed once its last hour is over"
    elif any(item.is_blocking and item.count for item in items):
        about = "something is still being settled"
    options: dict[str, Any] = {"about": about}
    if may_close and is_over:
        form = CloseForm.opened(None, context)
        href = reverse("close-month", args=[f"{of:%Y-%m}"])
        options["form"] = Link(f"See what closing {of:%B %Y} does", href)
        options["fields"] = [field for field in form.frozen() if field.name == "note"]
    return checklist_table(may_close=may_close).section(items, context, **options)


def _after_close(of: date, context: Context) -> Iterator[FormSection]:
    """Posting what came late, and opening the month again."""
    key, late_hours = f"{of:%Y-%m}", asked.late_facts(of).hours
    if late_hours:
        yield FormSection(
            name="corrections",
            action=reverse("correct-month", args=[key]),
            button="See what would be posted",
            method="get",
            title="Late-arriving hours",
            about=f"{late_hours:,} late-arriving hours wait: their facts changed since",
            words="What they would change is posted in the open month; this one stays as it was "
            "closed.",
            is_primary=True,
        )
    yield ReopeningForm.opened(None, context).section(
        "after",
        reverse("reopen-month", args=[key]),
        f"See what opening {of:%B %Y} again does",
        method="get",
        title="After the close",
        about="" if late_hours else "no late-arriving hours",
    )


def _statements_section(
    close: asked.CloseFact, statements: Sequence[told.TeamStatement], context: Context
) -> TableSection:
    journal = Link("Journal", reverse("journal-csv", args=[close.id]))
    return STATEMENTS.section(
        [told.CloseStatement(close, team_statement) for team_statement in statements],
        context,
        about=f"effective cost, in {context.currency}; each team sees its own",
        links=(journal,) if context.viewer.sees_prices else (),
        csv=file_elsewhere(
            STATEMENTS.name, context.href(reverse("statements-csv", args=[close.id]))
        ),
    )


@shown(EVERYONE, "months")
def statement(context: Context, close_id: int, team_id: int) -> ConsolePage:
    """Show the statement that one team was told, to read and to print."""
    close, team_statement = _team_statement(context, close_id, team_id)
    amount = full_amount(team_statement.effective_micros, context.currency)
    lines = told.stated_lines(close_id, team_id)
    return ConsolePage(
        context=context,
        finding=f"{team_statement.team_name} cost {amount} in {close.month:%B %Y}.",
        under=_how_closed(close, team_statement, context),
        notes=(close.note,) if close.note else (),
        back=Link("Month close", reverse("months")),
        sections=(
            LINES.section(
                lines,
                context,
                total=total_line(team_statement, lines),
                csv_name=f"statement {close.month:%Y-%m} v{close.version} {team_statement.team_id}",
            ),
        ),
    )


@shown(EVERYONE, "months")
def statements_csv(context: Context, close_id: int) -> HttpResponse:
    """Every team's sum that the viewer may see."""
    close = _get_close_or_404(close_id)
    statements = told.team_statements(close_id, context.seen_teams)
    rows = [told.CloseStatement(close, team_statement) for team_statement in statements]
    return STATEMENTS.csv(rows, context, f"statements {close.month:%Y-%m} v{close.version}")


@shown(SEES_EVERYTHING, "months")
def journal_csv(context: Context, close_id: int) -> HttpResponse:
    """The journal of a close: cost centre, account, amount."""
    close = _get_close_or_404(close_id)
    rows = [told.CloseJournalEntry(close, entry) for entry in told.journal(close_id)]
    return JOURNAL.csv(rows, context, f"journal {close.month:%Y-%m} v{close.version}")


def month_rows(context: Context) -> list[asked.MonthStatus]:
    """The months with cost; of others than finance and platform without the organisation's sums."""
    standings = asked.month_standings()
    if context.viewer.sees_everything:
        return standings
    return [
        replace(month_standing, effective_micros=None, late_hours=0) for month_standing in standings
    ]


def _team_statement(
    context: Context, close_id: int, team_id: int
) -> tuple[asked.CloseFact, told.TeamStatement]:
    if not context.viewer.sees_team(team_id):
        raise Http404
    close = _get_close_or_404(close_id)
    statements = told.team_statements(close_id, [team_id])
    if not statements:
        raise Http404
    return close, statements[0]


def _get_close_or_404(close_id: int) -> asked.CloseFact:
    return value_or_404(asked.close_fact(close_id))


def _how_closed(
    close: asked.CloseFact, team_statement: told.TeamStatement, context: Context
) -> tuple[str, ...]:
    """Return which facts the statement is of, in words."""
    closed = DAY_OR_INSTANT.shown(close.closed_at, context.locale)
    by = format_html(" by {}", close.closed_by) if close.closed_by else ""
    cut_off = INSTANT.shown(close.cut_off, context.locale)
    return (
        f"effective cost, in {context.currency}",
        format_html("version {}, closed {}{}", close.version, closed, by),
        format_html("facts known by {}; what came later is a correction of a later month", cut_off),
        *([f"billed: {close.invoices}"] if close.invoices else []),
        *([f"cost centre {team_statement.cost_centre}"] if team_statement.cost_centre else []),
        *(
            ["the month was opened again since: a newer version may differ"]
            if close.reopened_at
            else []
        ),
    )


def _months_finding(rows: Sequence[asked.MonthStatus]) -> str:
    late = [row for row in rows if row.late_hours]
    if late:
        late_months = counted(len(late), "closed month has", "closed months have")
        return f"{late_months} late-arriving facts."
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
    amount = full_amount(
        sum_of_known(team_statement.effective_micros for team_statement in statements), currency
    )
    return f"{of:%B %Y} is closed: {amount} for {counted(len(statements), 'team')}."


urlpatterns = [
    path("months", months, name="months"),
    path("months/<slug:month>", month, name="month"),
    path("closes/<int:close_id>.csv", statements_csv, name="statements-csv"),
    path("closes/<int:close_id>/journal.csv", journal_csv, name="journal-csv"),
    path("closes/<int:close_id>/teams/<int:team_id>", statement, name="statement"),
]
