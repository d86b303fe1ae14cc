"""Quotas over the wire: the most that clouds let accounts have, and capacity that is held."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.pricing.queries.quotas import QuotasWanted, quotas
from apps.pricing.tables.quotas import QUOTAS
from apps.web.rest.shapes import Filters
from apps.web.rest.table_lists import SORT, RowAnswer, answer_table, table_schema
from apps.web.rest.views import PricesView


class QuotasAsked(Filters[QuotasWanted]):
    """Filters of a list of quotas."""


class QuotaOut(RowAnswer):
    """At most `value`, of which `used` is taken; null where not reported.

    A code that begins with `reservation/` is capacity that is held, in machines.
    """

    table = QUOTAS
    without = ("cloud",)
    value = serializers.DecimalField(max_digits=24, decimal_places=6)
    used = serializers.DecimalField(max_digits=24, decimal_places=6, allow_null=True)


class Quotas(PricesView):
    """Quotas that clouds let the accounts have, as last read."""

    row = QuotaOut

    @table_schema("list_quotas", QuotaOut, QuotasAsked)
    def get(self, request: Request) -> Response:
        """Limits and held capacity by provider, account, region and code."""
        return answer_table(request, QuotaOut, quotas(QuotasAsked.wanted(request, SORT)))
