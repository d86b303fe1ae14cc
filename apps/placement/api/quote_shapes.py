"""A quote over the wire: the job as it is asked, the offers as they are answered."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.accounts.queries import organisation
from apps.economics.gates import serialize_gates
from apps.economics.placement.estimates import LEAST_CHANCE
from apps.placement.api.offers import PriceRowOut, SpotEvidenceOut
from apps.placement.queries.quote_gates import gates_of_quote
from apps.placement.queries.quote_request import (
    INTERRUPTIBLE,
    JOB_KINDS,
    MOST_ASKED_GPUS,
    QuoteRequest,
    RequestedDataset,
    RequestedWork,
)
from apps.placement.queries.quotes import QuoteFact
from apps.web.rest.gates import GateOut
from apps.web.rest.money import MoneyOut, RatioOut
from apps.web.rest.pages import serialize_as
from apps.web.rest.strict import (
    IdInBody,
    Moment,
    OptionalText,
    StrictInteger,
    StrictSerializer,
    Text,
)

MOST_OFFERS = 300
LONGEST_LIST = 50
MOST_NUMBER = 1e30


def _number(least: float, most: float = MOST_NUMBER) -> serializers.FloatField:
    """A number that may be left out, or null: not known."""
    return serializers.FloatField(
        required=False, allow_null=True, default=None, min_value=least, max_value=most
    )


class WorkIn(StrictSerializer):
    """How much: `gpu_hours` (with least and most, `of_model`), `tokens` of a training, or as a run took; one of them."""

    gpu_hours = _number(1e-6)
    least_gpu_hours = _number(1e-6)
    most_gpu_hours = _number(1e-6)
    of_model = OptionalText()
    tokens = _number(1)
    parameters = _number(1)
    mfu = _number(1e-3, 1)
    like_run = IdInBody(required=False, allow_null=True, default=None)


class CheckpointIn(StrictSerializer):
    """The time that a checkpoint blocks, and how often one is written; null: not known. Without a cadence the best is advised."""

    write_seconds = _number(0, 86_400)
    cadence_seconds = _number(1, 86_400 * 30)


class DatasetIn(StrictSerializer):
    """Where the data lies, as `provider:region`, and how fast it can be moved (null: not known)."""

    place = Text()
    gigabytes = serializers.FloatField(min_value=0, max_value=1e12)
    gbps = _number(1e-6, 1e6)


class QuoteIn(StrictSerializer):
    """A job. What is assumed stands in where nothing was measured, and is named in the answer.

    `priority` is the scheduler's QOS: queue waits are of jobs of it, where ten or more started there in the last 14 days. `residency` are
    places, or beginnings of them that end in `-` or `:`. An offer with less than `least_chance` of the deadline is late.
    """

    gpus = StrictInteger(min_value=1, max_value=MOST_ASKED_GPUS)
    work = WorkIn()
    gpu_models = serializers.ListField(
        child=Text(), required=False, default=list, max_length=LONGEST_LIST
    )
    gpu_memory_gib = _number(0, 1e6)
    deadline = Moment(required=False, allow_null=True, default=None)
    checkpoint = CheckpointIn(required=False, allow_null=True, default=None)
    restart_seconds = serializers.FloatField(
        required=False, default=0.0, min_value=0, max_value=86_400
    )
    kind = serializers.ChoiceField(choices=list(JOB_KINDS), required=False, default=INTERRUPTIBLE)
    has_fallback = serializers.BooleanField(required=False, default=False)
    dataset = DatasetIn(required=False, allow_null=True, default=None)
    residency = serializers.ListField(
        child=Text(), required=False, default=list, max_length=LONGEST_LIST
    )
    team = OptionalText()
    priority = OptionalText()
    assumed_wait_minutes = _number(0, 1e6)
    assumed_interruptions_per_day = _number(0, 1e4)
    least_chance = serializers.FloatField(
        required=False, default=LEAST_CHANCE, min_value=0, max_value=1
    )
    limit = StrictInteger(min_value=1, max_value=MOST_OFFERS, required=False, default=20)


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


class BudgetLeftOut(serializers.Serializer[Any]):
    """The rest of a budget when its period goes on as expected, in money or GPU-hours; null: not known."""

    name = serializers.CharField()
    measure = serializers.CharField()
    left = serializers.FloatField(allow_null=True)
    end_day = serializers.DateField()


class OutcomeOut(serializers.Serializer[Any]):
    """The offer that was taken and what came of it; null: not yet."""

    offer = serializers.CharField()
    taken_at = serializers.DateTimeField()
    job = serializers.IntegerField(allow_null=True)
    run = serializers.IntegerField(allow_null=True)
    cost = MoneyOut(allow_null=True)
    hours = RatioOut(allow_null=True)
    gpu_hours = RatioOut(allow_null=True)
    interruptions = serializers.IntegerField(
        allow_null=True, help_text="times that its scheduler began it again, or that it ended so"
    )
    ended_at = serializers.DateTimeField(allow_null=True)


class QuoteOut(serializers.Serializer[Any]):
    """A quote as it was answered; `digest` is of everything that it was made from."""

    id = serializers.IntegerField()
    asked_at = serializers.DateTimeField()
    asked_by = serializers.CharField(allow_null=True)
    team = serializers.CharField(allow_null=True)
    gpus = serializers.IntegerField()
    work = serializers.CharField()
    deadline = serializers.DateTimeField(allow_null=True)
    book_made_at = serializers.DateTimeField()
    digest = serializers.CharField()
    cautions = serializers.ListField(
        child=serializers.CharField(), help_text="of all offers: that the book is old"
    )
    matched = serializers.IntegerField()
    refused = serializers.DictField(child=serializers.IntegerField())
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
    plain_fields = {
        name: body[name]
        for name in (
            "gpus",
            "gpu_memory_gib",
            "deadline",
            "restart_seconds",
            "kind",
            "has_fallback",
            "priority",
            "least_chance",
        )
    }
    checkpoint, data = body["checkpoint"] or {}, body["dataset"]
    return QuoteRequest(
        **plain_fields,
        work=RequestedWork(**body["work"]),
        gpu_models=tuple(body["gpu_models"]),
        write_seconds=checkpoint.get("write_seconds"),
        cadence_seconds=checkpoint.get("cadence_seconds"),
        dataset=RequestedDataset(**data) if data else None,
        residency=tuple(body["residency"]),
        team_id=team_id,
        assumed_wait_minutes=body["assumed_wait_minutes"],
        assumed_interruptions_per_day=body["assumed_interruptions_per_day"],
        limit=body["limit"],
    )


def serialize_quote(fact: QuoteFact) -> dict[str, Any]:
    """A quote without its offers."""
    return serialize_as(QuoteOut, _quote_fields(fact), organisation().currency)


def serialize_one_quote(fact: QuoteFact) -> dict[str, Any]:
    """A quote with its offers."""
    offers = {
        "offers": [_offer_left(offer) for offer in fact.offers],
        "budgets": [_budget_left(budget) for budget in fact.answer["budgets"]],
        "gates": serialize_gates(gates_of_quote(fact)),
    }
    return serialize_as(QuoteOneOut, _quote_fields(fact) | offers, organisation().currency)


UNITS = {"money": 1_000_000, "gpu_hours": 3_600_000}


def _budget_left(budget: Mapping[str, Any]) -> dict[str, Any]:
    left = budget["left"]
    return {**budget, "left": None if left is None else round(left / UNITS[budget["measure"]], 6)}


def _offer_left(offer: Mapping[str, Any]) -> dict[str, Any]:
    return {**offer, "budgets": [_budget_left(budget) for budget in offer["budgets"]]}


def _quote_fields(fact: QuoteFact) -> dict[str, Any]:
    outcome = None
    if fact.taken_at is not None:
        outcome = {
            "offer": fact.chosen,
            "taken_at": fact.taken_at,
            "job": fact.taken_by_job_id,
            "run": fact.taken_by_run_id,
            "cost": fact.actual_micros,
            "hours": fact.actual_hours,
            "gpu_hours": fact.actual_gpu_hours,
            "interruptions": fact.actual_interruptions,
            "ended_at": fact.ended_at,
        }
    return {
        "id": fact.id,
        "asked_at": fact.asked_at,
        "asked_by": fact.asked_by,
        "team": fact.team,
        "gpus": fact.job["gpus"],
        "work": fact.answer["work"],
        "deadline": fact.job["deadline"],
        "book_made_at": fact.answer["book_made_at"],
        "digest": fact.digest,
        "cautions": fact.answer.get("cautions", []),
        "matched": fact.answer["matched"],
        "refused": fact.answer["refused"],
        "outcome": outcome,
    }
