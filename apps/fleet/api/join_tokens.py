"""Join tokens over the wire: what a DaemonSet carries, made, listed and revoked."""

from functools import partial

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.files.limits import BodyKind
from apps.fleet import actions
from apps.fleet.api.clusters import cluster_id_of
from apps.fleet.queries import pools
from apps.fleet.queries.join_tokens import join_token, join_token_page
from apps.fleet.tables.join_tokens import JOIN_TOKENS
from apps.web.rest.idempotency import once
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import BodyFields
from apps.web.rest.strict import Parameters, StrictSerializer, Text, parsed
from apps.web.rest.table_lists import RowAnswer
from apps.web.rest.views import Manages, RestView


class JoinTokenIn(BodyFields[actions.NewJoinToken]):
    """The nodes that may join, until when, and what their own tokens may do."""

    without = ("cluster_id", "pool_id")
    cluster = Text()
    pool = Text(
        required=False,
        allow_null=True,
        default=None,
        help_text="where nodes that are not on record are added as they join; null: refused",
    )
    most_nodes = serializers.IntegerField(
        min_value=1,
        max_value=actions.MOST_NODES,
        default=actions.USUAL_NODES,
        help_text="how many nodes it adds; those beyond wait for a person and cost nothing",
    )


class JoinTokenOut(RowAnswer):
    """A join token, without its secret; how many agents came with it."""

    table = JOIN_TOKENS
    cluster = NamedOut(source="*")
    pool = NamedOut(source="*", allow_null=True)


class MadeJoinTokenOut(JoinTokenOut):
    """The join token; its secret is shown this once, and is null where the request is repeated."""

    secret = serializers.CharField(allow_null=True)


class JoinTokensView(RestView):
    """Names of tokens say who uses what: they are for who manages them."""

    # Reading them is managing.
    reads = changes = (Manages,)


class JoinTokens(JoinTokensView):
    """The join tokens that let the nodes of a cluster in."""

    row = JoinTokenOut

    @extend_schema(
        operation_id="list_join_tokens", parameters=PAGES, responses=list_of(JoinTokenOut)
    )
    def get(self, request: Request) -> Response:
        """Join tokens, the newest first, revoked and expired ones too; never their secrets."""
        Parameters.of(request)
        page = join_token_page(parse_page_request(request))
        return paged(request, page, partial(serialize_as, JoinTokenOut))

    @extend_schema(
        operation_id="make_join_token",
        request=JoinTokenIn,
        parameters=[REPEAT_KEY],
        responses={201: MadeJoinTokenOut},
    )
    @once(forgetting="secret")
    def post(self, request: Request) -> Response:
        """Make a token that each node of a cluster trades for one of its own."""
        data = parsed(JoinTokenIn, request)
        cluster_id, pool_id = cluster_id_of(data.pop("cluster")) or 0, _pool_id(data.pop("pool"))
        new = actions.NewJoinToken(**data, cluster_id=cluster_id, pool_id=pool_id)
        token = actions.make_join_token(
            token=new, at=timezone.now(), made_by_id=self.viewer().person_id
        )
        payload = serialize_as(JoinTokenOut, join_token(token.id)) | {"secret": token.secret}
        return Response(payload, status=201, headers={"Cache-Control": "no-store"})


class JoinTokenRevocation(JoinTokensView):
    """The end of a join token."""

    body = BodyKind.EMPTY

    @extend_schema(operation_id="revoke_join_token", request=None, responses=JoinTokenOut)
    def post(self, request: Request, join_token_id: int) -> Response:
        """No node joins with it any more; nodes that did go on. A revoked one stays as it is."""
        parsed(StrictSerializer, request)
        if join_token(join_token_id).revoked_at is None:
            actions.revoke_join_token(join_token_id=join_token_id, at=timezone.now())
        return Response(serialize_as(JoinTokenOut, join_token(join_token_id)))


def _pool_id(name: str | None) -> int | None:
    if name is None:
        return None
    pool_ids = [pool.id for pool in pools().values() if pool.name == name]
    if not pool_ids:
        raise ValidationError({"pool": [f"there is no pool named {name!r}"]})
    return pool_ids[0]
