"""Hardware of one's own over the wire: plans with their monthly costs and tariffs."""

from decimal import Decimal
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation
from apps.accounts.queries.facts import fields_of
from apps.economics.hours import hour_of
from apps.fleet.queries import pools
from apps.pricing.queries.owned import (
    OwnedCostFact,
    OwnedPlanFact,
    TariffFact,
    owned_plans,
    written_off,
)
from apps.web.rest.money import ExactOut, NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.views import PricesView


class OwnedCostOut(Answer[OwnedCostFact]):
    """The cost of a plan each month besides; `ends_at` null: open-ended."""

    without = ("monthly",)
    amount = ExactOut(source="monthly")


class PowerTariffOut(Answer[TariffFact]):
    """A kilowatt-hour's price from a local time of day on, until the next one of the day."""

    without = ("minute", "amount")
    from_time = serializers.CharField()
    amount_per_kilowatt_hour = ExactOut(source="amount")


class OwnedPlanOut(Answer[OwnedPlanFact]):
    """A purchase of nodes of a pool: `written_off` of it so far, `left` is the rest of it.

    `watts` are a node's, by its plate.
    """

    without = ("pool_id", "costs")
    pool = NamedOut()
    written_off = ExactOut()
    left = ExactOut()
    monthly_costs = OwnedCostOut(source="costs", many=True)
    tariffs = PowerTariffOut(many=True)


class OwnedPlans(PricesView):
    """Hardware that was bought, for finance and platform."""

    row = OwnedPlanOut

    @extend_schema(
        operation_id="list_owned_plans", parameters=[*PAGES], responses=list_of(OwnedPlanOut)
    )
    def get(self, request: Request) -> Response:
        """Every plan, ended ones too, with the costs and tariffs it ever had."""
        Parameters.of(request)
        page = slice_of(owned_plans(), parse_page_request(request), lambda plan: (plan.id,))
        return paged(request, page, _serialize_plan)


def _serialize_plan(plan: OwnedPlanFact) -> dict[str, Any]:
    at = hour_of(timezone.now())
    off = Decimal(written_off(plan, at, organisation().zone)).scaleb(-6)
    fields = fields_of(plan) | {
        "pool": {"id": plan.pool_id, "name": pools()[plan.pool_id].name},
        "written_off": off,
        "left": round(plan.purchase - off, 6),
    }
    return serialize_as(OwnedPlanOut, fields)
