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

from apps.placement.api.callers import IsGivenRates, cluster_of_rates
from apps.placement.queries.given_to_schedulers import documents_as_yaml, documents_of
from apps.web.rest.examples import answered
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


class SchedulerDocumentsOut(serializers.Serializer[Any]):
    """Documents for a scheduler, and in words what is not in them and what is left to do."""

    made_at = serializers.DateTimeField(help_text="when the offer book was made")
    digest = serializers.CharField(help_text="of the offer book: equal digests are equal rates")
    documents = serializers.ListField(child=serializers.DictField())
    notes = serializers.ListField(child=serializers.CharField())


class DocumentsOfScheduler(RestView):
    """What one scheduler is given."""

    reads = (IsGivenRates,)
    scheduler: ClassVar[str]

    def get_renderers(self) -> list[BaseRenderer]:
        """JSON, or YAML where that is asked for."""
        return [JSONRenderer(), YamlRenderer()]

    def told(self, request: Request) -> Response:
        """From the newest offer book."""
        cluster = cluster_of_rates(request, self, DocumentsWanted.of(request)["cluster"])
        found = documents_of(self.scheduler, cluster, timezone.now())
        if getattr(request, "accepted_media_type", None) == YAML:
            return Response(documents_as_yaml(found))
        return Response(SchedulerDocumentsOut(found).data)


def _documents_schema(
    name: str, document: dict[str, Any]
) -> Callable[[Callable[[Any, Request], Response]], Callable[[Any, Request], Response]]:
    example = {
        "made_at": "2026-03-02T12:00:00Z",
        "digest": "4e" * 32,
        "documents": [document],
        "notes": ["left out: h100-lab, it has no rate"],
    }

    def described(get: Callable[[Any, Request], Response]) -> Callable[[Any, Request], Response]:
        return extend_schema(
            operation_id=f"get_{name}",
            parameters=[DocumentsWanted],
            responses={200: SchedulerDocumentsOut, (200, YAML): OpenApiTypes.STR},
            examples=[answered("Documents", example)],
        )(get)

    return described


FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "h100"},
    "spec": {"nodeLabels": {"runrate.dev/pool": "h100"}},
}
NODE_POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "h100"},
    "spec": {
        "template": {
            "metadata": {"labels": {"runrate.dev/pool": "h100"}},
            "spec": {
                "nodeClassRef": {
                    "group": "karpenter.k8s.aws",
                    "kind": "EC2NodeClass",
                    "name": "default",
                },
                "requirements": [
                    {
                        "key": "node.kubernetes.io/instance-type",
                        "operator": "In",
                        "values": ["p5.48xlarge"],
                    }
                ],
            },
        },
        "weight": 100,
        "limits": {"nvidia.com/gpu": 64},
    },
}
OVERLAY = {
    "apiVersion": "karpenter.sh/v1alpha1",
    "kind": "NodeOverlay",
    "metadata": {"name": "h100"},
    "spec": {
        "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["h100"]}],
        "price": "55.040000",
    },
}
RAY = {
    "cluster_name": "runrate-aws-us-east-1",
    "provider": {"type": "aws", "region": "us-east-1"},
    "available_node_types": {
        "h100": {
            "resources": {"GPU": 8},
            "labels": {"runrate-pool": "h100"},
            "node_config": {"InstanceType": "p5.48xlarge"},
            "min_workers": 0,
            "priority": 1,
            "max_workers": 8,
        }
    },
}


class KueueDocuments(DocumentsOfScheduler):
    """Kueue's."""

    scheduler = "kueue"

    @_documents_schema("kueue_documents", FLAVOR)
    def get(self, request: Request) -> Response:
        """ResourceFlavors in the order of what they cost, a Cohort with their quotas, and a ClusterQueue for each team."""
        return self.told(request)


class KarpenterDocuments(DocumentsOfScheduler):
    """Karpenter's."""

    scheduler = "karpenter"

    @_documents_schema("karpenter_documents", NODE_POOL)
    def get(self, request: Request) -> Response:
        """NodePools of clouds' pools, the cheapest with the highest weight."""
        return self.told(request)


class KarpenterOverlays(DocumentsOfScheduler):
    """Karpenter's prices."""

    scheduler = "karpenter-overlays"

    @_documents_schema("karpenter_overlays", OVERLAY)
    def get(self, request: Request) -> Response:
        """A NodeOverlay for each NodePool: US dollars for an hour of a machine more."""
        return self.told(request)


class RayDocuments(DocumentsOfScheduler):
    """Ray's."""

    scheduler = "ray"

    @_documents_schema("ray_documents", RAY)
    def get(self, request: Request) -> Response:
        """Node types of Ray's autoscaler by cloud and region, the cheapest with the highest priority."""
        return self.told(request)
