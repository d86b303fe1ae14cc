"""Workloads over the wire."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.web.rest.once import once
from apps.web.rest.pages import list_of, page_asked, paged, told_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import Parameters, parsed
from apps.web.rest.views import RestView
from apps.workloads.actions.workloads import WorkloadExists, add_workload
from apps.workloads.api.naming import Called
from apps.workloads.api.shapes import WorkloadIn, WorkloadOut, WorkloadsAsked
from apps.workloads.queries import listing


class Workloads(RestView):
    """The stable things that jobs are done for."""

    row = WorkloadOut

    @extend_schema(
        operation_id="list_workloads",
        parameters=[WorkloadsAsked, *PAGES],
        responses=list_of(WorkloadOut),
    )
    def get(self, request: Request) -> Response:
        """The workloads of the caller's teams, by name."""
        asked, called = WorkloadsAsked.of(request), Called(self.viewer())
        own = called.viewer.seen_teams
        team_ids = called.team_ids(asked.pop("team", None))
        wanted = listing.WorkloadsWanted(team_ids=own if team_ids is None else team_ids, **asked)
        page = listing.workload_page(wanted, page_asked(request))
        return paged(request, page, lambda row: told_workload(row, called))

    @extend_schema(
        operation_id="add_workload",
        parameters=[REPEAT_KEY],
        request=WorkloadIn,
        responses={201: WorkloadOut, 200: WorkloadOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Add a workload of a team; the same one again is answered 200."""
        asked, called = parsed(WorkloadIn, request), Called(self.viewer())
        team_id = called.team_id(asked["team"])
        try:
            made_id = add_workload(name=asked["name"], team_id=team_id, kind=asked["kind"])
        except WorkloadExists:
            known = listing.workload_of(team_id, asked["name"])
            if known is None or known["kind"] != asked["kind"]:
                raise
            return Response(told_workload(known, called))
        made = {"id": made_id, "name": asked["name"], "team_id": team_id, "kind": asked["kind"]}
        return Response(told_workload(made, called), status=201)


class WorkloadView(RestView):
    """One workload."""

    @extend_schema(operation_id="workload", responses=WorkloadOut)
    def get(self, request: Request, workload_id: int) -> Response:
        """A workload by its id; one of another team is as if there were none."""
        Parameters.of(request)
        row, called = listing.workload_row(workload_id), Called(self.viewer())
        if row is None or not called.viewer.sees_team(row["team_id"]):
            raise ObjectDoesNotExist(f"there is no workload {workload_id}")
        return Response(told_workload(row, called))


def told_workload(row: dict[str, Any], called: Called) -> dict[str, Any]:
    """A workload as it is answered."""
    return told_as(WorkloadOut, {**row, "team": called.team(row["team_id"])})
