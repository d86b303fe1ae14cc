"""What every page of Costs begins and ends with: who asks for what, and the frame around it."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict, Unpack
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from apps.accounts.authentication import viewer_of_request
from apps.console.kit.chart import DailyChart
from apps.console.kit.frame import EmptyState, Frame, Link, Step
from apps.console.kit.request import frame_of
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.costs.picture import Picture, Place, picture
from apps.console.pages.costs.question import CostQuestion, cost_question
from apps.console.pages.costs.values import CostsPage, CostTable, Detail, LineTable
from apps.console.pages.costs.words import least_sure, under
from apps.console.pages.meters import MeterTable
from apps.ledger.queries.drill import Daily, Drill, Sureness, sureness


class Parts(TypedDict, total=False):
    """What stands on a page below its title."""

    tables: Sequence[CostTable]
    about: Sequence[Detail]
    lines: LineTable
    empty: EmptyState
    known: Sureness
    place: Place
    daily: Daily
    chart: DailyChart | None
    meters: MeterTable | None


def asked_by(request: HttpRequest) -> tuple[CostQuestion, datetime]:
    """What is asked, by whom and when."""
    at = timezone.now()
    return cost_question(request.GET, viewer_of_request(request), at), at


def frame(request: HttpRequest, asked: CostQuestion, at: datetime) -> Frame:
    """The frame; what waits in Setup is told to those who may answer it."""
    waiting = questions_waiting(at) if asked.viewer.sees_everything else 0
    return frame_of(request, asked.organisation, "costs", waiting)


def answer(
    request: HttpRequest,
    asked: CostQuestion,
    drill: Drill,
    trail: Sequence[Link],
    finding: str,
    **parts: Unpack[Parts],
) -> HttpResponse:
    """The page; where nothing was charged it says what to ask instead."""
    at = timezone.now()
    known = parts.get("known") or sureness(drill, asked.viewer, at)
    drawn = Picture(chart=parts.get("chart"))
    if "place" in parts and "daily" in parts:
        drawn = picture(asked, parts["place"], parts["daily"], least_sure(known.statuses))
    page = CostsPage(
        frame=frame(request, asked, at),
        finding=finding,
        currency=asked.currency,
        filters=asked.filters(drill),
        action=request.path,
        trail=tuple(trail),
        sort=asked.sort,
        state=asked.given["state"],
        problems=asked.problems,
        under=under(asked, known),
        figures=drawn.figures,
        chart=drawn.chart,
        tables=tuple(parts.get("tables", ())),
        about=tuple(parts.get("about", ())),
        lines=parts.get("lines"),
        meters=parts.get("meters"),
        empty=parts.get("empty"),
        export_href=_export(asked, drill),
    )
    return render(request, "costs/page.html", {"page": page})


def _export(asked: CostQuestion, drill: Drill) -> str:
    """The form for a file of every row behind the page, filled in as far as it goes."""
    teams = drill.chosen.team_ids or ()
    told = {
        "window": asked.given["window"],
        "pool": asked.given["pool"],
        "team": asked.teams[next(iter(teams))].name
        if len(teams) == 1 and next(iter(teams)) in asked.teams
        else "",
    }
    return f"{reverse('exports')}?{urlencode({k: v for k, v in told.items() if v})}"


def team_name(asked: CostQuestion, team_id: int) -> str:
    """The name of a team the viewer sees; any other is as if there were none."""
    if team_id not in asked.teams:
        raise Http404("There is no such team.")
    return asked.teams[team_id].name


def all_costs(asked: CostQuestion) -> Link:
    """The top of the way down."""
    return Link("Cost explorer", asked.down("costs"))


def team_link(asked: CostQuestion, team_id: int | None) -> list[Link]:
    """The team's page, for who sees the team."""
    if team_id is None or team_id not in asked.teams:
        return []
    return [Link(asked.teams[team_id].name, asked.down("costs-team", team_id))]


def nothing(asked: CostQuestion, name: str, *place: object) -> EmptyState:
    """Nothing was charged in what was asked for; the same page with less left out."""
    steps = [
        Step(
            "There may be costs in a longer period.",
            link=Link("Show the last 90 days", asked.href(name, *place, window="90d")),
        )
    ]
    if asked.given["pool"] or asked.given["tag"]:
        everything = asked.href(name, *place, pool="", tag="")
        steps.append(
            Step("Other pools or tags may have costs.", link=Link("Show all of them", everything))
        )
    return EmptyState("Nothing to show", "No charge matches what was asked for.", tuple(steps))
