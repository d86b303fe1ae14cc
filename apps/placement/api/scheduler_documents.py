"""GET /api/v1/schedulers/…: documents with effective rates, as JSON or as YAML."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from apps.placement.api.callers import CanSeeOfferRates, cluster_of_rates
from apps.placement.queries.scheduler_exports import documents_as_yaml, documents_of
from apps.placement.queries.scheduler_pools import SchedulerDocuments
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import OptionalText, Parameters
from apps.web.rest.views import RestView

YAML = "application/yaml"


class YamlRenderer(BaseRenderer):
    """`Accept: application/yaml`: as `kubectl apply -f -` reads it; a problem as JSON, which is YAML too."""

    media_type = YAML
    format = "yaml"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None
    ) -> bytes:
        """The text itself."""
        return data.encode() if isinstance(data, str) else JSONRenderer().render(data)


class DocumentsWanted(Parameters):
    """Of which pools."""

    cluster = OptionalText(help_text="pools of this cluster alone")


class SchedulerDocumentsOut(Answer[SchedulerDocuments]):
    """Documents for a scheduler, and in words what is not in them and what is left to do."""

    made_at = serializers.DateTimeField(help_text="when the offer book was made")
    digest = serializers.CharField(help_text="of the offer book: equal digests are equal rates")
    documents = serializers.ListField(child=serializers.DictField())


class DocumentsOfScheduler(RestView):
    """Documents that one scheduler is given."""

    reads = (CanSeeOfferRates,)
    scheduler: ClassVar[str]

    def get_renderers(self) -> list[BaseRenderer]:
        """JSON, or YAML where that is asked for."""
        return [JSONRenderer(), YamlRenderer()]

    def told(self, request: Request) -> Response:
        """From the newest offer book."""
        cluster = cluster_of_rates(request, self, DocumentsWanted.of(request)["cluster"])
        documents = documents_of(self.scheduler, cluster, timezone.now())
        if getattr(request, "accepted_media_type", None) == YAML:
            return Response(documents_as_yaml(documents))
        return Response(SchedulerDocumentsOut(documents).data)


def _documents_schema(
    name: str,
) -> Callable[[Callable[[Any, Request], Response]], Callable[[Any, Request], Response]]:
    def described(get: Callable[[Any, Request], Response]) -> Callable[[Any, Request], Response]:
        return extend_schema(
            operation_id=f"get_{name}",
            parameters=[DocumentsWanted],
            responses={200: SchedulerDocumentsOut, (200, YAML): OpenApiTypes.STR},
        )(get)

    return described


class KueueDocuments(DocumentsOfScheduler):
    """Kueue's."""

    scheduler = "kueue"

    @_documents_schema("kueue_documents")
    def get(self, request: Request) -> Response:
        """ResourceFlavors in the order of what they cost, a Cohort with their quotas, and a ClusterQueue for each team."""
        return self.told(request)


class KarpenterDocuments(DocumentsOfScheduler):
    """Karpenter's."""

    scheduler = "karpenter"

    @_documents_schema("karpenter_documents")
    def get(self, request: Request) -> Response:
        """NodePools of clouds' pools, the cheapest with the highest weight."""
        return self.told(request)


class KarpenterOverlays(DocumentsOfScheduler):
    """Karpenter's prices."""

    scheduler = "karpenter-overlays"

    @_documents_schema("karpenter_overlays")
    def get(self, request: Request) -> Response:
        """A NodeOverlay for each NodePool: US dollars for an hour of a machine more."""
        return self.told(request)


class RayDocuments(DocumentsOfScheduler):
    """Ray's."""

    scheduler = "ray"

    @_documents_schema("ray_documents")
    def get(self, request: Request) -> Response:
        """Node types of Ray's autoscaler by cloud and region, the cheapest with the highest priority."""
        return self.told(request)
