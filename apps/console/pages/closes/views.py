"""Months and statements, and their tables as CSV."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.authentication import viewer_of_request
from apps.accounts.queries import Role, Viewer, organisation
from apps.console.kit.cells import hours_cell, moment_cell, money_cell, text_cell
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.closes.values import (
    MonthPage,
    MonthRow,
    MonthsPage,
    StatementLineRow,
    StatementPage,
    StatementRow,
)
from apps.economics.money import sum_of_known
from apps.economics.states import State
from apps.ledger.queries.closes import months as asked
from apps.ledger.queries.closes import statements as told
from apps.ledger.queries.closes.checklist import checklist, has_ended
from apps.show.amounts import counted
from apps.show.money import full_amount
from apps.show.words import state_words

CLOSES = frozenset({Role.FINANCE})
MONTHS_HEADER = ("month", "standing", "closed_at", "closed_by", "effective", "late_hours")
STATEMENTS_HEADER = (
    *("month", "version", "team", "cost_centre", "gpu_hours", "effective", "billed"),
    *("of_that_corrections", "unpriced_gpu_hours", "currency", "cut_off"),
)
LINES_HEADER = (
    *("what", "workload", "pool", "state", "status", "corrects", "gpu_hours", "list"),
    *("contracted", "effective", "billed", "currency"),
)
JOURNAL_HEADER = ("month", "version", "cost_centre", "team", "account", "amount", "currency")


@require_safe
@shown_to(EVERYONE)
def months(request: HttpRequest) -> HttpResponse:
    """Every month with cost: open, closed, or closed with late-arriving facts."""
    chosen, viewer = organisation(), viewer_of_request(request)
    rows = month_rows(viewer)
    page = MonthsPage(
        frame=frame_of(request, chosen, "months", waiting(viewer)),
        finding=_finding(rows),
        zone=ZoneInfo(chosen.zone),
        currency=chosen.currency,
        rows=rows,
    )
    return render(request, "closes/months.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def months_csv(request: HttpRequest) -> HttpResponse:
    """The months as CSV."""
    currency = organisation().currency
    cells = [
        [
            f"{row.month:%Y-%m}",
            row.standing,
            moment_cell(row.closed_at),
            text_cell(row.closed_by),
            money_cell(row.effective_micros, currency),
            str(row.late_hours),
        ]
        for row in month_rows(viewer_of_request(request))
    ]
    return csv_answer("months", MONTHS_HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def month(request: HttpRequest, month: str) -> HttpResponse:
    """One month: what stands open before it is closed, or what was told of it."""
    return month_page(request, month_of(month), timezone.now())


def month_page(
    request: HttpRequest, of: date, at: datetime, problem: str = "", status: int = 200
) -> HttpResponse:
    """The page, with why something could not be done."""
    chosen, viewer = organisation(), viewer_of_request(request)
    versions = asked.closes(of)
    current = next((each for each in versions if each.reopened_at is None), None)
    newest = current or (versions[0] if versions else None)
    teams = None if viewer.sees_everything else viewer.team_ids
    statements = told.team_statements(newest.id, teams) if newest else []
    page = MonthPage(
        frame=frame_of(request, chosen, "months", waiting(viewer)),
        finding=_month_finding(of, current, statements, chosen.currency),
        zone=ZoneInfo(chosen.zone),
        currency=chosen.currency,
        month=of,
        key=f"{of:%Y-%m}",
        items=tuple(checklist(of)) if viewer.sees_everything and current is None else (),
        versions=tuple(versions),
        statements=tuple(
            StatementRow(each, reverse("statement", args=[newest.id, each.team_id]))
            for each in statements
            if newest is not None
        ),
        is_closed=current is not None,
        is_over=has_ended(of, at),
        may_close=getattr(request.user, "role", "") in CLOSES,
        late_hours=asked.late_facts(of).hours if current and viewer.sees_everything else 0,
        problem=problem,
    )
    return render(request, "closes/month.html", {"page": page}, status=status)


@require_safe
@shown_to(EVERYONE)
def statement(request: HttpRequest, close_id: int, team_id: int) -> HttpResponse:
    """What one team was told, to read and to print."""
    chosen, viewer = organisation(), viewer_of_request(request)
    close, whole = _statement(viewer, close_id, team_id)
    amount = full_amount(whole.effective_micros, chosen.currency)
    page = StatementPage(
        frame=frame_of(request, chosen, "months", waiting(viewer)),
        finding=f"{whole.team_name} cost {amount} in {close.month:%B %Y}.",
        zone=ZoneInfo(chosen.zone),
        currency=chosen.currency,
        team=whole.team_name,
        cost_centre=whole.cost_centre,
        close=close,
        whole=whole,
        lines=tuple(_line_row(each) for each in told.stated_lines(close_id, team_id)),
        team_id=team_id,
    )
    return render(request, "closes/statement.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def statement_csv(request: HttpRequest, close_id: int, team_id: int) -> HttpResponse:
    """A statement line by line, every micro-unit."""
    close, whole = _statement(viewer_of_request(request), close_id, team_id)
    cells = _line_cells(told.stated_lines(close_id, team_id), organisation().currency)
    name = f"statement {close.month:%Y-%m} v{close.version} {whole.team_id}"
    return csv_answer(name, LINES_HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def statements_csv(request: HttpRequest, close_id: int) -> HttpResponse:
    """Every team's sum that the viewer may see."""
    viewer, currency = viewer_of_request(request), organisation().currency
    close = _close(close_id)
    teams = None if viewer.sees_everything else viewer.team_ids
    cells = [
        [
            *(f"{close.month:%Y-%m}", str(close.version)),
            *(text_cell(each.team_name), text_cell(each.cost_centre)),
            "" if each.gpu_milliseconds is None else hours_cell(each.gpu_milliseconds),
            money_cell(each.effective_micros, currency),
            money_cell(each.billed_micros, currency),
            money_cell(each.corrections_micros, currency),
            hours_cell(each.unpriced_milliseconds),
            currency,
            moment_cell(close.cut_off),
        ]
        for each in told.team_statements(close_id, teams)
    ]
    return csv_answer(f"statements {close.month:%Y-%m} v{close.version}", STATEMENTS_HEADER, cells)


@require_safe
@shown_to(SEES_EVERYTHING)
def journal_csv(request: HttpRequest, close_id: int) -> HttpResponse:
    """The journal of a close: cost centre, account, amount."""
    close, currency = _close(close_id), organisation().currency
    cells = [
        [
            *(f"{close.month:%Y-%m}", str(close.version), text_cell(each.cost_centre)),
            *(text_cell(each.team), each.account, f"{each.amount:f}", currency),
        ]
        for each in told.journal(close_id)
    ]
    return csv_answer(f"journal {close.month:%Y-%m} v{close.version}", JOURNAL_HEADER, cells)


def month_rows(viewer: Viewer) -> tuple[MonthRow, ...]:
    """The months with cost; of others than finance and platform without the organisation's sums."""
    return tuple(
        MonthRow(
            month=each.month,
            href=reverse("month", args=[f"{each.month:%Y-%m}"]),
            standing=each.standing,
            closed_at=each.closed_at,
            closed_by=each.closed_by,
            effective_micros=each.effective_micros if viewer.sees_everything else None,
            late_hours=each.late_hours if viewer.sees_everything else 0,
        )
        for each in asked.month_standings()
    )


def month_of(text: str) -> date:
    """`2026-07` as its first day; 404 for anything else."""
    try:
        found = date.fromisoformat(f"{text}-01")
    except ValueError:
        raise Http404 from None
    return found


def waiting(viewer: Viewer) -> int | None:
    """Setup's questions, which only who sees everything answers."""
    return questions_waiting(timezone.now()) if viewer.sees_everything else 0


def _statement(
    viewer: Viewer, close_id: int, team_id: int
) -> tuple[asked.CloseFact, told.TeamStatement]:
    if not viewer.sees_everything and team_id not in viewer.team_ids:
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


def _finding(rows: Sequence[MonthRow]) -> str:
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


def _line_row(line: told.StatedLine) -> StatementLineRow:
    return StatementLineRow(
        what=_what(line),
        workload=line.workload,
        pool=line.pool,
        state=_state(line),
        gpu_milliseconds=line.unit_milliseconds if line.unit == "gpu" else None,
        list_micros=line.list_micros,
        effective_micros=line.effective_micros,
        billed_micros=line.billed_micros,
    )


def _what(line: told.StatedLine) -> str:
    said = told.ACCOUNTS.get(line.kind, line.kind)
    return f"{said}, correction of {line.corrects_month:%Y-%m}" if line.corrects_month else said


def _state(line: told.StatedLine) -> str:
    return "" if line.state is None else state_words(State(line.state).name.lower()).label


def _line_cells(lines: Sequence[told.StatedLine], currency: str) -> Iterator[Sequence[str]]:
    for line in lines:
        yield [
            told.ACCOUNTS.get(line.kind, line.kind),
            text_cell(line.workload),
            text_cell(line.pool),
            _state(line),
            line.status,
            f"{line.corrects_month:%Y-%m}" if line.corrects_month else "",
            hours_cell(line.unit_milliseconds) if line.unit == "gpu" else "",
            money_cell(line.list_micros, currency),
            money_cell(line.contracted_micros, currency),
            money_cell(line.effective_micros, currency),
            money_cell(line.billed_micros, currency),
            currency,
        ]
