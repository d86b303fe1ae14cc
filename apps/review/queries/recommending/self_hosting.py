"""Kept comparisons that now advise to serve oneself what is bought from an API."""

from datetime import datetime

from django.urls import reverse

from apps.accounts.queries import organisation
from apps.economics.money import MICROS
from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.saving import SavingRange
from apps.placement.queries.moves.work import FleetWork
from apps.planning.queries.crossover import SavedScenarioFact, ScenarioRunFact, saved_scenarios
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    api_cell,
    effort_cost,
)
from apps.review.queries.recommending.weeks import weekly_detector
from apps.review.queries.recommending.workload_totals import charged_for_calls
from apps.workloads.queries import workloads

KIND = "to_self_host"
EFFORT_HOURS = 80
"""To serve a model oneself, with a place, a release and somebody on call: ours, not measured."""
COMPUTED = (
    "What the comparison saves by serving it oneself, fully loaded, at its 10th, 50th and 90th percentile; none above what calls were"
    " charged in the last weeks, brought to a month"
)


@weekly_detector(KIND, "kept comparisons with an API")
def detect_self_hosting(detected: DetectedKind, work: FleetWork, _: datetime) -> None:
    """Every kept comparison; those are proposed that advise to serve oneself and whose calls are on record."""
    paid = charged_for_calls(work)
    for scenario in saved_scenarios(None):
        run = scenario.answered
        if run is None:
            detected.pass_over("it has no answer yet", str(scenario.id))
        elif run.advice != "self_host":
            detected.pass_over("it does not advise to serve it oneself", str(scenario.id))
        elif not paid.get(scenario.service_id or 0):
            detected.pass_over("no calls of its service are on record", str(scenario.id))
        elif run.answer.get("currency") != organisation().currency:
            detected.pass_over("it is in another currency", str(scenario.id))
        else:
            _propose_for(detected, scenario, run, paid[scenario.service_id or 0])


def _propose_for(
    detected: DetectedKind, scenario: SavedScenarioFact, run: ScenarioRunFact, spend: int
) -> None:
    ends = [run.figure("uncertainty", "savings", name) for name in ("p10", "p50", "p90")]
    if any(end is None for end in ends):
        detected.pass_over("its answer has no range of savings", str(scenario.id))
        return
    low, likely, high = (round(float(end) * MICROS) for end in ends)
    service = workloads()[scenario.service_id or 0]
    detected.propose(
        RecommendationProposal(
            key=str(scenario.id),
            title=f"Serve {service.name} yourself",
            subject=service.name,
            team_id=service.team_id,
            workload_id=service.id,
            pool_id=None,
            spend_micros=spend,
            saving=SavingRange(low, likely, high).capped(spend),
            effort_hours=EFFORT_HOURS,
            risk=DisruptionClass.HIGH,
            risk_reason="every answer comes from another model, and somebody has to run it",
            why=_describe_flip(scenario),
            computed=COMPUTED,
            cells=frozenset([api_cell(service.id)]),
            evidence=(
                RecommendationEvidence(
                    f"The comparison {scenario.name}",
                    f"run on {run.ran_at:%-d %B %Y}",
                    reverse("crossover", args=[scenario.id]),
                ),
            ),
            doubts=("quality of answers is not compared",),
            one_time_micros=effort_cost(EFFORT_HOURS),
            baseline={"api_micros_month": spend},
        )
    )


def _describe_flip(scenario: SavedScenarioFact) -> str:
    if scenario.flipped is None:
        return "Serving it oneself costs less than its calls do."
    moved = ", ".join(str(figure["name"]) for figure in scenario.flipped.moved[:3])
    why = f" as {moved} moved" if moved else ""
    return f"The comparison’s recommendation changed on {scenario.flipped.ran_at:%-d %B %Y}{why}: serving it oneself costs less now."
