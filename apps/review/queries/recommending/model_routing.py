"""Calls to a model that costs more, for what a cheaper one is in use too and answers as well."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.saving import SavingRange
from apps.ledger.queries.api_spend import Spend
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.called_models import (
    CalledFor,
    CalledModel,
    CalledWeeks,
    called_weeks,
    month_of_weeks,
    unknown_reason,
    use_of,
)
from apps.review.queries.recommending.proposal import (
    ASSUMED,
    DetectedKind,
    RecommendationProposal,
    api_cell,
    effort_cost,
)
from apps.workloads.queries import WorkloadFact, workloads

KIND = "model_routing"
FEATURES = "features of workloads that call model APIs"
EFFORT_HOURS = 16
"""To evaluate the cheaper model on it, and to route: ours, not measured."""
CHEAPER_BY = 0.2
FAILS_MORE = 0.005
"""Of calls: a model that fails so much more often does not answer as well."""
MOVED = (0.25, 0.5, 1.0)
"""Of the calls, how many can be moved: at least, likely, at most. A choice of ours."""
COMPUTED = (
    "What its calls to the model that costs more were charged in a month, less what they would have been on the cheaper one, by its price of their tokens and by what"
    " its own calls cost, whichever saves less. A quarter of the calls are moved at the low end, half likely, all of them at the high end"
)


@dataclass(frozen=True, slots=True)
class RoutedCalls:
    """Calls for one thing to a model, a cheaper one that is in use for it, and what four weeks would cost there."""

    model: CalledModel
    called: Spend
    cheaper: CalledModel
    there: Spend
    micros_there: float

    @property
    def saved(self) -> float:
        """Were all of them moved, in micro-units of four weeks."""
        return (self.called.micros or 0) - self.micros_there


def detect_routing(at: datetime) -> DetectedKind:
    """Every feature with calls; where a cheaper model is in use for it that fails no more often, more is to be sent there."""
    detected = DetectedKind(KIND, FEATURES)
    weeks, workloads_by_id = called_weeks(at), workloads()
    for what, models in weeks.uses.items():
        key = f"{what.workload_id}:{what.feature}"
        routed = _best_route(what, models, weeks)
        if isinstance(routed, str):
            detected.pass_over(routed, key)
        elif what.workload_id in workloads_by_id:
            detected.propose(_proposal_of(key, workloads_by_id[what.workload_id], what, routed))
    return detected


def _best_route(
    what: CalledFor, models: Mapping[CalledModel, Spend], weeks: CalledWeeks
) -> RoutedCalls | str:
    """Of all pairs the one that saves most; or why there is none."""
    if what.workload_id is None:
        return unknown_reason(what, next(iter(models.values())))
    if len(models) == 1:
        return "one model alone is in use for it"
    if not what.feature:
        return "its calls name no feature: whether they ask for the same is not known"
    usable = {model: called for model, called in models.items() if not unknown_reason(what, called)}
    if len(usable) == 1 or not usable:
        whys = [unknown_reason(what, called) for called in models.values()]
        return next(why for why in whys if why)
    pairs = [
        RoutedCalls(model, called, cheaper, there, _micros_there(called, there, cheaper, weeks))
        for model, called in usable.items()
        for cheaper, there in usable.items()
        if model != cheaper
    ]
    cheap = [pair for pair in pairs if pair.saved >= CHEAPER_BY * (pair.called.micros or 0)]
    if not cheap:
        return "its models cost about the same for it"
    good = [pair for pair in cheap if _failed(pair.there) <= _failed(pair.called) + FAILS_MORE]
    if not good:
        return "its cheaper model fails more often"
    return max(good, key=lambda pair: (pair.saved, pair.model))


def _micros_there(called: Spend, there: Spend, cheaper: CalledModel, weeks: CalledWeeks) -> float:
    """The dearer of both ways to say it: its price of the same tokens, or what as many of its own calls cost."""
    by_calls = (there.micros or 0) / there.requests * called.requests
    prices = weeks.prices.get(cheaper)
    by_tokens = None if prices is None else prices.cost(use_of(called))
    return max(by_calls, by_tokens or 0.0)


def _failed(called: Spend) -> float:
    """The part of its calls that came to nothing, rate limits aside."""
    return (called.server_errors + called.other_errors) / called.requests


def _proposal_of(
    key: str, workload: WorkloadFact, what: CalledFor, routed: RoutedCalls
) -> RecommendationProposal:
    spend = month_of_weeks(routed.called.micros or 0)
    saving = SavingRange(*(month_of_weeks(routed.saved * part) for part in MOVED)).capped(spend)
    name = f"{workload.name}, {what.feature}"
    return RecommendationProposal(
        key=key,
        title=f"Send more of {name} to {routed.cheaper.model}",
        subject=name,
        team_id=workload.team_id,
        workload_id=workload.id,
        pool_id=None,
        spend_micros=spend,
        saving=saving,
        effort_hours=EFFORT_HOURS,
        risk=DisruptionClass.HIGH,
        risk_reason="another model answers: whether as well is for its owner to evaluate",
        why=f"{routed.called.requests:,} calls went to {routed.model.label} and {routed.there.requests:,} to {routed.cheaper.label}, which is in use for the"
        f" same, costs {routed.saved / (routed.called.micros or 1):.0%} less and fails no more often.",
        computed=COMPUTED,
        cells=frozenset([api_cell(workload.id)]),
        evidence=(
            *(
                _calls_evidence(model, called)
                for model, called in (
                    (routed.model, routed.called),
                    (routed.cheaper, routed.there),
                )
            ),
            RecommendationEvidence(
                "A thousand calls",
                f"{_thousand(routed.called):,.4f} and {_thousand(routed.there):,.4f}",
                is_price=True,
            ),
        ),
        doubts=(
            f"looked for more failures of the cheaper model in four weeks: {_failed(routed.there):.2%} of its calls, {_failed(routed.called):.2%} of the others",
            "calls that are answered are counted, not how good answers are",
        ),
        one_time_micros=effort_cost(EFFORT_HOURS),
        baseline={
            "model": routed.model.model,
            "cheaper": routed.cheaper.model,
            "requests": routed.called.requests,
        },
        range_basis=ASSUMED,
    )


def _calls_evidence(model: CalledModel, called: Spend) -> RecommendationEvidence:
    failed = f"{_failed(called):.2%} failed"
    return RecommendationEvidence(
        f"Calls to {model.label} in four weeks",
        f"{called.requests:,}, {failed}",
        reverse("api-spend"),
    )


def _thousand(called: Spend) -> float:
    """In the organisation's currency."""
    return (called.micros or 0) / called.requests / 1_000
