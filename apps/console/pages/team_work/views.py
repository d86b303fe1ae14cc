"""Teams' work, and its tables as CSV."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.kit.cells import hours_cell, money_cell, text_cell
from apps.console.kit.request import EVERYONE, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.team_work.pages import (
    asked_window,
    league_rows,
    seen_teams,
    team_work_page,
    wait_rows,
    work_rows,
)
from apps.console.pages.team_work.values import LeagueRow, WorkRow
from apps.economics.waiting import WaitQuantile
from apps.ledger.queries.league import league_of
from apps.ledger.queries.team_work import work_of_teams
from apps.ledger.queries.time_to_work import first_work

PARTS = ("waste", "waste_ratio", "failed_or_redone", "no_requests", "held_idle", "not_held",
         "waited_for_data")  # fmt: skip
HEADER = ("workload", "team", "cost", "cost_compared", "cost_before", "held_gpu_hours", "active_ratio", *PARTS,
          "per_1000_requests", "per_million_tokens_trained", "currency")  # fmt: skip
WASTE_HEADER = ("place", "team", "cost", *PARTS, "currency")
WAITS_HEADER = ("workload", "team", "count", "told_first_step", "still_waiting", "median_seconds",
                "ninth_decile_seconds")  # fmt: skip


@require_safe
@shown_to(EVERYONE)
def team_work(request: HttpRequest) -> HttpResponse:
    """What teams' work cost, what of it was waste, and how long it waited."""
    page = team_work_page(request.GET, request_context(request, "team-work"))
    return render(request, "team_work/page.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def team_work_csv(request: HttpRequest) -> HttpResponse:
    """Every workload of every team that the viewer sees."""
    who = request_context(request, "team-work")
    currency = who.organisation.currency
    window, _ = asked_window(request.GET, who)
    cells = [
        [
            text_cell(row.workload),
            text_cell(row.team),
            money_cell(row.work.micros, currency),
            money_cell(row.work.now_micros, currency),
            money_cell(row.work.before_micros, currency),
            hours_cell(row.work.held_ms),
            _ratio(row.work.active_ratio),
            *_parts(row, currency),
            money_cell(row.work.thousand_micros, currency),
            money_cell(row.work.million_micros, currency),
            currency,
        ]
        for row in work_rows(work_of_teams(window, seen_teams(who), who.at), currency)
    ]
    return csv_answer("team-work", HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def waste_csv(request: HttpRequest) -> HttpResponse:
    """The ranking by waste, as far as the viewer may see it."""
    who = request_context(request, "team-work")
    currency = who.organisation.currency
    window, _ = asked_window(request.GET, who)
    cells = [
        [
            str(row.place),
            text_cell(row.team),
            money_cell(row.work.micros, currency),
            *_parts(row, currency),
            currency,
        ]
        for row in league_rows(league_of(window, who.viewer, who.at))
    ]
    return csv_answer("team-work-waste", WASTE_HEADER, cells)


@require_safe
@shown_to(EVERYONE)
def waits_csv(request: HttpRequest) -> HttpResponse:
    """How long work waited, by workload."""
    who = request_context(request, "team-work")
    window, _ = asked_window(request.GET, who)
    cells = [
        [
            text_cell(row.workload),
            text_cell(row.team),
            str(row.waits.count),
            str(row.waits.told),
            str(row.waits.waiting),
            _seconds(row.waits.median),
            _seconds(row.waits.ninth),
        ]
        for row in wait_rows(first_work(window, seen_teams(who), who.at))
    ]
    return csv_answer("team-work-waits", WAITS_HEADER, cells)


def _parts(row: WorkRow | LeagueRow, currency: str) -> list[str]:
    return [
        money_cell(row.work.wasted_micros, currency),
        _ratio(row.work.wasted_ratio),
        money_cell(row.failed_micros, currency),
        money_cell(row.unasked_micros, currency),
        money_cell(row.idle_micros, currency),
        money_cell(row.not_held_micros, currency),
        money_cell(row.work.starved_micros, currency),
    ]


def _seconds(found: WaitQuantile) -> str:
    return "" if found.is_longer else f"{found.length.total_seconds():.0f}"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.6f}"
