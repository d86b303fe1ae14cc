"""GET /api/v1/gpu-quotas: how many GPUs a provider lets one have at once, and how many run."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.reading import reading_once
from apps.planning.queries.gpu_quotas import gpu_quota_use, gpu_quotas
from apps.planning.tables.gpu_quotas import GPU_QUOTAS
from apps.web.rest.strict import Parameters
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import PricesView


class GpuQuotaOut(RowAnswer):
    """A quota of GPUs at once and its use; an empty region or model is any."""

    table = GPU_QUOTAS
    without = ("limit",)


class GpuQuotas(PricesView):
    """For who reads prices: quotas are of contracts."""

    row = GpuQuotaOut

    @table_schema("list_gpu_quotas", GpuQuotaOut)
    def get(self, request: Request) -> Response:
        """Quotas with their use now and at most in the last 28 days, by provider, region and model."""
        Parameters.of(request, SORT)
        with reading_once():
            return answer_table(request, GpuQuotaOut, gpu_quota_use(gpu_quotas(), timezone.now()))
