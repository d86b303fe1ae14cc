"""Clusters over the wire."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import actions as accounts
from apps.fleet import actions
from apps.fleet.api.wire import ClusterIn, ClusterOut, ClusterTokenIn, ClusterTokenOut
from apps.fleet.queries import listing
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import Parameters, parsed
from apps.web.rest.views import RestView, repeats


class Clusters(RestView):
    """Schedulers' domains."""

    row = ClusterOut

    @extend_schema(operation_id="list_clusters", parameters=PAGES, responses=list_of(ClusterOut))
    def get(self, request: Request) -> Response:
        """Clusters by name."""
        Parameters.of(request)
        return paged(request, listing.cluster_page(parse_page_request(request)), serialize_cluster)

    @extend_schema(
        operation_id="add_cluster",
        parameters=[REPEAT_KEY],
        request=ClusterIn,
        responses={201: ClusterOut, 200: ClusterOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Add a cluster; the same one again is answered with the one there is (200)."""
        data = parsed(ClusterIn, request)
        try:
            cluster_id = actions.add_cluster(**data, at=timezone.now())
        except actions.ClusterNameTaken:
            serialized = serialize_cluster(
                listing.cluster_row(listing.cluster_named(data["name"]) or 0)
            )
            if not repeats(serialized, data):
                raise
            return Response(serialized)
        return Response(serialize_cluster(listing.cluster_row(cluster_id)), status=201)


class ClusterView(RestView):
    """One cluster."""

    @extend_schema(operation_id="cluster", responses=ClusterOut)
    def get(self, request: Request, cluster_id: int) -> Response:
        """A cluster by its id."""
        Parameters.of(request)
        return Response(serialize_cluster(listing.cluster_row(cluster_id)))


class ClusterTokens(RestView):
    """Tokens of one cluster: for its jobs, or for its scheduler."""

    @extend_schema(
        operation_id="make_cluster_token",
        parameters=[REPEAT_KEY],
        request=ClusterTokenIn,
        responses={201: ClusterTokenOut},
    )
    @once(forgetting="secret")
    def post(self, request: Request, cluster_id: int) -> Response:
        """Make a token with which a scheduler states this cluster's jobs (scope `jobs`), or asks where they may run (`schedule`)."""
        data = parsed(ClusterTokenIn, request)
        cluster = listing.cluster_row(cluster_id)
        token = accounts.make_token(**data, at=timezone.now())
        actions.bind_cluster_token(token_id=token.id, cluster_id=cluster_id)
        payload = {
            "id": token.id,
            "cluster": {"id": cluster["id"], "name": cluster["name"]},
            "secret": token.secret,
        }
        return Response(payload, status=201, headers={"Cache-Control": "no-store"})


def serialize_cluster(row: dict[str, Any]) -> dict[str, Any]:
    """A cluster as it is answered."""
    return serialize_as(ClusterOut, row)


def cluster_id_of(name: str | None) -> int | None:
    """The cluster of this name; refuses a ValidationError that names the field."""
    if name is None:
        return None
    cluster_id = listing.cluster_named(name)
    if cluster_id is None:
        raise ValidationError({"cluster": [f"there is no cluster named {name!r}"]})
    return cluster_id
