"""GET /api/v1/team-work: what each team's work cost, what of it was waste, and how long it waited."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.gpu_meters import meters_by
from apps.ledger.rest.meters import MetersOut, meters_answer
from apps.ledger.rest.parameters import parse_window
from apps.unit_economics.queries.team_work import TeamWork, work_of_teams
from apps.unit_economics.queries.time_to_work import Waits, first_work, waits_of
from apps.unit_economics.queries.waste import NOT_HELD, WastePart
from apps.web.rest.money import HoursOut, MoneyOut, NamedOut, RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Parameters, Text
from apps.web.rest.views import RestView
from apps.workloads import queries as workloads


class TeamWorkAsked(Parameters):
    """Parameters that choose the days."""

    window = Text(required=False, default="30d", help_text="7d, month, lastmonth, 2026-07 …")


class TeamWorkOut(serializers.Serializer[Any]):
    """Work of a team's workload (null: of none); what is not known or undefined is null.

    Waits are from entry in the queue to useful work, of what entered in the window.
    """

    team = NamedOut()
    workload = NamedOut(allow_null=True)
    cost = MoneyOut(source="work.micros", allow_null=True)
    cost_compared = MoneyOut(
        source="work.now_micros",
        allow_null=True,
        help_text="of the window's whole days that are over",
    )
    cost_before = MoneyOut(
        source="work.before_micros",
        allow_null=True,
        help_text="of the same days of the span before; null: nothing to compare",
    )
    gpu_hours_held = HoursOut(source="work.held_ms")
    active_ratio = RatioOut(source="work.active_ratio", allow_null=True)
    failed_cost = MoneyOut(
        allow_null=True, help_text="of waste: failed, diverged or redone by runs"
    )
    no_requests_cost = MoneyOut(allow_null=True, help_text="of waste: hours without requests")
    idle_cost = MoneyOut(
        allow_null=True, help_text="of waste: idle while allocated, none of the former"
    )
    not_held_cost = MoneyOut(
        allow_null=True, help_text="of waste: unallocated, stranded, out of service"
    )
    wasted_cost = MoneyOut(
        source="work.wasted_micros", allow_null=True, help_text="the four parts together"
    )
    wasted_ratio = RatioOut(source="work.wasted_ratio", allow_null=True, help_text="of the cost")
    starved_cost = MoneyOut(
        source="work.starved_micros",
        allow_null=True,
        help_text="waited for data: overhead, no waste",
    )
    cost_per_1000_requests = MoneyOut(source="work.thousand_micros", allow_null=True)
    cost_per_million_tokens_trained = MoneyOut(source="work.million_micros", allow_null=True)
    waits = serializers.IntegerField(help_text="runs and jobs that made their first step")
    still_waiting = serializers.IntegerField(help_text="in the quantiles as far as they waited")
    median_wait_seconds = serializers.IntegerField(
        allow_null=True, help_text="null: longer than anything has waited yet"
    )
    ninth_decile_wait_seconds = serializers.IntegerField(allow_null=True)
    is_provisional = serializers.BooleanField(source="work.is_provisional")
    meters = MetersOut(allow_null=True)


class Teams(RestView):
    """Teams and their work."""

    row = TeamWorkOut

    @extend_schema(
        operation_id="list_team_work",
        parameters=[TeamWorkAsked, *PAGES],
        responses=list_of(TeamWorkOut),
    )
    def get(self, request: Request) -> Response:
        """By team and workload; the caller's teams alone, unless they see the organisation."""
        query, viewer, at = TeamWorkAsked.of(request), self.viewer(), timezone.now()
        window = parse_window(query["window"], at)
        team_ids = viewer.seen_teams
        waits = {
            (waited.team_id, waited.workload_id): waited
            for waited in waits_of(first_work(window, team_ids, at))
        }
        metered = meters_by(CubeQuestion(window, team_ids=team_ids).by("team", "workload"))
        teams = {team.id: team.name for team in accounts.teams()}
        workloads_by_id, currency = workloads.workloads(), accounts.organisation().currency
        page = slice_of(
            work_of_teams(window, team_ids, at), parse_page_request(request), _key_of_work
        )

        def told(work: TeamWork) -> dict[str, Any]:
            workload_id = work.workload_id
            key = work.team_id, workload_id
            answer = {
                "team": {"id": work.team_id, "name": teams[work.team_id]},
                "workload": workload_id
                and {"id": workload_id, "name": workloads_by_id[workload_id].name},
                "meters": meters_answer(metered.get(key)),
                **_wasted_parts(work),
                **_waits_answer(waits.get(key)),
                "work": work,
            }
            return serialize_as(TeamWorkOut, answer, currency)

        return paged(request, page, told)


def _key_of_work(work: TeamWork) -> tuple[int, int]:
    return work.team_id, work.workload_id or 0


def _wasted_parts(work: TeamWork) -> dict[str, int | None]:
    return {
        "failed_cost": work.wasted(WastePart.FAILED),
        "no_requests_cost": work.wasted(WastePart.NO_REQUESTS),
        "idle_cost": work.wasted(WastePart.HELD_IDLE),
        "not_held_cost": work.wasted(*NOT_HELD),
    }


def _waits_answer(waited: Waits | None) -> dict[str, int | None]:
    if waited is None:
        return {"waits": 0, "still_waiting": 0}
    return {
        "waits": waited.count,
        "still_waiting": waited.waiting,
        "median_wait_seconds": waited.median.known_seconds,
        "ninth_decile_wait_seconds": waited.ninth.known_seconds,
    }
