"""Quotas over the wire: the most that clouds let accounts have, and capacity that is held."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.pricing.queries.quotas import QuotaFact, QuotasWanted, quota_page
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer, Filters
from apps.web.rest.views import PricesView


class QuotasAsked(Filters[QuotasWanted]):
    """Filters of a list of quotas."""


class QuotaOut(Answer[QuotaFact]):
    """At most `value`, of which `used` is taken; null where not reported.

    A code that begins with `reservation/` is capacity that is held, in machines.
    """

    first = ("id", "provider", "account", "region")
    value = serializers.DecimalField(max_digits=24, decimal_places=6)
    used = serializers.DecimalField(max_digits=24, decimal_places=6, allow_null=True)


class Quotas(PricesView):
    """Quotas that clouds let the accounts have, as last read."""

    row = QuotaOut

    @extend_schema(
        operation_id="list_quotas", parameters=[QuotasAsked, *PAGES], responses=list_of(QuotaOut)
    )
    def get(self, request: Request) -> Response:
        """Limits and held capacity by provider, account, region and code."""
        wanted = QuotasAsked.wanted(request)
        page = quota_page(wanted, parse_page_request(request))
        return paged(request, page, lambda row: serialize_as(QuotaOut, row))
