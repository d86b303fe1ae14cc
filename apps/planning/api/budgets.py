"""Budgets over REST: as they are set, and what is left of each."""

from operator import attrgetter
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.accounts.queries.facts import fields_of
from apps.accounts.queries.reading import reading_once
from apps.ledger.queries.windows import DAY
from apps.planning import actions
from apps.planning.api.ahead_spans import AheadSpanOut
from apps.planning.queries.budget_figures import (
    FORECAST,
    RUN_RATE,
    UNKNOWN,
    BudgetFigures,
    figures_of,
)
from apps.planning.queries.budgets import (
    MEASURES,
    MONEY,
    ORGANISATION,
    OVER,
    RUNNING,
    TAG,
    TEAM,
    TO_COME,
    BudgetFact,
    BudgetStep,
    EnteredBudget,
    budget,
    budgets,
    to_major_units,
)
from apps.web.rest.gates import GateOut
from apps.web.rest.idempotency import once
from apps.web.rest.money import ExactOut, HoursOut, RatioOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import AmountIn, Answer, Body, parse_as
from apps.web.rest.strict import (
    LONGEST_TEXT,
    OptionalText,
    Parameters,
    StrictSerializer,
)
from apps.web.rest.views import RestView, SetsBudgets
from apps.workloads import queries as workloads

UNIT_HELP = "the organisation's currency, or GPU-hours"


class BudgetStepIn(StrictSerializer):
    """An amount from a day on: the first from `first_day`, which need not be said; others from months on."""

    from_day = serializers.DateField(required=False, allow_null=True, default=None)
    amount = AmountIn(digits=12, places=6)


class BudgetIn(Body[EnteredBudget]):
    """A budget as a whole; `of` names what it is for, empty of the organisation."""

    without = ("key", "steps")
    of = OptionalText(
        max_length=2 * LONGEST_TEXT,
        help_text="the name of a team, workload or service (TEAM/NAME where several teams have one), "
        "or a tag as key=value",
    )
    amounts = BudgetStepIn(many=True)

    def made(self, values: dict[str, Any]) -> EnteredBudget:
        """Return the budget with what `of` names; refuses a ValidationError of names that say nothing."""
        of, steps, first_day = values.pop("of"), values.pop("amounts"), values["first_day"]
        return EnteredBudget(
            **values,
            key=_key_named(values["scope"], of),
            steps=tuple(
                BudgetStep(step["from_day"] or first_day, step["amount"]) for step in steps
            ),
        )


class BudgetStepOut(serializers.Serializer[Any]):
    """An amount from a day on."""

    from_day = serializers.DateField()
    amount = ExactOut()


class BudgetOut(Answer[BudgetFact]):
    """A budget as it was set; `last_day` is of it too, null: open-ended."""

    without = ("steps",)
    of = serializers.CharField()
    unit = serializers.CharField(help_text=UNIT_HELP)
    amounts = BudgetStepOut(many=True)


class WholeUnitsOut(ExactOut):
    """An amount of a budget's figures in whole units; null where it is not known."""

    def __init__(self, *, of: str, allow_null: bool = True, **options: Any) -> None:
        super().__init__(**options, allow_null=allow_null, source="*")
        self.amount_of = attrgetter(of)

    def to_representation(self, value: Any) -> Any:
        """Return the amount with all its decimals."""
        amount = self.amount_of(value)
        if amount is None:
            return None
        return super().to_representation(to_major_units(value.budget.measure, amount))


class BudgetHeadroomOut(serializers.Serializer[Any]):
    """The rest of a budget in its current period; amounts are in `unit`, null where not known.

    `headroom` is `amount` − `spent` − `rest_expected` − `committed_by_requests`. Budgets overlap: two are never added.
    """

    budget_id = serializers.IntegerField(source="budget.id")
    name = serializers.CharField(source="budget.name")
    measure = serializers.ChoiceField(choices=MEASURES, source="budget.measure")
    unit = serializers.CharField(help_text=UNIT_HELP)
    basis = serializers.CharField(
        help_text="effective cost as charged, or GPU-hours that jobs held"
    )
    as_of = serializers.DateTimeField()
    status = serializers.ChoiceField(choices=(TO_COME, RUNNING, OVER))
    first_day = serializers.DateField()
    last_day = serializers.DateField()
    amount = WholeUnitsOut(of="amount", allow_null=False)
    spent = WholeUnitsOut(of="spent.amount")
    provisional = ExactOut(allow_null=True, help_text="of what is spent; null of GPU-hours")
    unpriced_gpu_hours = HoursOut(
        source="spent.unpriced_milliseconds", help_text="without a price yet, so in no amount"
    )
    rest_expected = WholeUnitsOut(of="rest.expected")
    rest_low = WholeUnitsOut(of="rest.low", help_text="of the 80 % interval; null without one")
    rest_high = WholeUnitsOut(of="rest.high")
    rest_from = serializers.ChoiceField(choices=(FORECAST, RUN_RATE, UNKNOWN), source="rest.method")
    rest_source = serializers.CharField(
        source="rest.source", help_text="which series, or which days"
    )
    rest_spans = AheadSpanOut(
        many=True,
        source="rest.spans",
        help_text="which hours are from what; none without a forecast",
    )
    rest_gates = GateOut(
        many=True, source="rest.gates", help_text="what the rest expected was held against"
    )
    committed = WholeUnitsOut(
        of="committed",
        help_text="by commitments and by requests; null where a part of it is not known",
    )
    committed_by_commitments = WholeUnitsOut(
        of="commitments", help_text="a part of the rest expected; of the organisation's money alone"
    )
    committed_by_requests = WholeUnitsOut(
        of="requested.amount",
        help_text="approved capacity requests until they are delivered, on top of the rest expected",
    )
    unpriced_request_gpu_hours = HoursOut(
        source="requested.unpriced_milliseconds",
        help_text="of these without a price, so in no amount",
    )
    headroom = WholeUnitsOut(of="headroom")
    is_exceeding = serializers.BooleanField(help_text="exceeded, or expected to be")
    share_used = RatioOut(allow_null=True)
    share_of_time_gone = RatioOut(source="share_gone")
    chance_low = RatioOut(
        allow_null=True,
        source="chance.low",
        help_text="that it is exceeded; null without an interval",
    )
    chance_high = RatioOut(allow_null=True, source="chance.high")


class BudgetView(RestView):
    """Whoever reads sees those of their teams; finance, platform and `manage` tokens set them."""

    changes = (SetsBudgets,)

    def seen(self, budget_id: int) -> BudgetFact:
        """The budget, where the caller may see it."""
        return budget(budget_id, self.viewer().seen_teams)


class Budgets(BudgetView):
    """Every budget that the caller may see."""

    row = BudgetOut

    @extend_schema(operation_id="list_budgets", parameters=[*PAGES], responses=list_of(BudgetOut))
    def get(self, request: Request) -> Response:
        """Budgets by name, those that are over too."""
        Parameters.of(request)
        with reading_once():
            page = slice_of(
                budgets(self.viewer().seen_teams), parse_page_request(request), _by_name
            )
            return paged(request, page, serialize_budget)

    @extend_schema(
        operation_id="add_budget",
        parameters=[REPEAT_KEY],
        request=BudgetIn,
        responses={201: BudgetOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Set a budget; nothing is stopped by it."""
        budget_id = actions.add_budget(budget=parse_as(BudgetIn, request), at=timezone.now())
        return Response(serialize_budget(budget(budget_id, None)), status=201)


class OneBudget(BudgetView):
    """One budget."""

    @extend_schema(operation_id="budget", responses=BudgetOut)
    def get(self, request: Request, budget_id: int) -> Response:
        """A budget by its id."""
        Parameters.of(request)
        return Response(serialize_budget(self.seen(budget_id)))

    @extend_schema(operation_id="replace_budget", request=BudgetIn, responses=BudgetOut)
    def put(self, request: Request, budget_id: int) -> Response:
        """Set it anew as a whole; the audit trail keeps what it was."""
        actions.replace_budget(budget_id=budget_id, budget=parse_as(BudgetIn, request))
        return Response(serialize_budget(self.seen(budget_id)))

    @extend_schema(operation_id="remove_budget", responses={200: BudgetOut})
    def delete(self, request: Request, budget_id: int) -> Response:
        """Hold nothing against it any more; answers what it was."""
        Parameters.of(request)
        removed = serialize_budget(self.seen(budget_id))
        actions.remove_budget(budget_id=budget_id)
        return Response(removed)


class BudgetHeadroom(BudgetView):
    """The headroom that is left of a budget."""

    @extend_schema(operation_id="budget_headroom", responses=BudgetHeadroomOut)
    def get(self, request: Request, budget_id: int) -> Response:
        """Budget, what came, what is expected of the rest of the period, and what is then left."""
        Parameters.of(request)
        at = timezone.now()
        with reading_once():
            (figures,) = figures_of([self.seen(budget_id)], at)
            return Response(serialize_headroom(figures) | {"as_of": at})


def serialize_budget(fact: BudgetFact) -> dict[str, Any]:
    """A budget as REST answers it."""
    amounts = [step._asdict() for step in fact.steps]
    return serialize_as(
        BudgetOut, fields_of(fact) | {"of": fact.of, "unit": _unit_of(fact), "amounts": amounts}
    )


def serialize_headroom(figures: BudgetFigures) -> dict[str, Any]:
    """Its figures, in whole units."""
    fact = figures.budget
    is_money = fact.measure == MONEY
    provisional = to_major_units(fact.measure, figures.spent.provisional) if is_money else None
    return serialize_as(
        BudgetHeadroomOut,
        figures,
        unit=_unit_of(fact),
        basis="effective" if is_money else "held",
        as_of=None,
        last_day=figures.end_day - DAY,
        provisional=provisional,
    )


def _unit_of(fact: BudgetFact) -> str:
    return accounts.organisation().currency if fact.measure == MONEY else "GPU-hours"


def _by_name(fact: BudgetFact) -> tuple[str]:
    return (fact.name,)


def _key_named(scope: str, name: str) -> str:
    if scope in (ORGANISATION, TAG):
        return name
    teams = {team.id: team.name for team in accounts.teams()}
    if scope == TEAM:
        keys = [team_id for team_id, team in teams.items() if team == name]
    else:
        keys = [
            workload.id
            for workload in workloads.workloads().values()
            if name in (workload.name, f"{teams[workload.team_id]}/{workload.name}")
        ]
    if len(keys) != 1:
        many = "several are" if keys else f"no {scope} is"
        more = "; say TEAM/NAME" if keys else ""
        raise ValidationError({"of": [f"{many} named {name!r}{more}"]})
    return str(keys[0])
