"""What could run elsewhere: recorded availability of spot, and two weeks' looks at the fleet."""

import random
from datetime import timedelta

import numpy as np

from apps.economics.spot.trace import SpotTrace
from apps.placement.actions import (
    SpotPlace,
    detect_moves,
    keep_spot_series,
    make_offer_book,
)
from apps.placement.queries.moves.work import WEEK, move_week
from controlplane.demo.company import Company

LOOKED_FOR = timedelta(days=30)
TICK = timedelta(minutes=10)
ENDS_A_TICK, BEGINS_A_TICK = 1 / 150, 1 / 4
"""Spot lasts for about a day, and is away for about forty minutes."""
SEED = 20261123


def look_at_the_fleet(company: Company) -> None:
    """A month of looks whether H100s could be had on spot, and what is worth moving this week."""
    at = company.week.at
    place = SpotPlace(
        provider="aws",
        region="us-east-1",
        zone="us-east-1b",
        gpu_model="NVIDIA H100 80GB HBM3",
        instance_type="p5.48xlarge",
    )
    starts_at = at - LOOKED_FOR
    trace = SpotTrace(
        "us-east-1b p5.48xlarge", TICK / timedelta(hours=1), _could_be_had(), starts_at.timestamp()
    )
    keep_spot_series(
        name=trace.name, trace=trace, place=place, source="a watcher of the demo", at=at
    )
    make_offer_book(at=at)
    week = move_week(at)
    detect_moves(week=week - WEEK, at=at - WEEK)
    detect_moves(week=week, at=at)


def _could_be_had() -> np.ndarray:
    """Nodes that could be had at each look: two, or none."""
    chance = random.Random(SEED)  # noqa: S311 - the same each time, not a secret
    counts, is_up = [], True
    for _ in range(LOOKED_FOR // TICK):
        counts.append(2.0 if is_up else 0.0)
        is_up = chance.random() >= ENDS_A_TICK if is_up else chance.random() < BEGINS_A_TICK
    return np.array(counts)
