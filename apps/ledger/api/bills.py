"""GET bills: what issuers asked for, as it stands."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.ledger.queries.bills.comparing import ApartSum, Variance, unreconciled_sums, variance_of
from apps.ledger.queries.bills.deliveries import BillFact, bill_fact, bill_page
from apps.web.rest.money import MoneyOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters
from apps.web.rest.views import RestView, SeesPrices

BILL_STATES = ("waiting", "reconciled", "incomplete", "failed")


class Amount(serializers.CharField):
    """An exact decimal as text."""

    def to_representation(self, value: Any) -> str:
        """All its digits, and no more."""
        return f"{value.normalize():f}"


class BillOut(Answer[BillFact]):
    """A bill. Amounts are sums of its rows, exact and in its own currency; null: no row says it.

    `residual` is what rounding its charges left over, in the organisation's currency. It is
    `incomplete` while imports of it have `unread_rows` that nobody accepted.
    """

    without = ("provider", "changed_at", "reconciled_at", "sums", "unread")
    rows = serializers.IntegerField(source="sums.rows")
    billed = Amount(source="sums.billed", allow_null=True)
    effective = Amount(source="sums.effective", allow_null=True)
    contracted = Amount(source="sums.contracted", allow_null=True)
    list = Amount(source="sums.listed", allow_null=True)
    residual = Amount(allow_null=True)
    state = serializers.ChoiceField(choices=BILL_STATES)
    unread_rows = serializers.IntegerField()


class UnbilledOut(serializers.Serializer[Any]):
    """A node that was charged by estimate in the bill's period, and is not on the bill then."""

    node = serializers.CharField(source="node_name")
    pool = serializers.CharField(source="pool_name")
    hours = serializers.IntegerField()
    estimated = MoneyOut(source="estimated_micros", allow_null=True)


class ApartOut(Answer[ApartSum]):
    """Charges not tied to a node: what for, why, and the team charged."""

    without = ("label", "team_name")
    what = serializers.CharField(source="label")
    team = serializers.CharField(source="team_name")


class ReconciliationOut(Answer[Variance]):
    """Why what the bill charges differs from the estimate, in the organisation's currency.

    `price` + `quantity` + `missing` + `unmatched` + `shared` = `billed` - `estimated`, exactly.
    """

    without = ("billed_until",)
    unbilled = UnbilledOut(many=True)
    apart = ApartOut(many=True)


class BillDetailOut(BillOut):
    """A bill; `reconciliation` is null until it was reconciled."""

    reconciliation = ReconciliationOut(allow_null=True)


class Bills(RestView):
    """Bills, for finance and platform."""

    row = BillOut
    reads = (SeesPrices,)

    @extend_schema(operation_id="list_bills", parameters=[*PAGES], responses=list_of(BillOut))
    def get(self, request: Request) -> Response:
        """Bills that came, the latest period first."""
        Parameters.of(request)
        return paged(
            request,
            bill_page(parse_page_request(request)),
            lambda bill: serialize_as(BillOut, bill),
        )


class BillView(RestView):
    """One bill, for finance and platform."""

    reads = (SeesPrices,)

    @extend_schema(operation_id="bill", responses=BillDetailOut)
    def get(self, request: Request, bill_id: int) -> Response:
        """A bill beside what was estimated: the variance by cause, and the charges not tied to a node."""
        Parameters.of(request)
        bill = bill_fact(bill_id)
        if bill is None:
            raise ObjectDoesNotExist(f"there is no bill {bill_id}")
        serialized = serialize_as(BillOut, bill) | {"reconciliation": None}
        if bill.reconciled_at is not None:
            currency = accounts.organisation().currency
            apart = unreconciled_sums(bill_id)
            serialized["reconciliation"] = serialize_as(
                ReconciliationOut, variance_of(bill_id), currency, apart=apart
            )
        return Response(serialized)
