"""A whole weekly review of many workloads, made by hand, as a document is made of it."""

from dataclasses import replace
from datetime import UTC, date, datetime

from apps.review.queries.weekly.content import (
    BudgetsWeek,
    CommitmentsWeek,
    DataQualityWeek,
    ForecastAgainstWeek,
    IdleNumbers,
    PreviousReview,
    ReviewedBudget,
    ReviewedCommitment,
    WeekCost,
    WeeklyContent,
    WeekVariance,
    WorkloadVerdict,
)
from apps.review.queries.weekly.content_to_do import (
    ProvenSaving,
    RecommendationsWeek,
    ReviewedMatter,
    ReviewedRecommendation,
)
from apps.review.queries.weekly.headline import review_title
from apps.review.queries.weekly.paper import ReviewPaper
from apps.review.queries.weekly.review_words import SECTIONS
from apps.review.queries.weekly.stored_reviews import StoredReview
from tests.apps.review import reviews

VERDICTS = (
    ("earns", "It returned $1.4k to $2.1k in four weeks, and cost $1.1k"),
    ("shrink", "41 % of its cost was idle while allocated in four weeks of four"),
    ("retire", "No request came in four weeks, and nobody stated what it is worth"),
    ("unknown", "Nobody stated what one of its units is worth"),
)
SITE = "https://runrate.example.org"


def whole_review(count: int) -> WeeklyContent:
    """A review of so many workloads of 40 teams, every section with something in it."""
    workloads = tuple(_workload(place, count) for place in range(count))
    costs = [each.cost.micros or 0 for each in workloads]
    cost, before = sum(costs) + 5_000_000, 31_000_000_001
    teams = tuple(
        reviews.team(
            number,
            name=f"Research group {number}",
            cost=WeekCost(sum(costs[number - 1 :: 40]), "estimated"),
        )
        for number in range(1, min(count, 40) + 1)
    )
    causes = {"volume": 2_000_000_333, "price": -300_000_777, "efficiency": 12_000_001}
    causes["other"] = cost - before - sum(causes.values())
    content = reviews.content(
        *workloads,
        sections=tuple(SECTIONS),
        cost=WeekCost(cost, "estimated", 72_000_000, 4_000_000, 7_200_000, time_ms=10**12),
        trend=(None, *range(20_000_000_000, 26_000_000_000, 10**9), cost),
        trend_weeks=tuple(f"2026-W{number}" for number in range(23, 31)),
        waste_micros=cost // 4,
        diverged_micros=123_456_789,
        variance=WeekVariance(before, cost, causes),
        idle=IdleNumbers(
            {"idle_while_allocated": 900_000_000, "unallocated": 400_000_000},
            {
                "idle_while_allocated": 3_600_000_000,
                "unallocated": 1_800_000_000,
                "stranded": 7_200,
            },
        ),
        teams=teams,
        no_workload_micros=5_000_000,
        previous=PreviousReview("2026-W29", 1, "ab" * 32, before, 1),
        **_around(cost),
    )
    return replace(content, title=review_title(content))


def paper_of(content: WeeklyContent, **said: object) -> ReviewPaper:
    """As it would be kept and sent."""
    kept = StoredReview(
        1, content.week, date.fromisoformat(content.first_day), 1, 1,
        datetime(2026, 7, 27, 5, tzinfo=UTC), None, "", "9f86d081" * 8, content,
    )  # fmt: skip
    paper = ReviewPaper(kept, {7: "Petra Platform"}, "Acme GmbH", SITE)
    return replace(paper, **said)  # type: ignore[arg-type]


def _workload(place: int, count: int) -> reviews.ReviewedWorkload:
    verdict, reason = VERDICTS[place % 4]
    cost = (count - place) * 31_415_927 // 10
    return reviews.workload(
        place + 1,
        place % 40 + 1,
        name=f"fine-tuning of model {place:04} <b>&",
        team=f"Research group {place % 40 + 1}",
        cost=WeekCost(None if place % 97 == 96 else cost, "estimated", time_ms=1),
        trend=(None,) * 6 + (cost * 9 // 10, cost),
        verdict=WorkloadVerdict(verdict, reason, 4),
        returned=reviews.VALUED if place % 3 == 0 else None,
        scores=(reviews.SCORED,) if place % 2 == 0 else (),
    )


def _around(cost: int) -> dict[str, object]:
    """What surrounds the workloads."""
    return {
        "commitments": CommitmentsWeek(
            (
                ReviewedCommitment(
                    1, "8 × H100 for a year", 0.93, None, 9_000_000_000, 2_000_000_000,
                    630_000_000, "2026-09-01", 36,
                ),
                ReviewedCommitment(2, "A100 reservation", None, None, None, None, None, "", None),
            ),
            0.71, 0.93, 0.7, 0.95,
        ),
        "budgets": BudgetsWeek(
            (
                ReviewedBudget(1, "Research, monthly", "money", (1,), "2026-07-01/2026-08-01", 10**11,
                               9 * 10**10, 11 * 10**10, -(10**10), 0.87, 0.87, "forecast", "2026-07-29"),
                ReviewedBudget(2, "GPU-hours of all", "gpu_hours", (), "2026-07-01/2026-08-01", 36 * 10**11,
                               10**11, None, None, None, None, "run rate"),
            ),
            30 * 10**9,
            None,
            ForecastAgainstWeek("2026-07-19T06:00:00+00:00", "forecast", cost - 10**8, cost - 2 * 10**8,
                                cost + 10**8, cost, 0.02),
        ),
        "matters": (
            ReviewedMatter("budget_forecast", "Research will exceed its budget on Wed 29 July",
                           "warning", 1, "2026-07-24T10:00:00+00:00", "/alerts/3"),
        ),
        "recommendations": RecommendationsWeek(
            (
                ReviewedRecommendation(1, "Give back 6 GPUs that are idle while allocated",
                                       "idle_holder", "claimed", 1, 7, 10**9, 3 * 10**9, 12,
                                       "2026-08-03", "/recommendations/1"),
                ReviewedRecommendation(2, "Let the A100 reservation lapse", "lapse", "open", None,
                                       None, None, None, 40, "", "/recommendations/2"),
            ),
            (
                ProvenSaving(3, "Moved evaluation to spot", 1, "verified", 10**9, 2 * 10**9,
                             1_234_560_000, "2026-07-20", "/recommendations/3"),
                ProvenSaving(4, "Smaller GPU for embeddings", 1, "failed", 10**8, 2 * 10**8, 0,
                             "2026-07-21", "/recommendations/4"),
            ),
            is_known=True,
        ),
        "data_quality": DataQualityWeek(0.93, 0.98, 72_000_000, 0, 5_000_000, 7_200_000, 2, 1, 9, 4),
    }  # fmt: skip
