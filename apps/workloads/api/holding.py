"""Allocations, what jobs hold and held, over the wire."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.views import RestView
from apps.workloads.api.naming import NameResolver
from apps.workloads.api.shapes import AllocationOut, AllocationsAsked
from apps.workloads.queries import listing


class Allocations(RestView):
    """The list of allocations: which job held which GPUs, from when to when."""

    row = AllocationOut

    @extend_schema(
        operation_id="list_allocations",
        parameters=[AllocationsAsked, *PAGES],
        responses=list_of(AllocationOut),
    )
    def get(self, request: Request) -> Response:
        """Allocations, those recorded last first; of other teams' jobs only where and when.

        Asked for a job of another team, the list is empty.
        """
        query, called = AllocationsAsked.of(request), NameResolver(self.viewer())
        wanted = listing.AllocationsWanted(
            job_id=query.get("job_id"),
            node_id=query.get("node_id"),
            device=query.get("device"),
            starts_at=query.get("since"),
            ends_at=query.get("until"),
        )
        page = listing.allocation_page(wanted, parse_page_request(request))
        if wanted.job_id is not None:
            visible = [row for row in page.rows if called.viewer.sees_team(row["owner"].team_id)]
            page = type(page)(
                visible, page.after if visible else None, page.before if visible else None
            )
        return paged(request, page, lambda row: serialize_allocation(row, called))


def serialize_allocation(row: dict[str, Any], called: NameResolver) -> dict[str, Any]:
    """An allocation as it is answered."""
    team_id = row["owner"].team_id
    is_seen = called.viewer.sees_team(team_id)
    job = {"id": row["job_id"], "raw_id": row["job__raw_id"]} if is_seen else None
    # Nobody's job is not told from another team's: who may not see either learns nothing.
    team = called.team(team_id) if is_seen else {"id": None, "name": "another team"}
    return serialize_as(
        AllocationOut, {**serialize_holding(row), "id": row["id"], "job": job, "team": team}
    )


def serialize_holding(row: dict[str, Any]) -> dict[str, Any]:
    """The GPUs, the node and the time of an allocation."""
    numerator, denominator = row["gpus_numerator"], row["gpus_denominator"]
    return {
        "node": {"id": row["node_id"], "name": row["node_name"]},
        "gpus": numerator / denominator,
        "gpus_exact": listing.gpus_in_words(numerator, denominator),
        "devices": row["device_uuids"],
        "divided_evenly": row["divided_evenly"],
        "gpus_unknown": row["gpus_unknown"],
        "starts_at": row["starts_at"],
        "ends_at": row["ends_at"],
    }
