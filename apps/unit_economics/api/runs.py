"""GET /api/v1/runs, /runs/{id} and /runs/{id}/costs: training runs, with what they cost."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.ledger.rest.parameters import parse_window
from apps.unit_economics.api.run_answers import RunSerializer, serialize_run_costs
from apps.unit_economics.api.run_shapes import RunCostsOut, RunOut, RunsAsked
from apps.unit_economics.queries.runs.costs import run_costs
from apps.unit_economics.queries.runs.gpu_meters import meters_of_runs
from apps.unit_economics.queries.runs.list import run_page, run_rows
from apps.unit_economics.queries.runs.values import Order, RunSort, RunsWanted
from apps.web.rest.pages import list_of, paged, parse_page_request
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Parameters
from apps.web.rest.views import RestView
from apps.workloads.queries import listing


class Runs(RestView):
    """Logical training runs, whatever jobs carried them."""

    row = RunOut

    @extend_schema(
        operation_id="list_runs", parameters=[RunsAsked, *PAGES], responses=list_of(RunOut)
    )
    def get(self, request: Request) -> Response:
        """The runs of the caller's teams with their figures, those begun last first."""
        query, teller = RunsAsked.of(request), RunSerializer(self.viewer())
        page = run_page(_runs_wanted(query, teller), parse_page_request(request))
        runs = listing.runs_by_id([row.id for row in page.rows], self.viewer())
        meters = meters_of_runs([row.id for row in page.rows])
        return paged(request, page, lambda row: teller.told(runs[row.id], row, meters.get(row.id)))


class RunView(RestView):
    """One run."""

    @extend_schema(operation_id="run", responses=RunOut)
    def get(self, request: Request, run_id: int) -> Response:
        """A run by its id; one of another team is as if there were none."""
        Parameters.of(request)
        viewer = self.viewer()
        run = listing.run_with_jobs(run_id, viewer)
        if run is None or not viewer.sees_team(run["owner"].team_id):
            raise ObjectDoesNotExist(f"there is no run {run_id}")
        figures, meters = run_rows([run_id]), meters_of_runs([run_id])
        return Response(RunSerializer(viewer).told(run, figures.get(run_id), meters.get(run_id)))


class RunCosts(RestView):
    """The cost of one run."""

    @extend_schema(operation_id="run_costs", responses=RunCostsOut)
    def get(self, request: Request, run_id: int) -> Response:
        """A run's costs, GPU time and energy, by where its time went, by day and by job.

        One that is another team's, or not summed up yet, is as if there were none.
        """
        Parameters.of(request)
        costs = run_costs(run_id, self.viewer())
        if costs is None:
            raise ObjectDoesNotExist(f"there is no run {run_id}")
        return Response(serialize_run_costs(costs))


def _runs_wanted(query: dict[str, Any], teller: RunSerializer) -> RunsWanted:
    window = parse_window(query["window"], timezone.now()) if "window" in query else None
    return RunsWanted(
        team_ids=teller.team_ids(query.get("team")),
        workload_ids=teller.workload_ids(query.get("workload")),
        status=query.get("status"),
        starts_at=window.starts_at if window else None,
        ends_at=window.ends_at if window else None,
        sort=RunSort(query["sort"]),
        order=Order(query["order"]),
    )
