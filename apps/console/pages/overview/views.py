"""The Overview and its tables as CSV: parse the address, ask once, answer."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts import queries as accounts
from apps.accounts.authentication import viewer_of_request
from apps.console.kit.cells import hours_cell, money_cell, text_cell
from apps.console.kit.frame import Frame
from apps.console.kit.request import EVERYONE, frame_of, shown_to
from apps.console.kit.table import csv_answer
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.overview.by_team import team_table
from apps.console.pages.overview.daily import daily_chart
from apps.console.pages.overview.empty import FIRST_STEPS, NO_TEAM, nothing_charged
from apps.console.pages.overview.figures import figures
from apps.console.pages.overview.finding import finding, under
from apps.console.pages.overview.notices import notices
from apps.console.pages.overview.question import Question, question
from apps.console.pages.overview.sums import Sums, sums_of
from apps.console.pages.overview.values import OverviewPage
from apps.fleet.queries import lived_since
from apps.ledger.queries import OverviewFacts, overview_facts
from apps.show.words import STATES
from apps.unit_economics.queries.waste import Waste, waste_of_window

STATE_KEYS = [state.key for state in STATES]


@require_safe
@shown_to(EVERYONE)
def overview(request: HttpRequest) -> HttpResponse:
    """The whole page, also where htmx wants a part: it takes out what it needs."""
    at = timezone.now()
    asked = question(request.GET, viewer_of_request(request), at)
    waiting = questions_waiting(at) if asked.viewer.sees_everything else 0
    frame = frame_of(request, asked.organisation, "overview", waiting)
    page = overview_page(asked, frame, at)
    return render(request, "overview/page.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def teams_csv(request: HttpRequest) -> HttpResponse:
    """The table by team: a row for each team, a column for each state."""
    at = timezone.now()
    asked = question(request.GET, viewer_of_request(request), at)
    facts = overview_facts(asked.chosen, at, asked.pools, asked.every_team)
    centres = {team.id: team.cost_centre for team in accounts.teams()}
    rows = [
        [
            text_cell(team.name),
            text_cell(centres[team.team_id]),
            *_cells(sums_of(team.states), asked),
        ]
        for team in facts.teams
    ]
    return csv_answer("costs by team", ["team", "cost_centre", *_headings()], rows)


@require_safe
@shown_to(EVERYONE)
def days_csv(request: HttpRequest) -> HttpResponse:
    """The table behind the chart: a row for each day with a charge, a column for each state."""
    at = timezone.now()
    asked = question(request.GET, viewer_of_request(request), at)
    facts = overview_facts(asked.chosen, at, asked.pools, asked.every_team)
    rows = [
        [of_day.day.isoformat(), *_cells(sums_of(of_day.states), asked)] for of_day in facts.days
    ]
    return csv_answer("costs by day", ["day", *_headings()], rows)


def overview_page(asked: Question, frame: Frame, at: datetime) -> OverviewPage:
    """The page that answers the question."""
    facts = overview_facts(asked.chosen, at, asked.pools, asked.every_team)
    if not facts.days:
        return _empty_page(asked, frame, facts)
    sums = sums_of(part for team in facts.teams for part in team.states)
    waste = waste_of_window(asked.chosen, facts.comparison)
    return OverviewPage(
        frame=frame,
        finding=finding(asked, facts, sums, waste.total),
        currency=asked.currency,
        filters=asked.filters,
        sort=asked.sort,
        problems=asked.problems,
        under=under(asked, facts),
        figures=figures(asked, facts, sums, waste),
        chart=daily_chart(asked, facts, sums),
        teams=team_table(asked, facts, sums, waste),
        notices=notices(asked, facts),
    )


def _empty_page(asked: Question, frame: Frame, facts: OverviewFacts) -> OverviewPage:
    if not asked.viewer.team_ids:
        return OverviewPage(
            frame=frame,
            finding="Nothing here is yours to see yet.",
            currency=asked.currency,
            filters=(),
            empty=NO_TEAM,
        )
    since = lived_since()
    if since is None:
        return OverviewPage(
            frame=frame,
            finding="Nothing has cost anything yet.",
            currency=asked.currency,
            filters=(),
            empty=FIRST_STEPS,
        )
    return OverviewPage(
        frame=frame,
        finding=finding(asked, facts, sums_of(()), Waste()),
        currency=asked.currency,
        filters=asked.filters,
        sort=asked.sort,
        problems=asked.problems,
        empty=nothing_charged(asked, facts, since),
    )


def _headings() -> Iterator[str]:
    yield from ("cost", "provisional", "currency", "basis")
    yield from STATE_KEYS
    yield from ("gpu_hours", "unpriced_gpu_hours", "window_start", "window_end")


def _cells(sums: Sums, asked: Question) -> Sequence[str]:
    currency = asked.currency
    window = asked.chosen.window
    return [
        money_cell(sums.total, currency),
        money_cell(sums.provisional_total, currency),
        currency,
        str(asked.chosen.basis),
        *(money_cell(sums.by_state.get(key), currency) for key in STATE_KEYS),
        hours_cell(sums.gpu_milliseconds),
        hours_cell(sums.unpriced_milliseconds),
        window.first_day.isoformat(),
        window.end_day.isoformat(),
    ]
