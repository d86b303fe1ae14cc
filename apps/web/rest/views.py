"""The views of the REST surface: who asks, in which form the answer comes, and how it is repeated."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.accounts.authentication import viewer_of_request
from apps.accounts.queries import Scope, TokenFact, Viewer
from apps.files.limits import BodyKind, size_words
from apps.web.rest.body_limits import most_bytes_of
from apps.web.rest.tables import CsvRenderer

ANOTHER_TEAM = "another team"
Permissions = tuple[type[BasePermission], ...]


class BodyTooLarge(APIException):
    """More bytes than are taken at once."""

    status_code = 413
    default_detail = "the body is larger than what is taken at once"


class Reads(BasePermission):
    """A token of scope read or manage, or anybody who signed in; what they see is their viewer's."""

    message = "this needs the scope 'read'"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether this caller may ask at all."""
        if isinstance(request.auth, TokenFact):
            return bool(request.auth.scopes & {Scope.READ, Scope.MANAGE})
        return bool(request.user and request.user.is_authenticated)


class Manages(BasePermission):
    """The organisation's token of scope manage, or a person of role platform."""

    message = "this needs the scope 'manage', for the whole organisation"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether this caller may change things."""
        viewer = viewer_in(request, view)
        return viewer is not None and viewer.may_manage


class SeesPrices(BasePermission):
    """Finance and platform, and the organisation's tokens."""

    message = "prices are for finance and platform"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether rates, contracts and commitments are theirs to read."""
        viewer = viewer_in(request, view)
        return viewer is not None and viewer.sees_prices


class CanManageBilling(BasePermission):
    """The organisation's token of scope manage, or a person of finance or platform."""

    message = "bills are for finance and platform, and for the organisation's 'manage' tokens"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether bills are theirs to bring in and to take back."""
        viewer = viewer_in(request, view)
        return viewer is not None and can_manage_billing(viewer)


class SetsBudgets(CanManageBilling):
    """The permission to set budgets, for the same people and tokens as may keep bills."""

    message = "budgets are set by finance and platform, and by the organisation's 'manage' tokens"


class AcceptsBills(BasePermission):
    """Finance and platform: what a bill lacks is accepted by people."""

    message = "bills that lack rows are accepted by people of finance or platform"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether their word and name stand for a bill."""
        viewer = viewer_in(request, view)
        return viewer is not None and viewer.person_id is not None and viewer.sees_prices


class ClosesMonths(BasePermission):
    """Finance: months are closed by people."""

    message = "months are closed by people of finance"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether months are theirs to close."""
        viewer = viewer_in(request, view)
        return viewer is not None and viewer.may_close


class BuysAhead(BasePermission):
    """A person of finance, or the organisation's token of scope manage."""

    message = "commitments are entered and ended by finance"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether this caller may change what was bought."""
        viewer = viewer_in(request, view)
        if viewer is None:
            return False
        return viewer.may_close or (viewer.person_id is None and viewer.may_manage)


class RestView(APIView):
    """A view that knows its viewer: who reads may ask, who manages may change, or as it says.

    One with a `row` is a list, which comes as CSV too.
    """

    reads: ClassVar[Permissions] = (Reads,)
    changes: ClassVar[Permissions] = (Manages,)
    row: ClassVar[type[serializers.Serializer[Any]] | None] = None
    csv_renderer: ClassVar[type[BaseRenderer]] = CsvRenderer
    body: ClassVar[BodyKind] = BodyKind.FORM
    _viewer: Viewer | None = None

    def get_permissions(self) -> list[BasePermission]:
        """By the method."""
        needed = self.reads if self.request.method in SAFE_METHODS else self.changes
        return [read() for read in needed]

    def get_renderers(self) -> list[BaseRenderer]:
        """JSON; a list that is read, also CSV."""
        is_list = self.row is not None and self.request.method in SAFE_METHODS
        return [JSONRenderer(), self.csv_renderer()] if is_list else [JSONRenderer()]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Before anything is read: refuses BodyTooLarge."""
        super().initial(request, *args, **kwargs)
        # Without a length nothing is read at all.
        length = str(request.META.get("CONTENT_LENGTH") or "0")
        if not length.isdigit() or int(length) > most_bytes_of(self.body):
            raise BodyTooLarge(f"{size_words(most_bytes_of(self.body))} are taken at once")

    def viewer(self) -> Viewer:
        """Who asks, and what they may see; looked up once."""
        if self._viewer is None:
            self._viewer = viewer_of_request(self.request)
        return self._viewer


class PricesView(RestView):
    """Prices are for finance and platform; platform changes them."""

    reads = (Reads, SeesPrices)
    changes = (Manages, SeesPrices)


def can_manage_billing(viewer: Viewer) -> bool:
    """Return whether a viewer may keep bills, which is what `CanManageBilling` asks of who is known."""
    return viewer.may_manage if viewer.person_id is None else viewer.sees_prices


def viewer_in(request: Request, view: object) -> Viewer | None:
    """None to a stranger."""
    is_known = request.auth is not None or bool(request.user and request.user.is_authenticated)
    if not is_known:
        return None
    return view.viewer() if isinstance(view, RestView) else viewer_of_request(request)


def serialize_team_reference(
    viewer: Viewer, team_id: int | None, names: Mapping[int, str]
) -> dict[str, Any] | None:
    """A team by id and name, or "another team" where it is none of the viewer's."""
    if team_id is None:
        return None
    if not viewer.sees_team(team_id):
        return {"id": None, "name": ANOTHER_TEAM}
    return {"id": team_id, "name": names[team_id]}


def repeats(existing: Mapping[str, Any], requested: Mapping[str, Any]) -> bool:
    """Whether what was made before is what is asked for now: then the request is only repeated.

    Both as they are told over the wire; what is told by id and name is compared by its name.
    """
    return all(
        _plain_name(existing.get(name)) == _plain_name(value) for name, value in requested.items()
    )


def _plain_name(value: Any) -> Any:
    return value["name"] if isinstance(value, Mapping) and "name" in value else value
