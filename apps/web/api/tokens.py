"""Machines' credentials over the wire: made, listed and revoked by who manages."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.actions import tokens as actions
from apps.accounts.queries import Scope, listing
from apps.accounts.queries.tokens import ListedToken
from apps.files.limits import BodyKind
from apps.web.api.teams import team_id_of
from apps.web.rest.idempotency import once
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Moment, Parameters, StrictSerializer, Text, parsed
from apps.web.rest.views import Manages, RestView

SCOPES = tuple(Scope.values)


class TokenIn(StrictSerializer):
    """A token; with a team it reads only what is that team's and below."""

    name = Text()
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=SCOPES), min_length=1, max_length=len(SCOPES)
    )
    team = Text(required=False, allow_null=True, default=None)
    expires_at = Moment(required=False, allow_null=True, default=None)


class TokenOut(Answer[ListedToken]):
    """A token, recognised by the first letters of its secret."""

    without = ("team_name", "made_by", "made_by_active")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    team = NamedOut(allow_null=True)


class MadeTokenOut(TokenOut):
    """The token; its secret is shown this once, and is null where the request is repeated."""

    secret = serializers.CharField(allow_null=True)


class TokensView(RestView):
    """Names of tokens say who uses what: they are for who manages them."""

    # Reading them is managing.
    reads = changes = (Manages,)


class Tokens(TokensView):
    """Machines' credentials."""

    row = TokenOut

    @extend_schema(operation_id="list_tokens", parameters=PAGES, responses=list_of(TokenOut))
    def get(self, request: Request) -> Response:
        """Tokens, the newest first, revoked and expired ones too; never their secrets."""
        Parameters.of(request)
        return paged(request, listing.token_page(parse_page_request(request)), serialize_token)

    @extend_schema(
        operation_id="make_token",
        request=TokenIn,
        parameters=[REPEAT_KEY],
        responses={201: MadeTokenOut},
    )
    @once(forgetting="secret")
    def post(self, request: Request) -> Response:
        """Make a token of 256 random bits; the secret cannot be shown again."""
        body = parsed(TokenIn, request)
        team_id = team_id_of(body.pop("team"), "team")
        token = actions.make_token(
            name=body["name"],
            scopes=set(body["scopes"]),
            expires_at=body["expires_at"],
            at=timezone.now(),
            team_id=team_id,
            made_by_id=self.viewer().person_id,
        )
        serialized = serialize_token(listing.token_row(token.id)) | {"secret": token.secret}
        return Response(serialized, status=201, headers={"Cache-Control": "no-store"})


class Token(TokensView):
    """One token."""

    @extend_schema(operation_id="token", responses=TokenOut)
    def get(self, request: Request, token_id: int) -> Response:
        """A token by its id."""
        Parameters.of(request)
        return Response(serialize_token(listing.token_row(token_id)))


class TokenRevocation(TokensView):
    """The end of a token."""

    body = BodyKind.EMPTY

    @extend_schema(operation_id="revoke_token", request=None, responses=TokenOut)
    def post(self, request: Request, token_id: int) -> Response:
        """End a token now; a revoked one stays as it is."""
        parsed(StrictSerializer, request)
        if listing.token_row(token_id)["revoked_at"] is None:
            actions.revoke_token(token_id=token_id, at=timezone.now())
        return Response(serialize_token(listing.token_row(token_id)))


def serialize_token(row: dict[str, Any]) -> dict[str, Any]:
    """A token as it is answered."""
    fields = dict(row)
    team_id, name = fields.pop("team_id"), fields.pop("team_name")
    fields["team"] = None if team_id is None else {"id": team_id, "name": name}
    return serialize_as(TokenOut, fields)
