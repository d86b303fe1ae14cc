"""What capacity cost while nothing could run on it."""

from datetime import timedelta
from decimal import Decimal

import pytest

from apps.fleet.actions import NewOutage, record_outage
from apps.ledger.queries.capacity_lost import UnusableSpan, capacity_lost, lost_time
from tests import make
from tests.apps.ledger import scene
from tests.make import NOON

pytestmark = pytest.mark.django_db
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def node(*, rate: bool = True) -> int:
    """A node of eight GPUs, charged for two hours."""
    make.make_organisation()
    pool_id = make.make_pool("h100")
    if rate:
        scene.make_rate(pool_id, amount=Decimal(80))
    node_id = make.make_node("gpu-01", pool_id=pool_id, started_at=NOON, at=NOON + 2 * HOUR)
    scene.make_gpus(node_id, seen_from=NOON)
    scene.settle(NOON + 2 * HOUR, starts_at=NOON, ends_at=NOON + 2 * HOUR)
    return node_id


def test_a_gpu_loses_its_part_of_the_node_hour_and_a_node_all_of_it() -> None:
    node_id = node()
    half_past = NOON + 30 * MINUTE
    lost = capacity_lost(
        [
            UnusableSpan(node_id, False, half_past, NOON + HOUR),
            UnusableSpan(node_id, True, half_past, NOON + 90 * MINUTE),
        ]
    )
    assert lost == [80_000_000 // 8 // 2, 80_000_000]


def test_what_is_not_settled_or_has_no_price_is_not_known() -> None:
    node_id = node(rate=False)
    later = NOON + 10 * HOUR
    assert capacity_lost(
        [
            UnusableSpan(node_id, True, NOON, NOON + HOUR),
            UnusableSpan(node_id, True, later, later + HOUR),
        ]
    ) == [None, None]


def test_a_span_beyond_what_is_settled_counts_as_far_as_it_is() -> None:
    assert capacity_lost([UnusableSpan(node(), True, NOON + HOUR, NOON + 9 * HOUR)]) == [80_000_000]


def test_what_was_lost_is_of_those_who_held_it_and_of_each_span_by_its_gpu_time() -> None:
    node_id, red = node(), make.make_team("Red")
    scene.make_rule("red", red)
    scene.make_job("1", node_id, gpus=6, account="red", from_=NOON, to=NOON + HOUR)
    later = NOON + 5 * HOUR
    record_outage(outage=NewOutage(node_id, "down", NOON, NOON + 30 * MINUTE), at=later)
    scene.settle(later, starts_at=NOON, ends_at=NOON + 2 * HOUR)
    spans = [
        UnusableSpan(node_id, True, NOON, NOON + 15 * MINUTE),
        UnusableSpan(node_id, True, NOON + 15 * MINUTE, NOON + 30 * MINUTE),
    ]
    lost = lost_time(spans)
    assert {owner.place for owner in lost} == {0, 1}
    for place in (0, 1):
        held, free = (
            next(
                (owner.team_id, time.milliseconds, time.micros)
                for owner, time in lost.items()
                if owner.place == place and (owner.job_id is None) == is_free
            )
            for is_free in (False, True)
        )
        assert held == (red, 6 * 15 * 60_000, 15_000_000), "nobody observed it at work"
        assert free[1:] == (2 * 15 * 60_000, 5_000_000), "two GPUs were nobody's"
    assert lost_time([]) == {}


def test_lost_time_without_a_price_is_time_whose_cost_is_not_known() -> None:
    node_id, later = node(rate=False), NOON + 5 * HOUR
    record_outage(outage=NewOutage(node_id, "down", NOON, NOON + HOUR), at=later)
    scene.settle(later, starts_at=NOON, ends_at=NOON + HOUR)
    (time,) = lost_time([UnusableSpan(node_id, True, NOON, NOON + HOUR)]).values()
    assert (time.milliseconds, time.micros) == (8 * 3_600_000, None)
