"""Rules of bills over the wire: kept, ended, and what either would move."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.economics.billing import BillRowRule, ChargeKindOfRow
from apps.economics.focus.kinds import KINDS
from apps.economics.sharing import BILL_METHODS
from apps.files.limits import BodyKind
from apps.fleet import queries as fleet
from apps.ledger.actions.bill_rules import add_bill_rule, check_bill_rule, end_bill_rule
from apps.ledger.queries.bills.rules import (
    BillRuleRow,
    RowDestination,
    RuleMove,
    bill_rule,
    bill_rule_page,
    moves_if_added,
    moves_if_ended,
    nodes_called,
)
from apps.web.rest.idempotency import once
from apps.web.rest.money import MoneyOut, NamedOut, money_of
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer, Body, parse_as
from apps.web.rest.strict import Parameters, StrictSerializer, Text, id_named, parsed
from apps.web.rest.views import PricesView

NONE = ""


class BillRuleIn(Body[BillRowRule]):
    """A rule for rows, by shell patterns (empty: all), and what it makes of them: a kind, a place, a team, all."""

    without = ("id", "node_id", "pool_id", "team_id")
    kind = serializers.ChoiceField(choices=KINDS, required=False, allow_blank=True, default=NONE)
    node = Text(required=False, allow_null=True, default=None, help_text="by name")
    pool = Text(required=False, allow_null=True, default=None, help_text="by name")
    team = Text(required=False, allow_null=True, default=None, help_text="by name")
    share_method = serializers.ChoiceField(
        choices=BILL_METHODS,
        required=False,
        allow_blank=True,
        default=NONE,
        help_text="a shared cost of every hour of the bill's month, instead of a node, pool or team",
    )

    def made(self, values: dict[str, Any]) -> BillRowRule:
        """Return the rule that a body describes; refuses a ValidationError that names the field."""
        node, pool, team = (values.pop(name) for name in ("node", "pool", "team"))
        return BillRowRule(
            id=0,
            **values,
            node_id=_node_id(node),
            pool_id=id_named("pool", pool, {fact.name: fact.id for fact in fleet.pools().values()}),
            team_id=id_named("team", team, {fact.name: fact.id for fact in accounts.teams()}),
        )


class BillRuleOut(Answer[BillRuleRow]):
    """A rule, and what it maps of bills of open months: `billed` has an amount for each currency."""

    without = ("node_id", "pool_id", "team_id")
    kind = serializers.ChoiceField(choices=(NONE, *KINDS))
    node = NamedOut(allow_null=True)
    pool = NamedOut(allow_null=True)
    team = NamedOut(allow_null=True)
    share_method = serializers.ChoiceField(choices=(NONE, *BILL_METHODS))
    billed = MoneyOut(many=True)


class PlaceOut(Answer[RowDestination]):
    """Where rows go; `team` carries what no node and no pool does, empty where all share it."""

    becomes = serializers.ChoiceField(choices=[str(Become) for Become in ChargeKindOfRow])
    kind = serializers.ChoiceField(choices=KINDS)
    share_method = serializers.ChoiceField(choices=(NONE, *BILL_METHODS))


class TeamShareOut(serializers.Serializer[Any]):
    """The part of shared rows that a team would carry, or did."""

    team = serializers.CharField()
    share = MoneyOut()


class BillMoveOut(Answer[RuleMove]):
    """Rows of one bill that would go elsewhere."""

    without = ("currency", "came", "goes", "teams")
    billed = MoneyOut()
    from_place = PlaceOut()
    to_place = PlaceOut()
    shares = TeamShareOut(many=True, help_text="where it is shared: roughly, by the month so far")


class BillMovesOut(serializers.Serializer[Any]):
    """The rows that would move in open months, the highest cost first."""

    rows = serializers.IntegerField()
    moves = BillMoveOut(many=True)


class BillRulesView(PricesView):
    """Bills are for finance and platform; platform changes what is made of them."""


class BillRules(BillRulesView):
    """Where rows of bills go that do not say it themselves."""

    row = BillRuleOut

    @extend_schema(
        operation_id="list_bill_rules", parameters=[*PAGES], responses=list_of(BillRuleOut)
    )
    def get(self, request: Request) -> Response:
        """Rules as they were made, ended ones too."""
        Parameters.of(request)
        return paged(request, bill_rule_page(parse_page_request(request)), _serialize_rule)

    @extend_schema(
        operation_id="add_bill_rule",
        parameters=[REPEAT_KEY],
        request=BillRuleIn,
        responses={201: BillRuleOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Keep a rule after those there are; bills of open months are reconciled by it again.

        `/bill-rules/preview` says what it would move.
        """
        rule_id = add_bill_rule(rule=parse_as(BillRuleIn, request), at=timezone.now())
        return Response(_serialize_rule(bill_rule(rule_id)), status=201)


class BillRulePreview(BillRulesView):
    """A preview of what a rule would move, before anybody keeps it."""

    @extend_schema(operation_id="preview_bill_rule", request=BillRuleIn, responses=BillMovesOut)
    def post(self, request: Request) -> Response:
        """The rows that would go elsewhere, bill by bill; nothing is kept."""
        rule = parse_as(BillRuleIn, request)
        check_bill_rule(rule)
        return _moves_response(moves_if_added(rule))


class BillRuleView(BillRulesView):
    """One rule."""

    @extend_schema(operation_id="bill_rule", responses=BillRuleOut)
    def get(self, request: Request, bill_rule_id: int) -> Response:
        """A rule by its id."""
        Parameters.of(request)
        return Response(_serialize_rule(bill_rule(bill_rule_id)))


class BillRuleEnd(BillRulesView):
    """The end of a rule."""

    body = BodyKind.EMPTY

    @extend_schema(
        operation_id="end_bill_rule", parameters=[REPEAT_KEY], request=None, responses=BillRuleOut
    )
    @once()
    def post(self, request: Request, bill_rule_id: int) -> Response:
        """The rule counts no more; bills of open months are reconciled without it.

        Ending it again changes nothing.
        """
        parsed(StrictSerializer, request)
        bill_rule(bill_rule_id)
        end_bill_rule(rule_id=bill_rule_id, at=timezone.now())
        return Response(_serialize_rule(bill_rule(bill_rule_id)))


class BillRuleEndPreview(BillRulesView):
    """A preview of what the end of a rule would move."""

    body = BodyKind.EMPTY

    @extend_schema(operation_id="preview_bill_rule_end", request=None, responses=BillMovesOut)
    def post(self, request: Request, bill_rule_id: int) -> Response:
        """The rows that would go elsewhere without it; nothing is ended."""
        parsed(StrictSerializer, request)
        rule = bill_rule(bill_rule_id)
        return _moves_response([] if rule.ended_at else moves_if_ended(bill_rule_id))


def _node_id(name: str | None) -> int | None:
    node_ids = [] if name is None else nodes_called(name)
    if len(node_ids) > 1:
        raise ValidationError({"node": [f"several clusters have a node named {name!r}"]})
    return id_named("node", name, {str(name): node_id for node_id in node_ids})


def _serialize_rule(rule: BillRuleRow) -> dict[str, Any]:
    named = {"node": rule.node_id, "pool": rule.pool_id, "team": rule.team_id}
    serialized: dict[str, Any] = {
        what: None if id_ is None else {"id": id_, "name": getattr(rule, what)}
        for what, id_ in named.items()
    }
    serialized["billed"] = [
        {"amount": f"{amount.normalize():f}", "currency": currency}
        for currency, amount in rule.billed.items()
    ]
    return serialize_as(BillRuleOut, rule, **serialized)


def _moves_response(moves: list[RuleMove]) -> Response:
    serialized = [
        serialize_as(
            BillMoveOut,
            move,
            billed={"amount": f"{move.billed.normalize():f}", "currency": move.currency},
            from_place=move.came,
            to_place=move.goes,
            shares=[
                {"team": team, "share": money_of(micros, move.currency)}
                for team, micros in sorted(move.teams.items())
            ],
        )
        for move in moves
    ]
    return Response({"rows": sum(move.rows for move in moves), "moves": serialized})
