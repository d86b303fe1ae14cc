"""Pools over the wire."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import Viewer, teams
from apps.fleet import actions
from apps.fleet.api.clusters import cluster_id_of
from apps.fleet.api.wire import PoolCorrectionIn, PoolIn, PoolOut, PoolsAsked, with_named
from apps.fleet.queries import listing
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import Parameters, parsed
from apps.web.rest.views import RestView, repeats, serialize_team_reference


class Pools(RestView):
    """Nodes of one model, one price and one purchase option."""

    row = PoolOut

    @extend_schema(
        operation_id="list_pools", parameters=[PoolsAsked, *PAGES], responses=list_of(PoolOut)
    )
    def get(self, request: Request) -> Response:
        """Pools by name."""
        query = PoolsAsked.of(request)
        page = listing.pool_page(parse_page_request(request), query.get("cluster"))
        viewer, names = self.viewer(), _team_names()
        return paged(request, page, lambda row: serialize_pool(row, viewer, names))

    @extend_schema(
        operation_id="add_pool",
        parameters=[REPEAT_KEY],
        request=PoolIn,
        responses={201: PoolOut, 200: PoolOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Add a pool with version 1 of its share policy; the same one again is answered 200."""
        data = parsed(PoolIn, request)
        new = {name: value for name, value in data.items() if name not in {"cluster", "owner_team"}}
        pool = actions.EnteredPool(
            **new,
            cluster_id=cluster_id_of(data["cluster"]),
            owner_team_id=_team_id_of(data["owner_team"]),
        )
        try:
            pool_id = actions.add_pool(pool=pool, at=timezone.now())
        except actions.PoolNameTaken:
            serialized = self._serialize_pool_by_id(listing.pool_named(pool.name) or 0)
            if not repeats(serialized, data):
                raise
            return Response(serialized)
        return Response(self._serialize_pool_by_id(pool_id), status=201)

    def _serialize_pool_by_id(self, pool_id: int) -> dict[str, Any]:
        return serialize_pool(listing.pool_row(pool_id), self.viewer(), _team_names())


class PoolView(RestView):
    """One pool."""

    @extend_schema(operation_id="pool", responses=PoolOut)
    def get(self, request: Request, pool_id: int) -> Response:
        """A pool by its id."""
        Parameters.of(request)
        return Response(serialize_pool(listing.pool_row(pool_id), self.viewer(), _team_names()))

    @extend_schema(operation_id="correct_pool", request=PoolCorrectionIn, responses=PoolOut)
    def patch(self, request: Request, pool_id: int) -> Response:
        """Correct what is on record of a pool, for all of its time; its hours are charged again.

        What closed months charged stays: the difference waits for corrections.
        """
        changes = dict(parsed(PoolCorrectionIn, request))
        note = str(changes.pop("note", ""))
        listing.pool_row(pool_id)
        if "owner_team" in changes:
            changes["owner_team_id"] = _team_id_of(changes.pop("owner_team"))
        with suppress(actions.NothingToCorrect):
            actions.correct_pool(pool_id=pool_id, changes=changes, at=timezone.now(), note=note)
        return Response(serialize_pool(listing.pool_row(pool_id), self.viewer(), _team_names()))


def serialize_pool(row: dict[str, Any], viewer: Viewer, names: Mapping[int, str]) -> dict[str, Any]:
    """A pool as it is answered; an owner who is none of the viewer's is "another team"."""
    serialized = with_named(row, "cluster")
    serialized["owner_team"] = serialize_team_reference(
        viewer, serialized.pop("owner_team_id"), names
    )
    return serialize_as(PoolOut, serialized)


def pool_id_of(name: str) -> int:
    """The pool of this name; refuses a ValidationError that names the field."""
    pool_id = listing.pool_named(name)
    if pool_id is None:
        raise ValidationError({"pool": [f"there is no pool named {name!r}"]})
    return pool_id


def _team_id_of(name: str | None) -> int | None:
    if name is None:
        return None
    for team in teams():
        if team.name == name:
            return team.id
    raise ValidationError({"owner_team": [f"there is no team named {name!r}"]})


def _team_names() -> dict[int, str]:
    return {team.id: team.name for team in teams()}
