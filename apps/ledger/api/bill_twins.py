"""Bills that may be the same money by REST: listed side by side, and decided on."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.facts import fields_of
from apps.ledger.actions.bill_twins import LONGEST_REASON, TWIN_CHOICES, decide_twin
from apps.ledger.api.bills import Amount
from apps.ledger.queries.bills.deliveries import BillIdentity
from apps.ledger.queries.bills.twins import TwinFact, twin, twin_page
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters, StrictSerializer, Text, parsed
from apps.web.rest.views import AcceptsBills, RestView, SeesPrices


class TwinChoiceIn(StrictSerializer):
    """A choice of which bill counts from now on, and why."""

    choice = serializers.ChoiceField(choices=TWIN_CHOICES)
    reason = Text(max_length=LONGEST_REASON)


class TwinBillOut(Answer[BillIdentity]):
    """One of two bills; `billed` is what it is in force with, and of a held import what that brings."""

    billed = Amount(allow_null=True)


class BillTwinOut(Answer[TwinFact]):
    """Two bills that may be the same money; `choice` is null until somebody said which counts.

    `import_id` is the import that is held for it; null where both came before anybody asked. Then
    the new one counts for nothing meanwhile, or both count, for their month is closed.
    """

    without = ("bill", "other", "delivery_id", "delivery", "told")
    new = TwinBillOut()
    old = TwinBillOut()
    import_id = serializers.IntegerField(source="delivery_id", allow_null=True)
    choice = serializers.ChoiceField(choices=TWIN_CHOICES, allow_null=True)
    decided_by = serializers.CharField(allow_null=True)


class BillTwins(RestView):
    """Bills that may be the same money, for finance and platform."""

    row = BillTwinOut
    reads = (SeesPrices,)

    @extend_schema(
        operation_id="list_bill_twins", parameters=[*PAGES], responses=list_of(BillTwinOut)
    )
    def get(self, request: Request) -> Response:
        """Pairs that were noticed, the latest first."""
        Parameters.of(request)
        return paged(request, twin_page(parse_page_request(request)), serialize_twin)


class BillTwinChoice(RestView):
    """The choice of which of two bills counts."""

    reads = (SeesPrices,)
    # A token has no name to give.
    changes = (AcceptsBills,)

    @extend_schema(
        operation_id="decide_bill_twin",
        parameters=[REPEAT_KEY],
        request=TwinChoiceIn,
        responses=BillTwinOut,
    )
    @once()
    def post(self, request: Request, bill_twin_id: int) -> Response:
        """Have the new one count, the old one, or both, with a reason; for people.

        The months of both stay open until somebody does.
        """
        body = parsed(TwinChoiceIn, request)
        _get_twin_or_404(bill_twin_id)
        decide_twin(
            twin_id=bill_twin_id,
            **body,
            person_id=self.viewer().person_id,
            at=timezone.now(),
        )
        return Response(serialize_twin(_get_twin_or_404(bill_twin_id)))


def serialize_twin(fact: TwinFact) -> dict[str, Any]:
    """A pair as it is answered."""
    sides = {"new": (fact.bill, fact.new_billed), "old": (fact.other, fact.other.sums.billed)}
    serialized: dict[str, Any] = {
        side: fields_of(bill) | {"billed": billed} for side, (bill, billed) in sides.items()
    }
    return serialize_as(
        BillTwinOut,
        fact,
        **serialized,
        choice=fact.choice or None,
        decided_by=fact.decided_by or None,
    )


def _get_twin_or_404(twin_id: int) -> TwinFact:
    fact = twin(twin_id)
    if fact is None:
        raise ObjectDoesNotExist(f"there is no pair of bills {twin_id}")
    return fact
