"""GET /api/v1/waiting-costs: what waiting for capacity and outages cost those who waited."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.accounts.queries import Viewer, teams_below
from apps.accounts.queries.reading import reading_once
from apps.economics.hours import MILLISECOND
from apps.fleet import queries as fleet
from apps.ledger.rest.parameters import parse_window
from apps.planning.queries.waiting_costs import (
    GROUPS,
    TEAM,
    WaitingCost,
    waiting_costs,
    waiting_facts,
)
from apps.web.rest.money import HoursOut, MoneyOut, NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import OptionalText, Parameters, Text
from apps.web.rest.views import RestView
from apps.workloads import queries as workloads


class WaitingCostsAsked(Parameters):
    """Filters of the costs of waiting: which days, by what, and of which team."""

    window = Text(required=False, default="30d", help_text="7d, month, lastmonth, 2026-07 …")
    group_by = serializers.ChoiceField(choices=GROUPS, required=False, default=TEAM)
    team = OptionalText(help_text="a team's name: its own and that of every team below it")


class WaitingCostOut(serializers.Serializer[Any]):
    """The cost of waiting and outages; what a row is not by, and what is not known, is null.

    No GPU-hour is in two of the five parts, and `cost` is their sum as far as they have a price.
    """

    team = NamedOut(allow_null=True)
    workload = NamedOut(allow_null=True)
    pool = NamedOut(allow_null=True)
    gpu_model = serializers.CharField(allow_null=True)
    jobs = serializers.IntegerField(help_text="submitted in the window")
    still_waiting = serializers.IntegerField(help_text="of them")
    median_wait_seconds = serializers.IntegerField(
        allow_null=True, help_text="from submission to start; null: longer than anything waited yet"
    )
    ninth_decile_wait_seconds = serializers.IntegerField(allow_null=True)
    waited_hours = HoursOut(help_text="by the clock, of all jobs, within the window")
    undated_jobs = serializers.IntegerField(help_text="nobody said when they were submitted")
    unsized_jobs = serializers.IntegerField(
        help_text="never started, so nobody says for how many GPUs: in no GPU-hours and no cost"
    )
    waited_for_capacity_gpu_hours = HoursOut(allow_null=True)
    waited_for_outages_gpu_hours = HoursOut(
        allow_null=True, help_text="while as many GPUs of the pool were out"
    )
    wait_cost = MoneyOut(allow_null=True, help_text="at the cost of being short of the policies")
    unpriced_wait_gpu_hours = HoursOut(help_text="of which no policy says what an hour costs")
    lost_held_gpu_hours = HoursOut(help_text="out, held by jobs and not active")
    lost_not_held_gpu_hours = HoursOut(help_text="out of service, held by no job")
    redone_gpu_hours = HoursOut(
        help_text="active time that jobs lost which ended in an outage, as their runs report"
    )
    lost_cost = MoneyOut(allow_null=True, help_text="what these three cost, effective")
    unpriced_lost_gpu_hours = HoursOut()
    cost = MoneyOut(allow_null=True)


class WaitingCosts(RestView):
    """Whoever reads sees their teams' own."""

    row = WaitingCostOut

    @extend_schema(
        operation_id="list_waiting_costs",
        parameters=[WaitingCostsAsked, *PAGES],
        responses=list_of(WaitingCostOut),
    )
    def get(self, request: Request) -> Response:
        """By team, workload, pool or GPU model: hours in the queue, GPU-hours, and what they cost."""
        params, viewer, at = WaitingCostsAsked.of(request), self.viewer(), timezone.now()
        with reading_once():
            window, team_ids = (
                parse_window(params["window"], at),
                _requested_team_ids(params["team"], viewer),
            )
            rows = waiting_costs(waiting_facts(window, team_ids, at), params["group_by"])
            return paged(
                request, slice_of(rows, parse_page_request(request), _by_group), _serialize_cost
            )


def _requested_team_ids(name: str, viewer: Viewer) -> frozenset[int] | None:
    """Refuses a ValidationError for a name of no team that the viewer sees."""
    if not name:
        return viewer.seen_teams
    ids = [team.id for team in accounts.teams() if team.name == name and viewer.sees_team(team.id)]
    if not ids:
        raise ValidationError({"team": [f"no team is named {name!r}"]})
    below = teams_below(ids[0])
    return below if viewer.seen_teams is None else below & viewer.seen_teams


def _by_group(row: WaitingCost) -> tuple[int, int, int, str]:
    of = row.of
    return of.team_id or 0, of.workload_id or 0, of.pool_id or 0, of.gpu_model or ""


def _serialize_cost(row: WaitingCost) -> dict[str, Any]:
    of, waits = row.of, row.waits_of_gpus
    teams = {team.id: team.name for team in accounts.teams()}
    return serialize_as(
        WaitingCostOut,
        {
            "team": of.team_id and {"id": of.team_id, "name": teams[of.team_id]},
            "workload": of.workload_id
            and {"id": of.workload_id, "name": workloads.workloads()[of.workload_id].name},
            "pool": of.pool_id and {"id": of.pool_id, "name": fleet.pools()[of.pool_id].name},
            "gpu_model": of.gpu_model,
            "jobs": row.jobs,
            "still_waiting": row.still_waiting,
            "median_wait_seconds": row.median and row.median.known_seconds,
            "ninth_decile_wait_seconds": row.ninth and row.ninth.known_seconds,
            "waited_hours": row.waited // MILLISECOND,
            "undated_jobs": row.undated_jobs,
            "unsized_jobs": row.unsized_jobs,
            "waited_for_capacity_gpu_hours": waits and row.for_capacity.milliseconds,
            "waited_for_outages_gpu_hours": waits and row.for_outages.milliseconds,
            "wait_cost": waits and waits.micros,
            "unpriced_wait_gpu_hours": waits.unpriced_ms if waits else 0,
            "lost_held_gpu_hours": row.lost_held.milliseconds,
            "lost_not_held_gpu_hours": row.lost_free.milliseconds,
            "redone_gpu_hours": row.redone.milliseconds,
            "lost_cost": row.lost.micros,
            "unpriced_lost_gpu_hours": row.lost.unpriced_ms,
            "cost": row.micros,
        },
        accounts.organisation().currency,
    )
