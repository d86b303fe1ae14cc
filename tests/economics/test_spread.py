"""Costs without a device of their own: spread to the micro-unit, shared out and back."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.bases import UNKNOWN, Amounts, BilledCosts, added, negated, split_bases
from apps.economics.split import NothingToSplitBy
from apps.economics.spread import Adjustment, IdleCost, shared_idle, spread

MICROS = st.integers(0, 10**9)
AMOUNTS = st.tuples(MICROS, MICROS, MICROS).map(lambda known: Amounts(*sorted(known, reverse=True)))
WEIGHTS = st.dictionaries(st.integers(1, 50), st.integers(0, 10**7), max_size=9)


def summed(parts):
    total = UNKNOWN
    for part in parts:
        total = added(total, part)
    return total


def test_a_shared_charge_is_spread_by_weight():
    assert spread(BilledCosts(100, 100, 10, 10), {3: 1, 1: 2, 2: 0}) == {
        1: BilledCosts(67, 67, 7, 7),
        3: BilledCosts(33, 33, 3, 3),
    }


def test_a_shared_charge_needs_somebody_to_carry_it():
    with pytest.raises(NothingToSplitBy):
        spread(BilledCosts(1, 1, 1, 1), {1: 0})


def test_an_unknown_basis_stays_unknown_in_every_part():
    assert split_bases(Amounts(None, 6, None), [1, 1]) == [Amounts(None, 3, None)] * 2
    assert split_bases(Amounts(8, None, 6), [1, 1]) == [Amounts(4, None, 3)] * 2
    assert split_bases(UNKNOWN, [1, 1]) == [UNKNOWN] * 2
    assert negated(Amounts(1, None, -2)) == Amounts(-1, None, 2)


@given(AMOUNTS, WEIGHTS.filter(lambda weights: any(weights.values())))
def test_spreading_loses_nothing_and_keeps_the_order_of_bases(amounts, weights):
    parts = spread(BilledCosts(*amounts, -amounts[0]), weights)
    assert summed(Amounts(*part[:3]) for part in parts.values()) == amounts
    assert sum(part.billed for part in parts.values()) == -amounts[0]
    for part in parts.values():
        assert part.effective <= part.contracted <= part.listed


def test_idle_cost_moves_to_the_holders_of_the_pool_by_their_time():
    idle = [IdleCost(1, 600, Amounts(90, 90, 90)), IdleCost(2, 600, Amounts(30, 30, 30))]
    assert shared_idle(idle, {7: 300, 8: 100}) == [
        Adjustment(1, None, Amounts(-90, -90, -90)),
        Adjustment(1, 7, Amounts(90, 90, 90)),
        Adjustment(2, None, Amounts(-30, -30, -30)),
        Adjustment(2, 8, Amounts(30, 30, 30)),
    ]


def test_a_charge_shared_by_two_holders_is_cut_where_the_first_is_full():
    assert shared_idle([IdleCost(1, 600, Amounts(200, 100, 100))], {7: 30, 8: 70}) == [
        Adjustment(1, None, Amounts(-200, -100, -100)),
        Adjustment(1, 7, Amounts(60, 30, 30)),
        Adjustment(1, 8, Amounts(140, 70, 70)),
    ]


def test_unpriced_idle_time_is_shared_by_time():
    idle = [IdleCost(1, 600, UNKNOWN), IdleCost(2, 200, Amounts(4, 4, 4))]
    assert [adjustment[:2] for adjustment in shared_idle(idle, {7: 1, 8: 1})] == [
        (1, None),
        (1, 7),
        (1, 8),
        (2, None),
        (2, 8),
    ]


@pytest.mark.parametrize(
    ("idle", "weights"),
    [
        ([IdleCost(1, 600, Amounts(9, 9, 9))], {7: 0}),
        ([], {7: 5}),
        ([IdleCost(1, 0, UNKNOWN)], {7: 5}),
    ],
)
def test_without_holders_or_idle_cost_nothing_moves(idle, weights):
    assert shared_idle(idle, weights) == []


@given(st.lists(st.tuples(st.integers(0, 10**6), AMOUNTS), max_size=8), WEIGHTS)
def test_sharing_idle_out_sums_to_nothing_for_each_charge(costs, weights):
    idle = [IdleCost(charge, ms, amounts) for charge, (ms, amounts) in enumerate(costs)]
    by_charge = defaultdict(list)
    adjustments = shared_idle(idle, weights)
    for adjustment in adjustments:
        by_charge[adjustment.charge].append(adjustment.amounts)
    assert all(summed(parts) == Amounts(0, 0, 0) for parts in by_charge.values())
    assert len(adjustments) <= 2 * len(idle) + len(weights)
