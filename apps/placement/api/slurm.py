"""Facts that the Slurm controller of a cluster decides by, for the agent beside it; and weights for its slurm.conf."""

from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import Scope, TokenFact
from apps.fleet import queries as fleet
from apps.fleet.queries import ClusterFact
from apps.placement.api.callers import CanSeeOfferRates, cluster_of_rates
from apps.placement.queries.slurm_cache import VALID_SECONDS, SlurmCache, slurm_cache
from apps.placement.queries.slurm_pools import SlurmPool
from apps.placement.queries.slurm_weights import (
    CENTS,
    MOST_SCALE,
    PartitionWeights,
    slurm_billing_weights,
)
from apps.web.rest.money import MoneyOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters, Text
from apps.web.rest.views import RestView


class ReadsSlurmCache(CanSeeOfferRates):
    """Who is given rates, and a jobs token of one cluster: not a node's agent."""

    message = "this is for a cluster's 'jobs' or 'schedule' token, the organisation's 'schedule', 'read' or 'manage' token, finance and platform"

    def has_permission(self, request: Request, view: object) -> bool:
        """Whether this caller may ask at all; of which cluster is the view's to say."""
        if super().has_permission(request, view):
            return True
        token = request.auth
        if not isinstance(token, TokenFact) or Scope.JOBS not in token.scopes:
            return False
        is_bound = fleet.cluster_of_token(token.id) is not None
        return is_bound and fleet.agent_of_token(token.id) is None


@extend_schema_field({"type": "string", "examples": ["atlas"]})
class ClusterName(Text):
    """A name of a cluster."""


class SlurmCacheAsked(Parameters):
    """Of which cluster."""

    cluster = ClusterName(help_text="its name")


class SlurmPoolOut(Answer[SlurmPool]):
    """A pool; `price` is of a GPU-hour more, `paid` what the ledger charges for one; null: not known."""

    without = ("id",)
    price = MoneyOut(allow_null=True, source="micros")


class SlurmCacheOut(Answer[SlurmCache]):
    """Everything that a controller decides by; after `valid_seconds` from `made_at` nothing is decided by it."""

    made_at = serializers.DateTimeField()
    valid_seconds = serializers.IntegerField()
    digest = serializers.CharField(help_text="of all but `made_at`; also the ETag")
    pools = SlurmPoolOut(many=True)


class SlurmWeightsAsked(SlurmCacheAsked):
    """In which unit."""

    scale = serializers.IntegerField(
        min_value=1,
        max_value=MOST_SCALE,
        required=False,
        default=CENTS,
        help_text=f"units of one unit of the currency; {CENTS} are cents",
    )


class SlurmWeightsOut(Answer[PartitionWeights]):
    """A partition's weights by TRES; none where nothing is known. `reasons` say how each number came to be, or is not there."""

    without = ("gpu_types",)
    first = ("partition", "weights", "option")
    option = serializers.CharField(help_text="for the partition's line in slurm.conf, or empty")


class SlurmWeights(RestView):
    """Weights are prices: for who is given rates."""

    reads = (CanSeeOfferRates,)

    row = SlurmWeightsOut

    @extend_schema(
        operation_id="list_slurm_weights",
        parameters=[SlurmWeightsAsked, *PAGES],
        responses=list_of(SlurmWeightsOut),
    )
    def get(self, request: Request) -> Response:
        """TRESBillingWeights of a cluster's partitions, by what the ledger charges, by partition."""
        params = SlurmWeightsAsked.of(request)
        cluster = cluster_named(cluster_of_rates(request, self, params["cluster"]))
        weights = slurm_billing_weights(cluster.id, timezone.now(), scale=params["scale"])
        page = slice_of(weights, parse_page_request(request), lambda weight: (weight.partition,))
        return paged(request, page, serialize_slurm_weights)


class SlurmCacheView(RestView):
    """A cluster's token sees its own cluster alone."""

    reads = (ReadsSlurmCache,)

    @extend_schema(
        operation_id="get_slurm_cache",
        parameters=[
            SlurmCacheAsked,
            OpenApiParameter(
                "If-None-Match",
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                description="the ETag of an earlier answer: 304 where nothing changed since",
            ),
        ],
        responses={200: SlurmCacheOut, 304: None},
    )
    def get(self, request: Request) -> Response:
        """Prices by partition, limits by account, quotes and overrides of a cluster; ask again each minute with the ETag."""
        cluster = self._cluster_asked(SlurmCacheAsked.of(request)["cluster"])
        cache = slurm_cache(cluster.id, cluster.name, timezone.now())
        headers = {"ETag": f'"{cache.digest}"', "Cache-Control": "private, no-cache"}
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return Response(status=304, headers=headers)
        return Response(serialize_slurm_cache(cache), headers=headers)

    def _cluster_asked(self, name: str) -> ClusterFact:
        """Refuses another cluster than the token's, and as `cluster_named` does."""
        token = self.request.auth
        bound = fleet.cluster_of_token(token.id) if isinstance(token, TokenFact) else None
        if bound is not None and fleet.clusters()[bound].name != name:
            raise PermissionDenied(f"this token is of another cluster than {name!r}")
        return cluster_named(name)


def cluster_named(name: str) -> ClusterFact:
    """The cluster; refuses a ValidationError that names the field."""
    named_cluster = next(
        (cluster for cluster in fleet.clusters().values() if cluster.name == name), None
    )
    if named_cluster is None:
        raise ValidationError({"cluster": [f"there is no cluster named {name!r}"]})
    return named_cluster


def serialize_slurm_weights(row: PartitionWeights) -> dict[str, Any]:
    """As REST answers it."""
    return serialize_as(SlurmWeightsOut, row)


def serialize_slurm_cache(cache: SlurmCache) -> dict[str, Any]:
    """As REST answers it."""
    return serialize_as(SlurmCacheOut, cache, cache.currency, valid_seconds=VALID_SECONDS)
