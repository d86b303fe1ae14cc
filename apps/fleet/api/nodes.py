"""Nodes over the wire: what comes, changes and goes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.fleet import actions
from apps.fleet.api.clusters import cluster_id_of
from apps.fleet.api.pools import pool_id_of
from apps.fleet.api.wire import (
    CapacityIn,
    InvitationIn,
    InvitationOut,
    NodeCorrectionIn,
    NodeEndIn,
    NodeIn,
    NodeOut,
    NodesAsked,
    with_named,
)
from apps.fleet.queries import listing
from apps.fleet.queries.node_terms import NodeTermsFact, node_terms
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import Parameters, parsed
from apps.web.rest.views import RestView, repeats


class Nodes(RestView):
    """Machines, and pools counted as a whole."""

    row = NodeOut

    @extend_schema(
        operation_id="list_nodes", parameters=[NodesAsked, *PAGES], responses=list_of(NodeOut)
    )
    def get(self, request: Request) -> Response:
        """Nodes by name, those that ended too."""
        wanted = NodesAsked.wanted(request)
        page = listing.node_page(wanted, parse_page_request(request))
        terms = node_terms([row["id"] for row in page.rows])
        return paged(request, page, lambda row: serialize_node(row, terms))

    @extend_schema(
        operation_id="add_node",
        parameters=[REPEAT_KEY],
        request=NodeIn,
        responses={201: NodeOut, 200: NodeOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Add a node, charged from its start until something ends it.

        The same one again (cluster, name and start) is answered 200.
        """
        data = parsed(NodeIn, request)
        cluster_id = cluster_id_of(data["cluster"])
        new = {name: value for name, value in data.items() if name not in {"pool", "cluster"}}
        node = actions.NewNode(**new, pool_id=pool_id_of(data["pool"]), cluster_id=cluster_id)
        try:
            node_id = actions.add_node(node=node, at=timezone.now())
        except actions.NodeNameTaken:
            begun = listing.node_begun(cluster_id, node.name, node.started_at)
            serialized = None if begun is None else serialize_node(listing.node_row(begun))
            if serialized is None or not repeats(serialized, dict(NodeIn(data).data)):
                raise
            return Response(serialized)
        return Response(serialize_node(listing.node_row(node_id)), status=201)


class NodeView(RestView):
    """One node."""

    @extend_schema(operation_id="node", responses=NodeOut)
    def get(self, request: Request, node_id: int) -> Response:
        """A node by its id."""
        Parameters.of(request)
        return Response(serialize_node(listing.node_row(node_id)))

    @extend_schema(operation_id="correct_node", request=NodeCorrectionIn, responses=NodeOut)
    def patch(self, request: Request, node_id: int) -> Response:
        """Say what a node's provider calls it, and how it was bought.

        Bills of its time are read again by that, and what it lived is charged again by the commitments
        that may cover it.
        """
        data = dict(parsed(NodeCorrectionIn, request))
        listing.node_row(node_id)
        at = timezone.now()
        if "provider_id" in data:
            with suppress(actions.NothingToCorrect):
                actions.correct_provider_id(
                    node_id=node_id, provider_id=data.pop("provider_id"), at=at
                )
        if data:
            actions.correct_node_terms(node_id=node_id, at=at, **data)
        return Response(serialize_node(listing.node_row(node_id)))


class NodeEnd(RestView):
    """The end of a node."""

    @extend_schema(
        operation_id="end_node", request=NodeEndIn, parameters=[REPEAT_KEY], responses=NodeOut
    )
    @once()
    def post(self, request: Request, node_id: int) -> Response:
        """End a node and what is in it; the hours after it are settled again.

        The same end again changes nothing; another one is refused (409).
        """
        data = parsed(NodeEndIn, request)
        row = listing.node_row(node_id)
        if (row["ended_at"], row["end_reason"]) != (data["ended_at"], data["reason"]):
            actions.end_node(node_id=node_id, **data, at=timezone.now())
        return Response(serialize_node(listing.node_row(node_id)))


class NodeCapacityView(RestView):
    """How many units a node has."""

    @extend_schema(
        operation_id="set_node_capacity",
        request=CapacityIn,
        parameters=[REPEAT_KEY],
        responses=NodeOut,
    )
    @once()
    def post(self, request: Request, node_id: int) -> Response:
        """From a moment on a node has this many units, until its next change."""
        actions.set_capacity(node_id=node_id, **parsed(CapacityIn, request), at=timezone.now())
        return Response(serialize_node(listing.node_row(node_id)))


class NodeInvitations(RestView):
    """The one-time tokens that agents enrol with."""

    @extend_schema(
        operation_id="invite_agent",
        request=InvitationIn,
        parameters=[REPEAT_KEY],
        responses={201: InvitationOut},
    )
    @once(forgetting="token")
    def post(self, request: Request, node_id: int) -> Response:
        """A one-time token with which one agent may enrol for this node; shown this once."""
        data = parsed(InvitationIn, request)
        row = listing.node_row(node_id)
        token = actions.invite_agent(node_id=node_id, **data, at=timezone.now())
        payload = {"node": {"id": row["id"], "name": row["name"]}, "token": token, **data}
        return Response(
            InvitationOut(payload).data, status=201, headers={"Cache-Control": "no-store"}
        )


def serialize_node(
    row: dict[str, Any], terms: Mapping[int, NodeTermsFact] | None = None
) -> dict[str, Any]:
    """A node as it is answered; `terms` are those of it and of others, where they were asked for."""
    terms_by_node = node_terms([row["id"]]) if terms is None else terms
    term_fields = asdict(terms_by_node.get(row["id"], NodeTermsFact()))
    return serialize_as(NodeOut, with_named(row, "cluster", "pool") | term_fields)
