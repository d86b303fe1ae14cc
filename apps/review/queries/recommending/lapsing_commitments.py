"""Commitments that end soon and cost more than what they covered would have by the hour: to be let lapse."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from django.urls import reverse

from apps.economics.moves.disruption import DisruptionClass
from apps.economics.moves.saving import (
    MONTH_HOURS,
    WEEK_HOURS,
    SavingRange,
    mean_with_ends,
    monthly,
)
from apps.ledger.queries.commitments import Figures, commitment_use, total
from apps.placement.queries.moves.work import FleetWork
from apps.pricing.queries.commitments import CommitmentFact
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommending.proposal import (
    DetectedKind,
    RecommendationProposal,
    commitment_cell,
    effort_cost,
)
from apps.review.queries.recommending.weeks import weekly_detector

KIND = "let_lapse"
ENDS_WITHIN = timedelta(weeks=13)
EFFORT_HOURS = 1
COMPUTED = (
    "What it costs in a month, used and unused, less what the use that it covered would cost by the hour: the mean of the last weeks, and 1.28"
    " standard errors of it below and above. It is saved from the day on which it ends"
)


@weekly_detector(KIND, "commitments in force")
def detect_lapsing(detected: DetectedKind, work: FleetWork, at: datetime) -> None:
    """Every commitment that is in force; those are proposed that end within 13 weeks and save nothing."""
    cuts = [*(week.starts_at for week in work.span.weeks), work.span.weeks[-1].ends_at]
    use = commitment_use(cuts, at)
    for fact in use.commitments.values():
        weeks = [use.of.get((fact.id, place), Figures()) for place in range(len(cuts) - 1)]
        whole_weeks = [
            week
            for week, (starts_at, _) in zip(weeks, pairwise(cuts), strict=True)
            if fact.starts_at <= starts_at
        ]
        if fact.ends_at <= at:
            continue
        if why := _why_not(fact, whole_weeks, at):
            detected.pass_over(why, str(fact.id))
        else:
            detected.propose(_proposal_of(fact, whole_weeks, work))


def _why_not(fact: CommitmentFact, weeks: Sequence[Figures], at: datetime) -> str:
    of_all = total(weeks)
    if fact.ends_at - at > ENDS_WITHIN:
        return "it ends in more than 13 weeks"
    if not of_all.bought:
        return "it was not charged for a whole week yet"
    if of_all.saved is None:
        return "what it costs, or what it covered would cost by the hour, is not known"
    if of_all.saved >= 0:
        return "it costs no more than its use would by the hour"
    return ""


def _proposal_of(
    fact: CommitmentFact, weeks: Sequence[Figures], work: FleetWork
) -> RecommendationProposal:
    of_all = total(weeks)
    hours = len(weeks) * WEEK_HOURS
    spend = monthly(of_all.cost or 0, hours)
    ends = mean_with_ends([-(week.saved or 0) for week in weeks])
    saving = SavingRange(*(round(end * MONTH_HOURS / WEEK_HOURS) for end in ends)).capped(spend)
    used = float(of_all.utilisation or 0)
    doubts = [_describe_best_week(weeks)]
    if len(weeks) == 1:
        doubts.append("only one week of it is known")
    if fact.kind == "capacity_block":
        doubts.append("a capacity block is not renewed by itself")
    return RecommendationProposal(
        key=str(fact.id),
        title=f"Let {fact.name} lapse on {fact.ends_at:%-d %B %Y}",
        subject=fact.name,
        team_id=None,
        workload_id=None,
        pool_id=fact.pool_id,
        spend_micros=spend,
        saving=saving,
        effort_hours=EFFORT_HOURS,
        risk=DisruptionClass.LOW,
        risk_reason="no work moves; should use rise again, it is paid by the hour",
        why=f"{used:.0%} of it was used: by the hour that use would have cost less than the commitment does.",
        computed=COMPUTED,
        cells=frozenset([commitment_cell(fact.id)]),
        evidence=_evidence_of(fact, of_all, work),
        doubts=tuple(doubts),
        one_time_micros=effort_cost(EFFORT_HOURS),
        baseline={
            "ends_at": fact.ends_at.isoformat(),
            "utilisation": used,
            "cost_micros_month": spend,
        },
    )


def _describe_best_week(weeks: Sequence[Figures]) -> str:
    best = max(float(week.utilisation or 0) for week in weeks)
    return (
        f"looked for weeks in which it was worth it, in the last {7 * len(weeks)} days: in the best of them {best:.0%}"
        " of it was used"
    )


def _evidence_of(
    fact: CommitmentFact, of_all: Figures, work: FleetWork
) -> tuple[RecommendationEvidence, ...]:
    page = reverse("commitment", args=[fact.id])
    span = work.span.window
    evidence = [
        RecommendationEvidence(
            "Used",
            f"{float(of_all.utilisation or 0):.1%} of it since {span.first_day:%-d %B %Y}",
            page,
        ),
        RecommendationEvidence("Ends", f"{fact.ends_at:%-d %B %Y}", page),
    ]
    if of_all.break_even is not None:
        evidence.append(
            RecommendationEvidence(
                "Worth its price",
                f"from {float(of_all.break_even):.1%} used on",
                page,
                is_price=True,
            )
        )
    return tuple(evidence)
