"""GET /api/v1/gpu-quotas: how many GPUs a provider lets one have at once, and how many run."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.facts import fields_of
from apps.accounts.queries.reading import reading_once
from apps.planning.queries.gpu_quotas import GpuQuotaFact, GpuQuotaUse, gpu_quota_use, gpu_quotas
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.views import PricesView


class GpuQuotaOut(Answer[GpuQuotaFact]):
    """A quota of GPUs at once and its use; an empty region or model is any."""

    without = ("created_at",)
    used_gpus = serializers.IntegerField(help_text="alive now")
    peak_gpus_28_days = serializers.IntegerField()
    headroom_gpus = serializers.IntegerField(help_text="most less used")
    expected_on = serializers.DateField(allow_null=True, help_text="asked_on and the lead time")


class GpuQuotas(PricesView):
    """For who reads prices: quotas are of contracts."""

    row = GpuQuotaOut

    @extend_schema(
        operation_id="list_gpu_quotas", parameters=[*PAGES], responses=list_of(GpuQuotaOut)
    )
    def get(self, request: Request) -> Response:
        """Quotas with their use now and at most in the last 28 days, by provider, region and model."""
        Parameters.of(request)
        with reading_once():
            uses = gpu_quota_use(gpu_quotas(), timezone.now())
            return paged(
                request, slice_of(uses, parse_page_request(request), _by_place), _serialize_use
            )


def _by_place(use: GpuQuotaUse) -> tuple[str, str, str]:
    return use.quota.provider, use.quota.region, use.quota.gpu_model


def _serialize_use(use: GpuQuotaUse) -> dict[str, Any]:
    return serialize_as(
        GpuQuotaOut,
        fields_of(use.quota)
        | {
            "used_gpus": use.used,
            "peak_gpus_28_days": use.peak,
            "headroom_gpus": use.headroom,
            "expected_on": use.quota.expected_on,
        },
    )
