"""The facts that workloads are judged by, for the review and for what is recommended alike."""

from collections.abc import Sequence
from math import isfinite

from apps.economics.money import MICROS, sum_of_known
from apps.economics.portfolio_verdict import WorkloadFacts
from apps.ledger.queries.cube import CubeSums
from apps.review.queries.weekly.content import ReviewedScore
from apps.review.queries.weekly.judging import JudgedWorkload
from apps.review.queries.weekly.output import returned
from apps.review.queries.weekly.week_costs import observed_waste_micros, time_of
from apps.review.queries.weekly.week_reading import ScorePairs, WeekRead
from apps.workloads.queries import WorkloadFact, workloads
from apps.workloads.queries.returns import ScoreReading

SHOWN_PER = 1_000
"""Pages say a score for so many units of currency."""


def shown_workloads(read: WeekRead) -> list[WorkloadFact]:
    """Those with any line in eight weeks, or with a stated value."""
    shown = {*read.costs.workloads, *read.costs.workload_costs, *read.outputs.values}
    return [fact for fact in workloads().values() if fact.id in shown]


def judged_workload(read: WeekRead, workload_id: int) -> JudgedWorkload:
    """Return the facts that a workload's verdict is made of."""
    sums = read.costs.workloads.get(workload_id, {})
    lately = read.costs.lately(sums, read.verdict_weeks)
    cost = sum_of_known(week_sums.micros for week_sums in lately) if lately else 0
    worth = returned(read.outputs, workload_id, read.costs, read.verdict_weeks)
    waste = observed_waste_micros(read.costs.longer_waste.get(workload_id), lately)
    range_ = None
    if worth is not None and worth.count is not None:
        range_ = (worth.returned_low_micros or 0, worth.returned_high_micros or 0)
    return JudgedWorkload(
        facts=WorkloadFacts(
            cost=cost,
            waste=waste,
            coverage=_coverage(lately, read.costs.longer_provisional_ms.get(workload_id, 0)),
            worth=range_,
            has_value=worth is not None,
        ),
        weeks=read.verdict_weeks,
        currency=read.ours.currency,
        returned=worth,
        scores=_scores(read.scores.get(workload_id, {}), cost),
        diverged_micros=read.diverged.longer_by_workload.get(workload_id, 0),
    )


def _coverage(lately: Sequence[CubeSums], provisional_ms: int) -> float | None:
    """The part of its time that is in its cost, settled and priced; None without any time, as of calls to an API.

    What it returned is of all of its time: held against the cost of a part it would earn what it does not.
    """
    settled = sum(map(time_of, lately))
    unpriced = sum(week_sums.unpriced_milliseconds for week_sums in lately)
    total = settled + provisional_ms
    return (settled - unpriced) / total if total else None


def _scores(pairs: ScorePairs, cost: int | None) -> tuple[ReviewedScore, ...]:
    """Beside what it cost: a score for each unit of currency, where more of it is better."""
    return tuple(
        ReviewedScore(
            name=name,
            value=newest.value,
            higher_is_better=newest.higher_is_better,
            at=newest.at.isoformat(),
            source=newest.source,
            run=newest.run,
            before=None if before is None else before.value,
            per_dollar=_per_dollar(newest, cost),
        )
        for name, (newest, before) in sorted(pairs.items())
        if newest is not None
    )


def _per_dollar(score: ScoreReading, cost: int | None) -> float | None:
    """None also where a score is so large that the ratio, as it is shown, is more than a number holds."""
    if not cost or cost < 0 or not score.higher_is_better:
        return None
    ratio = score.value / cost * MICROS
    return ratio if isfinite(ratio * SHOWN_PER) else None
