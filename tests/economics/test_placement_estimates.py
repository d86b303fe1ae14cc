"""A job on an offer: what it costs and when it is done, what is not known, and in which order offers come."""

from dataclasses import replace

import pytest

from apps.economics.placement.estimates import (
    InterruptionRate,
    LikelyRange,
    PlacedJob,
    PlacedOrder,
    PlacedTerms,
    estimate_offer,
    ranked_offers,
)
from apps.economics.placement.wall_time import QueueWait

JOB = PlacedJob(gpus=8, deadline=60.0, write=1 / 60, restart=0.1)
ON_DEMAND = PlacedTerms(
    key="on-demand",
    option="on_demand",
    price=LikelyRange(3e6, 3e6, 3e6),
    work=LikelyRange(48, 48, 48),
    wait=QueueWait(1.0, 1.0),
    watts=700.0,
)
SPOT = replace(
    ON_DEMAND,
    key="spot",
    option="spot",
    price=LikelyRange(1e6, 1e6, 1.2e6),
    interruptions=InterruptionRate(LikelyRange(0.1, 0.25, 0.4), 0.25),
)


def test_on_demand_costs_its_hours_and_ends_after_wait_and_work() -> None:
    found = estimate_offer(JOB, ON_DEMAND)

    assert found.cost is not None
    assert found.cost.likely == 8 * 48 * 3e6
    assert found.finish == pytest.approx(49, abs=0.3)
    assert (found.chance, found.interruptions, found.order) == (1.0, 0.0, PlacedOrder.MEETS)
    assert found.kilowatt_hours == pytest.approx(8 * 48 * 0.7)


def test_checkpoints_that_are_written_anyway_take_their_time() -> None:
    plain = estimate_offer(JOB, ON_DEMAND)
    saved = estimate_offer(replace(JOB, cadence=1.0), ON_DEMAND)

    assert plain.finish is not None
    assert saved.finish is not None
    assert saved.finish - plain.finish == pytest.approx(48 / 60)


def test_spot_redoes_work_and_says_how_often_to_save() -> None:
    found = estimate_offer(JOB, SPOT)

    assert found.cost is not None
    assert found.finish is not None
    assert found.cadence == pytest.approx(0.354, abs=0.01)  # sqrt(2·(1/60)·4) less a little
    assert found.interruptions == pytest.approx(48 / 4, rel=0.2)
    assert found.cost.low < found.cost.likely < found.cost.high
    assert 8 * 48 * 1e6 < found.cost.likely < 8 * 48 * 3e6
    assert found.finish > 49
    assert 0 < (found.chance or 0) < 1


def test_without_evidence_spot_is_unknown_and_comes_after_what_is_known() -> None:
    unknown, job = replace(SPOT, interruptions=None), replace(JOB, deadline=90.0)
    order = ranked_offers([estimate_offer(job, each) for each in (unknown, ON_DEMAND, SPOT)])

    assert [each.key for each in order] == ["spot", "on-demand", "spot"]
    assert order[-1].cost is None
    assert order[-1].unknown == ("nothing is known of interruptions there",)


def test_a_checkpoint_of_unknown_length_leaves_spot_unknown() -> None:
    found = estimate_offer(replace(JOB, write=None), SPOT)

    assert found.cost is None
    assert "how long a checkpoint takes" in found.unknown[0]


def test_what_is_late_comes_after_what_is_in_time_however_little_it_costs() -> None:
    late = replace(ON_DEMAND, key="late", price=LikelyRange(1, 1, 1), wait=QueueWait(30, 40))
    order = ranked_offers([estimate_offer(JOB, each) for each in (late, ON_DEMAND)])

    assert [(each.key, each.order) for each in order] == [
        ("on-demand", PlacedOrder.MEETS),
        ("late", PlacedOrder.LATE),
    ]


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (replace(ON_DEMAND, price=None), "no price is known"),
        (replace(ON_DEMAND, work=None), "how long the work takes"),
        (replace(ON_DEMAND, wait=None), "how long jobs wait there"),
        (replace(ON_DEMAND, egress=None), "what the data costs to move"),
        (replace(ON_DEMAND, transfer=None), "how long the data takes"),
    ],
)
def test_what_is_not_known_is_said_and_never_nothing(terms: PlacedTerms, said: str) -> None:
    found = estimate_offer(JOB, terms)

    assert any(said in each for each in found.unknown)
    assert found.cost is None or found.finish is None
    assert found.order in (PlacedOrder.COST_UNKNOWN, PlacedOrder.FINISH_UNKNOWN)


def test_egress_is_paid_once_and_data_moves_before_the_work() -> None:
    there = estimate_offer(JOB, ON_DEMAND)
    away = estimate_offer(JOB, replace(ON_DEMAND, egress=20e6, transfer=2.0))

    assert there.cost is not None
    assert away.cost is not None
    assert away.cost.likely - there.cost.likely == 20e6
    assert (away.finish or 0) - (there.finish or 0) == pytest.approx(2)


def test_an_offer_with_less_than_the_asked_chance_is_late() -> None:
    found = estimate_offer(JOB, SPOT)

    assert found.chance is not None
    assert found.order is PlacedOrder.LATE
    assert found.chance > 0.5
    assert estimate_offer(replace(JOB, least_chance=0.5), SPOT).order is PlacedOrder.MEETS


def test_machines_that_are_rented_whole_are_paid_whole() -> None:
    part = estimate_offer(replace(JOB, gpus=4), replace(ON_DEMAND, rented_gpus=8))

    assert part.cost is not None
    assert part.cost.likely == 8 * 48 * 3e6
    assert part.gpu_hours == 4 * 48


def test_without_a_deadline_an_unknown_wait_is_no_reason_to_come_last() -> None:
    found = estimate_offer(replace(JOB, deadline=None), replace(ON_DEMAND, wait=None))

    assert (found.order, found.finish, found.chance) == (PlacedOrder.MEETS, None, None)


def test_work_that_may_be_more_lowers_the_chance() -> None:
    found = estimate_offer(
        replace(JOB, deadline=50.0),
        replace(ON_DEMAND, wait=QueueWait(0.0, 0.0), work=LikelyRange(40, 48, 56)),
    )

    assert found.chance == 0.75


def test_an_interruption_too_often_is_said_and_costs_nothing_invented() -> None:
    often = InterruptionRate(LikelyRange(1, 5000, 5000), 0.1)
    found = estimate_offer(replace(JOB, cadence=1.0), replace(SPOT, interruptions=often))

    assert found.cost is None
    assert any("too often" in each for each in found.unknown)


def test_spot_that_was_never_interrupted_costs_its_hours() -> None:
    never = InterruptionRate(LikelyRange(0, 0, 0), 0.1)
    found = estimate_offer(replace(JOB, write=0.0), replace(SPOT, interruptions=never))

    assert found.cost is not None
    assert found.cost.likely == 8 * 48 * 1e6
    assert found.cadence == 48


def test_a_checkpoint_of_no_time_is_written_often() -> None:
    assert estimate_offer(replace(JOB, write=0.0), SPOT).cadence == pytest.approx(0.04)


def test_serving_on_spot_pays_its_fallback_while_spot_is_away() -> None:
    job = PlacedJob(gpus=8, is_serving=True, has_fallback=True, restart=0.75)
    terms = replace(
        SPOT,
        price=LikelyRange(1e6, 1e6, 1e6),
        interruptions=InterruptionRate(LikelyRange(0.25, 0.25, 0.25), 0.25),
        fallback_price=3e6,
    )
    found = estimate_offer(job, terms)

    # Up 4 h, away 1 h: of 48 hours 9.6 on the fallback.
    assert found.cost is not None
    assert found.cost.likely == pytest.approx(8 * (38.4 * 1e6 + 9.6 * 3e6))


def test_serving_on_spot_without_a_price_of_its_fallback_is_unknown() -> None:
    job = PlacedJob(gpus=8, is_serving=True, has_fallback=True, restart=0.75)

    assert estimate_offer(job, SPOT).cost is None


def test_a_range_is_carried_over_whole() -> None:
    assert LikelyRange(1, 2, 4).times(2).points == (2, 4, 8)
