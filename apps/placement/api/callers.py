"""Who asks where work may run: people who see prices, and machines by the least token that does."""

from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.accounts.queries import Scope, TokenFact
from apps.accounts.queries.reading import once
from apps.fleet import queries as fleet
from apps.placement.queries.placement_scope import (
    PlacementScope,
    asking_scope,
    reading_scope,
)
from apps.web.rest.views import Manages, RestView, SeesPrices, viewer_in


def token_in(request: Request) -> TokenFact | None:
    """The token that asks; None: a person."""
    return request.auth if isinstance(request.auth, TokenFact) else None


def requester_scope(request: Request, view: object) -> PlacementScope | None:
    """For whom this caller may ask; None: for nobody."""
    viewer = viewer_in(request, view)
    return None if viewer is None else asking_scope(token_in(request), viewer)


def scope_to_read(request: Request, view: object) -> PlacementScope | None:
    """Return the scope of quotes and admissions that this caller may read; None: nobody's."""
    viewer = viewer_in(request, view)
    return None if viewer is None else reading_scope(token_in(request), viewer)


class CanRequestPlacement(BasePermission):
    """Finance, platform, the organisation's `manage` tokens, `schedule` tokens, and a team's own for its jobs."""

    message = (
        "quotes and admissions are asked by finance and platform, with a token of the scope 'schedule' or 'manage',"
        " and with a team's own token for its jobs"
    )

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether there is anybody for whom they may ask."""
        return requester_scope(request, view) is not None


class ReadsPlacement(BasePermission):
    """Who sees prices, and whoever asks, of what they may ask."""

    message = (
        "these are for finance, platform and the organisation's tokens; a token of the scope 'schedule' and a"
        " team's own read what they may ask"
    )

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether there is anything of it for them to read."""
        return scope_to_read(request, view) is not None


class CanRequestMoves(CanRequestPlacement):
    """Platform and `manage` tokens, and the tokens that ask quotes."""

    message = "next moves are asked by platform, with a token of the scope 'schedule' or 'manage', and with a team's own"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether there is a job of which they may ask."""
        if token_in(request) is None:
            return Manages().has_permission(request, view)
        return super().has_permission(request, view)


class CanSeeOfferRates(SeesPrices):
    """Who sees prices, and the organisation's tokens of schedulers."""

    message = "rates are for finance and platform, and for the organisation's tokens of the scope 'schedule'"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether documents with rates are theirs to read."""
        token = token_in(request)
        if token is not None and token.team_id is None:
            return Scope.SCHEDULE in token.scopes or super().has_permission(request, view)
        return super().has_permission(request, view)


cluster_of = once(fleet.cluster_of_token)


def bound_cluster(request: Request, view: RestView) -> fleet.ClusterFact | None:
    """The one cluster that this caller is given rates of; None: all of them."""
    token = token_in(request)
    if token is None or view.viewer().sees_prices:
        return None
    cluster_id = cluster_of(token.id)
    return None if cluster_id is None else fleet.clusters()[cluster_id]


def cluster_of_rates(request: Request, view: RestView, name: str) -> str:
    """The cluster of which rates are given, of this name or (empty) the caller's own; empty: all. Refuses another than its own."""
    bound = bound_cluster(request, view)
    if bound is None:
        return name
    if name not in ("", bound.name):
        raise PermissionDenied(f"this token is of another cluster than {name!r}")
    return bound.name


class PlacementView(RestView):
    """A view of quotes or admissions, which knows for whom its caller may ask."""

    reads = (ReadsPlacement,)
    changes = (CanRequestPlacement,)

    def scope(self) -> PlacementScope:
        """For whom they ask, or whose they read; the permissions let nobody else come so far."""
        is_read = self.request.method == "GET"
        scope = (scope_to_read if is_read else requester_scope)(self.request, self)
        return scope if scope is not None else PlacementScope(frozenset())
