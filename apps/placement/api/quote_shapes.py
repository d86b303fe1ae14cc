"""A quote over the wire: the job as it is asked, the offers as they are answered."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.accounts.queries import organisation
from apps.economics.gates import serialize_gates
from apps.placement.api.offers import PriceRowOut, SpotEvidenceOut
from apps.placement.queries.quote_gates import gates_of_quote
from apps.placement.queries.quote_request import (
    QuoteRequest,
    RequestedDataset,
    RequestedWork,
)
from apps.placement.queries.quotes import QuoteFact
from apps.web.rest.gates import GateOut
from apps.web.rest.money import MoneyOut, RatioOut
from apps.web.rest.pages import serialize_as
from apps.web.rest.shapes import Body, BodyFields
from apps.web.rest.strict import (
    IdInBody,
    OptionalText,
    StrictSerializer,
    Text,
)

MOST_NUMBER = 1e30


def _number(least: float, most: float = MOST_NUMBER) -> serializers.FloatField:
    """A number that may be left out, or null: not known."""
    return serializers.FloatField(
        required=False, allow_null=True, default=None, min_value=least, max_value=most
    )


class WorkIn(Body[RequestedWork]):
    """How much: `gpu_hours` (with least and most, `of_model`), `tokens` of a training, or as a run took; one of them."""

    like_run = IdInBody(required=False, allow_null=True, default=None)


class CheckpointIn(StrictSerializer):
    """The time that a checkpoint blocks, and how often one is written; null: not known. Without a cadence the best is advised."""

    write_seconds = _number(0, 86_400)
    cadence_seconds = _number(1, 86_400 * 30)


class DatasetIn(Body[RequestedDataset]):
    """Where the data lies, as `provider:region`, and how fast it can be moved (null: not known)."""


class QuoteIn(BodyFields[QuoteRequest]):
    """A job. What is assumed stands in where nothing was measured, and is named in the answer.

    `priority` is the scheduler's QOS: queue waits are of jobs of it, where ten or more started there in the last 14 days. `residency` are
    places, or beginnings of them that end in `-` or `:`. An offer with less than `least_chance` of the deadline is late.
    """

    without = ("write_seconds", "cadence_seconds", "team_id")
    work = WorkIn()
    checkpoint = CheckpointIn(required=False, allow_null=True, default=None)
    dataset = DatasetIn(required=False, allow_null=True, default=None)
    team = OptionalText()


class CostRangeOut(serializers.Serializer[Any]):
    """The likely cost, between a low and a high end of work, price and interruptions together."""

    low = MoneyOut()
    likely = MoneyOut()
    high = MoneyOut()


class BudgetAfterOut(serializers.Serializer[Any]):
    """The rest of a budget after an offer, in money or GPU-hours, below 0 where it exceeds it; null: not known."""

    name = serializers.CharField()
    measure = serializers.CharField()
    left = serializers.FloatField(allow_null=True)


class QuotedOfferOut(serializers.Serializer[Any]):
    """A job on one offer; null: not known, `unknown` says why.

    `standing` is meets, finish_unknown, late or cost_unknown, in which order offers are. `cost` is what the job adds, egress included;
    `charged` what the ledger will say, of GPUs that are paid anyway their price. Hours count from when it was asked.
    """

    key = serializers.CharField()
    name = serializers.CharField()
    option = serializers.CharField()
    provider = serializers.CharField()
    region = serializers.CharField()
    instance_type = serializers.CharField()
    gpu_model = serializers.CharField()
    nodes = serializers.IntegerField()
    standing = serializers.CharField()
    cost = CostRangeOut(allow_null=True, source="cost_micros")
    compute = CostRangeOut(allow_null=True, source="compute_micros")
    charged = MoneyOut(allow_null=True, source="charged_micros")
    finish_hours = RatioOut(allow_null=True)
    late_finish_hours = RatioOut(allow_null=True, help_text="with long waits and much work")
    deadline_chance = RatioOut(allow_null=True)
    interruptions = RatioOut(allow_null=True)
    cadence_seconds = RatioOut(allow_null=True)
    egress = MoneyOut(allow_null=True, source="egress_micros")
    transfer_hours = RatioOut(allow_null=True)
    wait_hours = RatioOut(allow_null=True)
    gpu_hours = RatioOut(allow_null=True)
    kilowatt_hours = RatioOut(allow_null=True)
    energy_words = serializers.CharField(help_text="by which power the energy is counted")
    rented_gpus = serializers.IntegerField(
        allow_null=True, help_text="GPUs that are paid for: machines of the market are rented whole"
    )
    paid_anyway = MoneyOut(
        allow_null=True,
        source="paid_anyway_micros",
        help_text="what GPUs that are owned or bought ahead cost in these hours whether the job runs or not",
    )
    budgets = BudgetAfterOut(many=True, help_text="what the offer would leave of each")
    evidence = SpotEvidenceOut(
        allow_null=True,
        help_text="of interruptions; null where none was measured, or none is needed",
    )
    price_rows = PriceRowOut(many=True)
    reasons = serializers.ListField(child=serializers.CharField())
    cautions = serializers.ListField(child=serializers.CharField())
    unknown = serializers.ListField(child=serializers.CharField())


class BudgetLeftOut(BudgetAfterOut):
    """The rest of a budget when its period goes on as expected, in money or GPU-hours; null: not known."""

    end_day = serializers.DateField()


class OutcomeOut(serializers.Serializer[Any]):
    """The offer that was taken and what came of it; null: not yet."""

    offer = serializers.CharField(source="chosen")
    taken_at = serializers.DateTimeField()
    job = serializers.IntegerField(allow_null=True, source="taken_by_job_id")
    run = serializers.IntegerField(allow_null=True, source="taken_by_run_id")
    cost = MoneyOut(allow_null=True, source="actual_micros")
    hours = RatioOut(allow_null=True, source="actual_hours")
    gpu_hours = RatioOut(allow_null=True, source="actual_gpu_hours")
    interruptions = serializers.IntegerField(
        allow_null=True,
        source="actual_interruptions",
        help_text="times that its scheduler began it again, or that it ended so",
    )
    ended_at = serializers.DateTimeField(allow_null=True)


class QuoteOut(serializers.Serializer[Any]):
    """A quote as it was answered; `digest` is of everything that it was made from."""

    id = serializers.IntegerField()
    asked_at = serializers.DateTimeField()
    asked_by = serializers.CharField(allow_null=True)
    team = serializers.CharField(allow_null=True)
    gpus = serializers.IntegerField(source="job.gpus")
    work = serializers.CharField(source="answer.work")
    deadline = serializers.DateTimeField(allow_null=True, source="job.deadline")
    book_made_at = serializers.DateTimeField(source="answer.book_made_at")
    digest = serializers.CharField()
    cautions = serializers.ListField(
        child=serializers.CharField(), help_text="of all offers: that the book is old"
    )
    matched = serializers.IntegerField(source="answer.matched")
    refused = serializers.DictField(child=serializers.IntegerField(), source="answer.refused")
    outcome = OutcomeOut(allow_null=True)


class QuoteOneOut(QuoteOut):
    """With its offers and budgets."""

    budgets = BudgetLeftOut(many=True)
    gates = GateOut(many=True, help_text="what the first offer was held against")
    offers = QuotedOfferOut(many=True)


class TakenIn(StrictSerializer):
    """The offer that was taken, by a job or a run, by its id; one of them."""

    offer = Text(max_length=500)
    job = IdInBody(required=False, allow_null=True, default=None)
    run = IdInBody(required=False, allow_null=True, default=None)


def parse_quote_request(body: Mapping[str, Any], team_id: int | None) -> QuoteRequest:
    """A parsed body as what is asked."""
    fields = {name: value for name, value in body.items() if name not in ("team", "checkpoint")}
    return QuoteRequest(**fields, **(body["checkpoint"] or {}), team_id=team_id)


def serialize_quote(fact: QuoteFact) -> dict[str, Any]:
    """A quote without its offers."""
    return serialize_as(QuoteOut, fact, organisation().currency)


def serialize_one_quote(fact: QuoteFact) -> dict[str, Any]:
    """A quote with its offers."""
    return serialize_as(
        QuoteOneOut,
        fact,
        organisation().currency,
        offers=[_offer_left(offer) for offer in fact.offers],
        budgets=[_budget_left(budget) for budget in fact.answer["budgets"]],
        gates=serialize_gates(gates_of_quote(fact)),
    )


UNITS = {"money": 1_000_000, "gpu_hours": 3_600_000}


def _budget_left(budget: Mapping[str, Any]) -> dict[str, Any]:
    left = budget["left"]
    return {**budget, "left": None if left is None else round(left / UNITS[budget["measure"]], 6)}


def _offer_left(offer: Mapping[str, Any]) -> dict[str, Any]:
    return {**offer, "budgets": [_budget_left(budget) for budget in offer["budgets"]]}
