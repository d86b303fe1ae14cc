"""GET commitments/figures: how what was bought ahead is used; and what a change would move."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation
from apps.ledger.api.bought import CommitmentEndIn, CommitmentIn
from apps.ledger.queries import calendar_of, window_of
from apps.ledger.queries.commitment_preview import Moved, if_ended, if_entered
from apps.ledger.queries.commitments import commitment_use, term_of
from apps.pricing import actions
from apps.pricing.queries.commitments import CommitmentFact
from apps.web.rest.money import MoneyOut, NamedOut, RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.shapes import Answer, parse_as
from apps.web.rest.strict import Parameters, Text, parsed
from apps.web.rest.views import BuysAhead, Reads, RestView, SeesPrices


class FiguresAsked(Parameters):
    """Parameters that choose days."""

    window = Text(required=False, default="month", help_text="month, lastmonth, 2026-07, 7d …")


class FiguresOut(serializers.Serializer[Any]):
    """A commitment in a span; what is undefined or not known is null, and never 0.

    `on_demand` is what the covered use costs without it, `cost` its own, amortised, `unused` what
    of that nobody used. `left_hours` of its term are to come.
    """

    commitment = NamedOut()
    coverage = RatioOut(source="figures.coverage", allow_null=True)
    utilisation = RatioOut(source="figures.utilisation", allow_null=True)
    effective_savings_rate = RatioOut(source="figures.savings_rate", allow_null=True)
    break_even = RatioOut(source="figures.break_even", allow_null=True)
    on_demand = MoneyOut(source="figures.on_demand", allow_null=True)
    cost = MoneyOut(source="figures.cost", allow_null=True)
    unused = MoneyOut(source="figures.unused_cost", allow_null=True)
    saved = MoneyOut(source="figures.saved", allow_null=True)
    left_hours = serializers.IntegerField()


class MovedOut(Answer[Moved]):
    """About what would move in past hours of open months; null where a price is not known."""

    without = ("bought", "used")
    utilisation = RatioOut(allow_null=True)
    difference = MoneyOut(allow_null=True)


class EnteredMovedOut(MovedOut):
    """About what a commitment would move if it were entered, with remarks."""

    remarks = serializers.ListField(
        child=serializers.CharField(), help_text="its names that no pool and no table has"
    )


class CommitmentFigures(RestView):
    """How well commitments are used."""

    row = FiguresOut
    reads = (Reads, SeesPrices)

    @extend_schema(
        operation_id="list_commitment_figures",
        parameters=[FiguresAsked, *PAGES],
        responses=list_of(FiguresOut),
    )
    def get(self, request: Request) -> Response:
        """Coverage, utilization, savings and what was not used, of each that held in the window."""
        query = FiguresAsked.of(request)
        chosen, at = organisation(), timezone.now()
        calendar = calendar_of(chosen.zone, chosen.week_starts_on, at)
        window = window_of(query["window"], calendar)
        use = commitment_use((window.starts_at, window.ends_at), at)
        page = slice_of(
            use.commitments.values(), parse_page_request(request), lambda fact: (fact.id,)
        )

        def told(fact: CommitmentFact) -> dict[str, Any]:
            left_hours = term_of(fact, at).left_hours
            about = {"commitment": fact, "figures": use.figures(fact.id), "left_hours": left_hours}
            return serialize_as(FiguresOut, about, chosen.currency)

        return paged(request, page, told)


class CommitmentPreview(RestView):
    """A preview of what entering a commitment would move, for who may enter it."""

    changes = (Reads, BuysAhead)

    @extend_schema(
        operation_id="preview_commitment", request=CommitmentIn, responses=EnteredMovedOut
    )
    def post(self, request: Request) -> Response:
        """The past hours it would be charged in; nothing is entered."""
        purchase = parse_as(CommitmentIn, request)
        actions.check_commitment(purchase)
        moved = if_entered(actions.as_bought(purchase), timezone.now())
        remarks = actions.unknown_names(actions.as_pools_say(purchase))
        return Response(_serialize_moved(moved) | {"remarks": list(remarks)})


class CommitmentEndPreview(RestView):
    """A preview of what ending a commitment would move, for who may end it."""

    changes = (Reads, BuysAhead)

    @extend_schema(
        operation_id="preview_commitment_end", request=CommitmentEndIn, responses=MovedOut
    )
    def post(self, request: Request, commitment_id: int) -> Response:
        """The past hours that it would no longer cover; nothing is ended."""
        ended_at: datetime = parsed(CommitmentEndIn, request)["ended_at"]
        return Response(_serialize_moved(if_ended(commitment_id, ended_at, timezone.now())))


def _serialize_moved(moved: Moved) -> dict[str, Any]:
    return serialize_as(MovedOut, moved, organisation().currency)
