"""Commitments over the wire: as they were bought, entered, ended before their term."""

from datetime import datetime

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries.facts import field_names
from apps.ledger.api.bought import (
    CommitmentEndIn,
    CommitmentIn,
    CommitmentOut,
    EnteredCommitmentOut,
    serialize_commitment,
    serialize_entered_commitment,
)
from apps.pricing import actions
from apps.pricing.queries.commitments import CommitmentFact, commitment, commitments
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import parse_as
from apps.web.rest.strict import Parameters, parsed
from apps.web.rest.views import BuysAhead, Reads, RestView, SeesPrices


class CommitmentsView(RestView):
    """Commitments are for finance and platform; finance changes them."""

    reads = (Reads, SeesPrices)
    changes = (Reads, BuysAhead)


class Commitments(CommitmentsView):
    """The commitments that were bought ahead."""

    row = CommitmentOut

    @extend_schema(
        operation_id="list_commitments", parameters=[*PAGES], responses=list_of(CommitmentOut)
    )
    def get(self, request: Request) -> Response:
        """Every reservation, committed use, savings plan and capacity block, past ones too."""
        Parameters.of(request)
        page = slice_of(commitments(), parse_page_request(request), lambda fact: (fact.id,))
        return paged(request, page, serialize_commitment)

    @extend_schema(
        operation_id="add_commitment",
        request=CommitmentIn,
        parameters=[REPEAT_KEY],
        responses={201: EnteredCommitmentOut, 200: EnteredCommitmentOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Enter what was bought; the past hours of its term are charged again.

        The very same one again is answered 200.
        """
        purchase = parse_as(CommitmentIn, request)
        try:
            commitment_id = actions.add_commitment(commitment=purchase, at=timezone.now())
        except actions.CommitmentExists:
            existing = _entered_already(purchase)
            if existing is None:
                raise
            return Response(serialize_entered_commitment(existing, purchase))
        return Response(
            serialize_entered_commitment(commitment(commitment_id), purchase), status=201
        )


class CommitmentView(CommitmentsView):
    """One commitment."""

    @extend_schema(operation_id="commitment", responses=CommitmentOut)
    def get(self, request: Request, commitment_id: int) -> Response:
        """A commitment by its id."""
        Parameters.of(request)
        return Response(serialize_commitment(commitment(commitment_id)))


class CommitmentEnd(CommitmentsView):
    """The end of a commitment before its term."""

    @extend_schema(
        operation_id="end_commitment",
        request=CommitmentEndIn,
        parameters=[REPEAT_KEY],
        responses=CommitmentOut,
    )
    @once()
    def post(self, request: Request, commitment_id: int) -> Response:
        """It was returned or cancelled: from then on it covers nothing and costs nothing.

        The same end again changes nothing.
        """
        ended_at: datetime = parsed(CommitmentEndIn, request)["ended_at"]
        if commitment(commitment_id).ended_at != ended_at:
            actions.end_commitment(
                commitment_id=commitment_id, ended_at=ended_at, at=timezone.now()
            )
        return Response(serialize_commitment(commitment(commitment_id)))


def _entered_already(purchase: actions.EnteredCommitment) -> CommitmentFact | None:
    """The one of this name, where it says the very same."""
    existing = next((fact for fact in commitments() if fact.name == purchase.name), None)
    if existing is None or existing.ended_at is not None:
        return None
    wanted = actions.as_bought(purchase)
    same = [name for name in field_names(CommitmentFact) if name != "id"]
    return (
        existing if all(getattr(existing, name) == getattr(wanted, name) for name in same) else None
    )
