"""What a weekly review says: a week of one team, without workloads."""

from apps.review.queries.weekly.content import (
    DataQualityWeek,
    IdleNumbers,
    PreviousReview,
    ReviewedTeam,
    WeekCost,
    WeeklyContent,
    WeekVariance,
)
from apps.review.queries.weekly.review_words import SECTIONS

COST = WeekCost(41_302_170_000, "estimated", time_ms=90_720_000_000)
VARIANCE = WeekVariance(
    39_850_000_000,
    41_302_170_000,
    {
        "price": 302_170_000,
        "capacity": 1_350_000_000,
        "mix": -90_000_000,
        "use": -110_000_000,
        "commitments": 0,
        "other": 0,
    },
)
IDLE = IdleNumbers(
    {"idle_while_allocated": 4_120_000_000, "unallocated": 5_750_120_000},
    {"idle_while_allocated": 6_480_000_000, "unallocated": 9_072_000_000},
)
TREND = (None, None, None, None, 38_120_000_000, 39_410_000_000, 39_850_000_000, 41_302_170_000)
FROZEN_WEEK = WeeklyContent(
    week="2026-W30",
    first_day="2026-07-20",
    end_day="2026-07-27",
    zone="Europe/Berlin",
    currency="USD",
    basis="effective",
    made_at="2026-07-27T05:00:00+00:00",
    title="Week 2026-W30 cost $41.3k, +3.6 % against the week before; 24 % of it was waste",
    sections=tuple(SECTIONS),
    cost=COST,
    trend=TREND,
    trend_weeks=tuple(f"2026-W{week}" for week in range(23, 31)),
    waste_micros=9_870_120_000,
    diverged_micros=None,
    variance=VARIANCE,
    idle=IDLE,
    teams=(ReviewedTeam(1, "Research", COST, TREND, IDLE, VARIANCE, waste_micros=9_870_120_000),),
    no_workload_micros=5_750_120_000,
    data_quality=DataQualityWeek(0.98, 1.0, unowned_micros=0, no_workload_micros=5_750_120_000),
    previous=PreviousReview("2026-W29", 1, "", 39_850_000_000, 9_410_000_000),
)
"""Frozen, as the content of a review."""
