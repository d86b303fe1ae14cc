"""GET bills: what issuers asked for, as it stands."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.rest.pages import list_of, page_asked, paged, told_as
from apps.accounts.rest.schema import PAGES
from apps.accounts.rest.strict import Parameters
from apps.accounts.rest.views import RestView, SeesPrices
from apps.ledger.api import examples
from apps.ledger.queries.bills.deliveries import BillFact, bill_page

BILL_STATES = ("waiting", "reconciled", "failed")


class Amount(serializers.CharField):
    """An exact decimal as text."""


class BillOut(serializers.Serializer[Any]):
    """A bill. Amounts are sums of its rows, exact and in its own currency; null: no row says it.

    `residual` is what rounding its charges left over, in the organisation's currency.
    """

    id = serializers.IntegerField()
    issuer = serializers.CharField()
    account = serializers.CharField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    currency = serializers.CharField()
    rows = serializers.IntegerField()
    billed = Amount(allow_null=True)
    effective = Amount(allow_null=True)
    contracted = Amount(allow_null=True)
    list = Amount(allow_null=True)
    residual = Amount(allow_null=True)
    is_rounded_upstream = serializers.BooleanField()
    state = serializers.ChoiceField(choices=BILL_STATES)
    failure = serializers.CharField()


class Bills(RestView):
    """Bills, for finance and platform."""

    row = BillOut

    def get_permissions(self) -> list[BasePermission]:
        """Who sees prices sees bills."""
        return [SeesPrices()]

    @extend_schema(
        operation_id="list_bills",
        parameters=[*PAGES],
        responses=list_of(BillOut),
        examples=[examples.BILLS],
    )
    def get(self, request: Request) -> Response:
        """Bills that came, the latest period first."""
        Parameters.of(request)
        return paged(request, bill_page(page_asked(request)), _told)


def _told(bill: BillFact) -> dict[str, Any]:
    sums = bill.sums
    told = {name: getattr(bill, name) for name in BillFact.__slots__}
    amounts = {
        "billed": sums.billed,
        "effective": sums.effective,
        "contracted": sums.contracted,
        "list": sums.listed,
        "residual": bill.residual,
    }
    exact = {
        name: None if amount is None else f"{amount.normalize():f}"
        for name, amount in amounts.items()
    }
    return told_as(BillOut, told | exact | {"rows": sums.rows, "state": bill.state})
