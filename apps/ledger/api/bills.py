"""GET bills: what issuers asked for, as it stands."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.ledger.api import bill_examples, examples
from apps.ledger.queries.bills.comparing import ApartSum, apart_sums, variance_of
from apps.ledger.queries.bills.deliveries import BillFact, bill_fact, bill_page
from apps.web.rest.money import MoneyOut, money_of
from apps.web.rest.pages import list_of, page_asked, paged, told_as
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Parameters
from apps.web.rest.views import RestView, SeesPrices

BILL_STATES = ("waiting", "reconciled", "incomplete", "failed")


class Amount(serializers.CharField):
    """An exact decimal as text."""


class BillOut(serializers.Serializer[Any]):
    """A bill. Amounts are sums of its rows, exact and in its own currency; null: no row says it.

    `residual` is what rounding its charges left over, in the organisation's currency. It is
    `incomplete` while imports of it have `unread_rows` that nobody accepted.
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
    unread_rows = serializers.IntegerField()
    failure = serializers.CharField()


class UnbilledOut(serializers.Serializer[Any]):
    """A node that was charged by estimate in the bill's period, and is not on the bill then."""

    node = serializers.CharField()
    pool = serializers.CharField()
    hours = serializers.IntegerField()
    estimated = MoneyOut(allow_null=True)


class ApartOut(serializers.Serializer[Any]):
    """Charges not tied to a node: what for, why, and the team charged."""

    charge_kind = serializers.CharField()
    kind = serializers.CharField()
    reason = serializers.CharField()
    what = serializers.CharField()
    team = serializers.CharField()
    rows = serializers.IntegerField()
    effective = MoneyOut(allow_null=True)
    billed = MoneyOut(allow_null=True)


class ReconciliationOut(serializers.Serializer[Any]):
    """Why what the bill charges differs from the estimate, in the organisation's currency.

    `price` + `quantity` + `missing` + `unmatched` + `shared` = `billed` - `estimated`, exactly.
    """

    billed = MoneyOut()
    estimated = MoneyOut()
    price = MoneyOut()
    quantity = MoneyOut()
    missing = MoneyOut()
    unmatched = MoneyOut()
    shared = MoneyOut()
    unbilled = UnbilledOut(many=True)
    apart = ApartOut(many=True)


class BillDetailOut(BillOut):
    """A bill; `reconciliation` is null until it was reconciled."""

    reconciliation = ReconciliationOut(allow_null=True)


class Bills(RestView):
    """Bills, for finance and platform."""

    row = BillOut
    reads = (SeesPrices,)

    @extend_schema(
        operation_id="list_bills",
        parameters=[*PAGES],
        responses=list_of(BillOut),
        examples=[examples.BILLS],
    )
    def get(self, request: Request) -> Response:
        """Bills that came, the latest period first."""
        Parameters.of(request)
        return paged(request, bill_page(page_asked(request)), _told_bill)


class BillView(RestView):
    """One bill, for finance and platform."""

    reads = (SeesPrices,)

    @extend_schema(
        operation_id="bill", responses=BillDetailOut, examples=[bill_examples.BILL_WITH_VARIANCE]
    )
    def get(self, request: Request, bill_id: int) -> Response:
        """A bill beside what was estimated: the variance by cause, and the charges not tied to a node."""
        Parameters.of(request)
        bill = bill_fact(bill_id)
        if bill is None:
            raise ObjectDoesNotExist(f"there is no bill {bill_id}")
        is_done = bill.reconciled_at is not None
        return Response(
            _told_bill(bill) | {"reconciliation": _told_variance(bill_id) if is_done else None}
        )


def _told_variance(bill_id: int) -> dict[str, Any]:
    found, currency = variance_of(bill_id), accounts.organisation().currency
    causes = ("billed", "estimated", "price", "quantity", "missing", "unmatched", "shared")
    told: dict[str, Any] = {
        cause: money_of(getattr(found, f"{cause}_micros"), currency) for cause in causes
    }
    unbilled = [
        {
            "node": each.node_name,
            "pool": each.pool_name,
            "hours": each.hours,
            "estimated": money_of(each.estimated_micros, currency),
        }
        for each in found.unbilled
    ]
    return told | {
        "unbilled": unbilled,
        "apart": [_told_apart(each, currency) for each in apart_sums(bill_id)],
    }


def _told_apart(row: ApartSum, currency: str) -> dict[str, Any]:
    return told_as(
        ApartOut,
        row,
        team=row.team_name,
        what=row.label,
        effective=money_of(row.effective_micros, currency),
        billed=money_of(row.billed_micros, currency),
    )


def _told_bill(bill: BillFact) -> dict[str, Any]:
    sums = bill.sums
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
    unread = sum(each.rows for each in bill.unread)
    return told_as(BillOut, bill, **exact, rows=sums.rows, state=bill.state, unread_rows=unread)
