"""GET /api/v1/fleet-moves: what a week's look at the fleet proposes to run elsewhere, and what it looked at."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import organisation, teams
from apps.accounts.queries.facts import fields_of
from apps.placement.queries.fleet_moves import (
    MoveDetectionRunFact,
    OpenFleetMove,
    latest_move_detection_run,
    move_detection_runs,
    moves_of_week,
)
from apps.web.rest.money import MoneyOut, NamedOut, RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES
from apps.web.rest.strict import Parameters
from apps.web.rest.views import PricesView, RestView
from apps.workloads.queries import workloads


class FleetMovesQuery(Parameters):
    """Of which week."""

    week = serializers.DateField(
        required=False, help_text="the first day of a week that was looked at; the newest"
    )


class ProposalEvidenceOut(serializers.Serializer[Any]):
    """The source of a figure; `ref` is the id or key of that run, pool, offer, rate, quote, scenario or portfolio."""

    kind = serializers.CharField()
    ref = serializers.CharField()
    words = serializers.CharField()


class FleetMoveOut(serializers.Serializer[Any]):
    """A move; amounts are of a month of 730 h at the marginal price, `saving_…` the p10, the median and the p90.

    No saving is above `spend`, what is spent there. `one_time` is what moving costs as far as it is known. Of one
    `exclusive_group` only those with `is_counted` may be added up.
    """

    id = serializers.IntegerField()
    key = serializers.CharField(help_text="the same from week to week")
    kind = serializers.CharField(
        help_text="to_spot, to_commitment, elsewhere, to_api or to_smaller"
    )
    subject = serializers.CharField()
    moves_from = serializers.CharField(source="source")
    moves_to = serializers.CharField(source="target")
    team = NamedOut(allow_null=True)
    workload = NamedOut(allow_null=True)
    week = serializers.DateField()
    seen_from = serializers.DateField(
        help_text="the first day looked at; the last is the one before the week"
    )
    opened_week = serializers.DateField()
    weeks_proposed = serializers.IntegerField()
    spend = MoneyOut(source="spend_micros")
    saving_low = MoneyOut(source="saving.low")
    saving_likely = MoneyOut(source="saving.likely")
    saving_high = MoneyOut(source="saving.high")
    one_time = MoneyOut(source="one_time_micros")
    egress = MoneyOut(source="egress_micros")
    restart = MoneyOut(source="restart_micros")
    effort_hours = serializers.IntegerField()
    effort = MoneyOut(
        source="effort_micros", allow_null=True, help_text="null: nobody said what an hour costs"
    )
    payback_months = RatioOut(allow_null=True)
    disruption = serializers.CharField(help_text="low, medium or high")
    disruption_reason = serializers.CharField()
    interruptions_per_month = RatioOut(allow_null=True)
    restart_hours_per_month = RatioOut(allow_null=True)
    confidence = serializers.CharField(help_text="high, medium or low, by the doubts")
    doubts = serializers.ListField(child=serializers.CharField())
    why = serializers.CharField()
    evidence = ProposalEvidenceOut(many=True)
    exclusive_group = serializers.IntegerField()
    is_counted = serializers.BooleanField()


class MoveReasonOut(serializers.Serializer[Any]):
    """Why candidates are no proposal, and how many."""

    why = serializers.CharField()
    count = serializers.IntegerField()


class MoveKindOut(serializers.Serializer[Any]):
    """Candidates that a look saw of one kind of move."""

    kind = serializers.CharField()
    seen = serializers.IntegerField()
    proposed = serializers.IntegerField()
    reasons = MoveReasonOut(many=True)


class FleetMoveLookOut(serializers.Serializer[Any]):
    """A week's look; `addressable` is what a month costs that is paid by the hour, `counted` what its moves are likely to save."""

    week = serializers.DateField()
    made_at = serializers.DateTimeField()
    seen_from = serializers.DateField()
    weeks = serializers.IntegerField()
    book_made_at = serializers.DateTimeField(allow_null=True)
    addressable = MoneyOut(source="addressable_micros")
    counted = MoneyOut(source="counted_micros")
    kinds = MoveKindOut(many=True)
    digest = serializers.CharField()


class FleetMoves(RestView):
    """Moves that a week's look proposes."""

    row = FleetMoveOut

    @extend_schema(
        operation_id="list_fleet_moves",
        deprecated=True,
        parameters=[FleetMovesQuery, *PAGES],
        responses=list_of(FleetMoveOut),
    )
    def get(self, request: Request) -> Response:
        """Moves of the newest look, or of a week's, worth most first; evidence that names prices is for who reads prices.

        Each is a recommendation too: `GET /api/v1/recommendations` has it with its state, under `matter` as here under
        `key`, and replaces this. A team's people and tokens see what moves its own workloads.
        """
        week = FleetMovesQuery.of(request).get("week")
        newest_look = latest_move_detection_run(timezone.now()) if week is None else None
        look_week = week or (newest_look.week if newest_look else None)
        moves = () if look_week is None else moves_of_week(look_week, self.viewer().seen_teams)
        places = {move.key: place for place, move in enumerate(moves)}
        page = slice_of(moves, parse_page_request(request), lambda move: (places[move.key],))
        currency = organisation().currency
        named = {team.id: team.name for team in teams()}
        work = {workload.id: workload.name for workload in workloads().values()}
        return paged(
            request,
            page,
            lambda move: serialize_move(move, {"team": named, "workload": work}, currency),
        )


class FleetMoveDetectionRuns(PricesView):
    """Looks of each week, with what they saw."""

    row = FleetMoveLookOut

    @extend_schema(
        operation_id="list_fleet_move_looks",
        parameters=[*PAGES],
        responses=list_of(FleetMoveLookOut),
    )
    def get(self, request: Request) -> Response:
        """Every look, the newest first: candidates by kind, and why they are no proposal, with how many."""
        Parameters.of(request)
        page = slice_of(move_detection_runs(), parse_page_request(request), _newest_first)
        currency = organisation().currency
        return paged(
            request, page, lambda look_fact: serialize_as(FleetMoveLookOut, look_fact, currency)
        )


def _newest_first(look_fact: MoveDetectionRunFact) -> tuple[int]:
    return (-look_fact.week.toordinal(),)


def serialize_move(
    move: OpenFleetMove, names: Mapping[str, Mapping[int, str]], currency: str
) -> dict[str, Any]:
    """A move as REST answers it; `names` are of teams and workloads by their ids."""
    answer = fields_of(move) | {
        "team": _serialize_named(move.team_id, names["team"]),
        "workload": _serialize_named(move.workload_id, names["workload"]),
    }
    return serialize_as(FleetMoveOut, answer, currency)


def _serialize_named(known_id: int | None, names: Mapping[int, str]) -> dict[str, Any] | None:
    return None if known_id is None else {"id": known_id, "name": names[known_id]}
