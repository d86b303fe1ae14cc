"""Workloads over the wire."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import Parameters, parsed
from apps.web.rest.views import RestView
from apps.workloads.actions.workloads import WorkloadExists, add_workload
from apps.workloads.api.naming import NameResolver
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
        query, called = WorkloadsAsked.of(request), NameResolver(self.viewer())
        visible_ids = called.viewer.seen_teams
        team_ids = called.team_ids(query.pop("team", None))
        wanted = listing.WorkloadsWanted(
            team_ids=visible_ids if team_ids is None else team_ids, **query
        )
        page = listing.workload_page(wanted, parse_page_request(request))
        return paged(request, page, lambda row: serialize_workload(row, called))

    @extend_schema(
        operation_id="add_workload",
        parameters=[REPEAT_KEY],
        request=WorkloadIn,
        responses={201: WorkloadOut, 200: WorkloadOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Add a workload of a team; the same one again is answered 200."""
        body, called = parsed(WorkloadIn, request), NameResolver(self.viewer())
        team_id = called.team_id(body["team"])
        try:
            made_id = add_workload(name=body["name"], team_id=team_id, kind=body["kind"])
        except WorkloadExists:
            existing = listing.workload_of(team_id, body["name"])
            if existing is None or existing["kind"] != body["kind"]:
                raise
            return Response(serialize_workload(existing, called))
        row = {"id": made_id, "name": body["name"], "team_id": team_id, "kind": body["kind"]}
        return Response(serialize_workload(row, called), status=201)


class WorkloadView(RestView):
    """One workload."""

    @extend_schema(operation_id="workload", responses=WorkloadOut)
    def get(self, request: Request, workload_id: int) -> Response:
        """A workload by its id; one of another team is as if there were none."""
        Parameters.of(request)
        row, called = listing.workload_row(workload_id), NameResolver(self.viewer())
        if row is None or not called.viewer.sees_team(row["team_id"]):
            raise ObjectDoesNotExist(f"there is no workload {workload_id}")
        return Response(serialize_workload(row, called))


def serialize_workload(row: dict[str, Any], called: NameResolver) -> dict[str, Any]:
    """A workload as it is answered."""
    return serialize_as(WorkloadOut, {**row, "team": called.team(row["team_id"])})
