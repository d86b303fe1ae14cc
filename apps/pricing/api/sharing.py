"""Shared costs over the wire: as they run, entered, ended, and by which weights."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.accounts.queries.facts import fields_of
from apps.economics.sharing import METHODS
from apps.pricing import actions
from apps.pricing.api.wire import PriceIn, amount_of_price
from apps.pricing.queries.shared import (
    EnteredSharedCost,
    SharedCostRow,
    shared_cost,
    shared_cost_page,
)
from apps.web.rest.idempotency import once
from apps.web.rest.money import MoneyOut, NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer, Body, parse_as
from apps.web.rest.strict import Moment, Parameters, PatternOfRows, StrictSerializer, Text, parsed
from apps.web.rest.views import PricesView

METHOD_KEYS = tuple(str(method) for method in METHODS)


class WeightIn(StrictSerializer):
    """The weight of a team: a text of up to 6 decimals, never a float."""

    team = Text(help_text="by name")
    weight = PatternOfRows(r"^[0-9]{1,12}(\.[0-9]{1,6})?$", max_length=19)


class SharedCostIn(Body[EnteredSharedCost]):
    """A monthly amount that the lines of every hour carry a part of."""

    without = ("amount", "currency")
    price = PriceIn()
    method = serializers.ChoiceField(choices=METHOD_KEYS, default="by_cost")
    weights = WeightIn(many=True, required=False, default=list)

    def made(self, values: dict[str, Any]) -> EnteredSharedCost:
        """Return the cost; refuses weights of teams that nobody knows."""
        weights, price = values.pop("weights"), values.pop("price")
        return EnteredSharedCost(
            **values, **amount_of_price(price), weights=_weights_by_team(weights)
        )


class SharedWeightsIn(StrictSerializer):
    """New weights, from the beginning of an hour on."""

    weights = WeightIn(many=True)
    starts_at = Moment()


class SharedCostEndIn(StrictSerializer):
    """Until when the cost is shared."""

    ended_at = Moment()


class WeightOut(serializers.Serializer[Any]):
    """The weight of a team."""

    team = NamedOut()
    weight = serializers.CharField()


class SharedCostOut(Answer[SharedCostRow]):
    """A shared cost as it was entered; `ends_at` null: until ended. The amount is a month's."""

    without = ("amount", "currency")
    price = MoneyOut()
    weights = WeightOut(many=True)


class SharedCosts(PricesView):
    """Shared costs, and how they are shared."""

    row = SharedCostOut

    @extend_schema(
        operation_id="list_shared_costs", parameters=[*PAGES], responses=list_of(SharedCostOut)
    )
    def get(self, request: Request) -> Response:
        """Shared costs, the newest first, ended ones too."""
        Parameters.of(request)
        return paged(request, shared_cost_page(parse_page_request(request)), serialize_shared_cost)

    @extend_schema(
        operation_id="add_shared_cost",
        parameters=[REPEAT_KEY],
        request=SharedCostIn,
        responses={201: SharedCostOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Add a shared cost; past hours from its start on are charged again."""
        cost = parse_as(SharedCostIn, request)
        cost_id = actions.add_shared_cost(cost=cost, at=timezone.now())
        return Response(serialize_shared_cost(shared_cost(cost_id)), status=201)


class OneSharedCost(PricesView):
    """One shared cost."""

    @extend_schema(operation_id="shared_cost", responses=SharedCostOut)
    def get(self, request: Request, shared_cost_id: int) -> Response:
        """A shared cost by its id."""
        Parameters.of(request)
        return Response(serialize_shared_cost(shared_cost(shared_cost_id)))


class SharedCostEnd(PricesView):
    """The end of a shared cost."""

    @extend_schema(
        operation_id="end_shared_cost",
        parameters=[REPEAT_KEY],
        request=SharedCostEndIn,
        responses=SharedCostOut,
    )
    @once()
    def post(self, request: Request, shared_cost_id: int) -> Response:
        """The cost is shared until then; the same end again changes nothing."""
        ended_at: datetime = parsed(SharedCostEndIn, request)["ended_at"]
        if shared_cost(shared_cost_id).ends_at != ended_at:
            actions.end_shared_cost(cost_id=shared_cost_id, ended_at=ended_at, at=timezone.now())
        return Response(serialize_shared_cost(shared_cost(shared_cost_id)))


class SharedCostWeights(PricesView):
    """The weights of a shared cost."""

    @extend_schema(
        operation_id="change_shared_weights",
        parameters=[REPEAT_KEY],
        request=SharedWeightsIn,
        responses={201: SharedCostOut},
    )
    @once()
    def post(self, request: Request, shared_cost_id: int) -> Response:
        """From then on the cost goes on as another, by these weights; hours before keep theirs."""
        body = parsed(SharedWeightsIn, request)
        goes_on = actions.change_shared_weights(
            cost_id=shared_cost_id,
            weights=_weights_by_team(body["weights"]),
            starts_at=body["starts_at"],
            at=timezone.now(),
        )
        return Response(serialize_shared_cost(shared_cost(goes_on)), status=201)


def serialize_shared_cost(cost: SharedCostRow) -> dict[str, Any]:
    """A shared cost as it is answered."""
    names = {team.id: team.name for team in accounts.teams()} if cost.weights else {}
    fields = fields_of(cost)
    fields["price"] = {"amount": f"{fields.pop('amount'):f}", "currency": fields.pop("currency")}
    fields["weights"] = [
        {"team": {"id": team_id, "name": names[team_id]}, "weight": f"{weight:f}"}
        for team_id, weight in cost.weights.items()
    ]
    return serialize_as(SharedCostOut, fields)


def _weights_by_team(items: list[Mapping[str, str]]) -> dict[int, Decimal]:
    ids = {team.name: team.id for team in accounts.teams()}
    weights: dict[int, Decimal] = {}
    for item in items:
        team_id = ids.get(item["team"])
        if team_id is None:
            raise ValidationError({"weights": [f"there is no team named {item['team']!r}"]})
        if team_id in weights:
            raise ValidationError({"weights": [f"{item['team']!r} is there twice"]})
        weights[team_id] = Decimal(item["weight"])
    return weights
