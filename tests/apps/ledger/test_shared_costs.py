"""Shared costs are spread over the hour's lines, and idle is shared out without moving a total."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.economics.states import Flag
from apps.ledger.models import Charge, ChargeKind, LedgerDay, Line
from apps.pricing import actions as pricing
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

MARCH_HOURS = 31 * 24


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def share(amount: str, method: str = "by_cost", **given: Any) -> int:
    values: dict[str, Any] = {"starts_at": scene.TEN} | given
    return pricing.add_shared_cost(
        cost=pricing.EnteredSharedCost(
            name="support", amount=Decimal(amount), currency="USD", method=method, **values
        ),
        at=scene.LATER,
    )


def shared_lines() -> dict[int | None, int | None]:
    """Job → effective micro-units of the shared charge."""
    found = Line.objects.filter(hour=scene.TEN, charge__kind=ChargeKind.SHARED)
    return {line.job_id: line.effective_micros for line in found}


def node_with_two_jobs(**given: Any) -> tuple[int, int, int]:
    node_id = scene.make_priced_node(pool_id=make.make_pool("h100", **given))
    uuids = scene.make_gpus(node_id)
    large = scene.make_job("1", node_id, gpus=4, uuids=uuids[:4])
    small = scene.make_job("2", node_id, gpus=2, uuids=uuids[4:6])
    return node_id, large, small


def test_a_monthly_cost_is_spread_by_what_each_line_cost() -> None:
    _, large, small = node_with_two_jobs()
    share("744")

    scene.settle()

    charge = Charge.objects.get(kind=ChargeKind.SHARED, hour=scene.TEN)
    assert charge.effective_micros == 744_000_000 // MARCH_HOURS
    assert shared_lines() == {large: 500_000, small: 250_000, None: 250_000}
    lines = Line.objects.filter(charge=charge)
    assert {(line.unit_milliseconds, line.flags, line.state) for line in lines} == {
        (0, Flag.SHARED, None)
    }


def test_a_cost_may_be_spread_evenly_over_whoever_is_there() -> None:
    _, large, small = node_with_two_jobs()
    share("744", method="even")

    scene.settle()

    assert shared_lines() == {None: 333_334, large: 333_333, small: 333_333}


def test_an_hour_with_nobody_in_it_is_the_platforms() -> None:
    share("744")

    scene.settle(starts_at=scene.TEN)

    (line,) = scene.lines()
    assert (line.team_id, line.pool_id, line.effective_micros) == (
        scene.platform(),
        None,
        1_000_000,
    )
    (day,) = LedgerDay.objects.all()
    assert (day.pool_id, day.kind, day.effective_micros) == (None, ChargeKind.SHARED, 1_000_000)


def test_hours_take_their_part_of_the_month_without_losing_a_micro_unit() -> None:
    first = datetime(2026, 2, 1, tzinfo=scene.TEN.tzinfo)
    share("100.01", starts_at=first)

    scene.settle(starts_at=first, ends_at=first + timedelta(hours=24))

    day = Charge.objects.filter(posting_month="2026-02-01")
    assert day.count() == 24
    # 100.01 × 24 / 672, rounded down: what the first 24 of the month's 672 hours come to.
    assert sum(charge.effective_micros or 0 for charge in day) == 3_571_785


def test_idle_shared_out_moves_cost_to_holders_and_sums_to_nothing() -> None:
    node_id, large, small = node_with_two_jobs(idle_sharing="by_held_time")

    scene.settle()

    moved = Line.objects.filter(hour=scene.TEN, flags=Flag.SHARED_IDLE)
    assert {line.job_id: line.effective_micros for line in moved} == {
        None: -24_580_000,
        large: 16_386_667,
        small: 8_193_333,
    }
    assert {line.charge_id for line in moved} == {scene.charge(node_id).id}
    assert sum(line.unit_milliseconds for line in moved) == 0


def test_settling_again_leaves_spread_lines_as_they_are() -> None:
    node_id, _, _ = node_with_two_jobs(idle_sharing="by_held_time")
    share("744")
    scene.settle()
    before = list(Line.objects.order_by("id").values_list("id", flat=True))

    scene.recharge()
    scene.remark(node_id, scene.TEN, scene.TEN + scene.HOUR)
    scene.settle(scene.LATER + timedelta(minutes=1))

    assert list(Line.objects.order_by("id").values_list("id", flat=True)) == before


def test_lines_that_move_take_their_shared_costs_with_them() -> None:
    node_id, _, _ = node_with_two_jobs()
    share("744", starts_at=scene.TEN)
    scene.settle()
    research = make.make_team("Research")

    scene.make_rule("research", research)
    scene.remark(node_id, scene.TEN, scene.TEN + scene.HOUR)
    scene.settle(scene.LATER + timedelta(minutes=1))

    teams = Line.objects.filter(charge__kind=ChargeKind.SHARED, hour=scene.TEN)
    assert {line.team_id for line in teams if line.job_id} == {research}
    assert sum(LedgerDay.objects.values_list("effective_micros", flat=True)) == 99_320_000
