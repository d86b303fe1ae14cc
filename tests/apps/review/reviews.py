"""A weekly review's content, made by hand."""

from typing import Any

from apps.review.queries.weekly.content import (
    IdleNumbers,
    ReviewedScore,
    ReviewedTeam,
    ReviewedWorkload,
    WeekCost,
    WeeklyContent,
    WeekUnits,
    WeekVariance,
    WorkloadReturn,
    WorkloadVerdict,
    WorkloadWaste,
)


def workload(workload_id: int, team_id: int, **given: Any) -> ReviewedWorkload:
    """One that cost $10 and of which nobody said what it returns."""
    values: dict[str, Any] = {
        "workload_id": workload_id,
        "name": f"workload {workload_id}",
        "kind": "serving",
        "team_id": team_id,
        "team": f"team {team_id}",
        "cost": WeekCost(10_000_000, "estimated", time_ms=3_600_000),
        "trend": (None,) * 7 + (10_000_000,),
        "units": WeekUnits("thousand_requests", 50.5, 198_020),
        "unit_trend": (None,) * 7 + (198_020,),
        "waste": WorkloadWaste({"failed": 1_000_000}, 1_000_000, 0.1),
        "verdict": WorkloadVerdict("unknown", "Nobody said what a unit is worth", 4),
    }
    return ReviewedWorkload(**values | given)


def team(team_id: int, **given: Any) -> ReviewedTeam:
    """One that cost $10, $2 more than the week before."""
    values: dict[str, Any] = {
        "team_id": team_id,
        "name": f"team {team_id}",
        "cost": WeekCost(10_000_000, "estimated", time_ms=3_600_000),
        "trend": (None,) * 7 + (10_000_000,),
        "idle": IdleNumbers({"unallocated": 500_000}, {"unallocated": 3_600_000}),
        "variance": WeekVariance(8_000_000, 10_000_000, {"price": 500_000, "volume": 1_500_000}),
        "waste_micros": 1_000_000,
    }
    return ReviewedTeam(**values | given)


def content(*workloads: ReviewedWorkload, **given: Any) -> WeeklyContent:
    """A review of the week of 2026-07-20 with these workloads."""
    values: dict[str, Any] = {
        "week": "2026-W30",
        "first_day": "2026-07-20",
        "end_day": "2026-07-27",
        "zone": "Europe/Berlin",
        "currency": "USD",
        "basis": "effective",
        "made_at": "2026-07-27T05:00:00+00:00",
        "title": "The week cost $20",
        "sections": ("workloads",),
        "cost": WeekCost(20_000_000, "estimated", 72_000, time_ms=3_600_000),
        "trend": (None,) * 7 + (20_000_000,),
        "trend_weeks": tuple(f"2026-W{number}" for number in range(23, 31)),
        "waste_micros": 2_000_000,
        "diverged_micros": None,
        "variance": WeekVariance(16_000_000, 20_000_000, {"price": 4_000_000}, (0, 3_600_000)),
        "idle": IdleNumbers({"unallocated": 1_000_000}, {"unallocated": 7_200_000}),
        "teams": (),
        "workloads": workloads,
    }
    return WeeklyContent(**values | given)


VALUED = WorkloadReturn("thousand_requests", 300_000, 500_000, "2026-07-01", None, 50.5, 1, 2)
SCORED = ReviewedScore("accuracy", 0.918, True, "2026-07-24T10:00:00+00:00", "sdk", "v7", 0.9)
