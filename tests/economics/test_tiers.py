"""Graduated tiers: a month costs what its quantity does, however it is cut into hours."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.tiers import NotTiers, Tier, blended, checked, graduated, in_words, parsed

TEN, EIGHT, SEVEN = Decimal(10), Decimal(8), Decimal(7)
ONE = [Tier(Decimal(1000), EIGHT)]
TWO = [*ONE, Tier(Decimal(5000), SEVEN)]
amounts = st.decimals(min_value=0, max_value=1000, places=4)
tiers = st.dictionaries(st.integers(1, 5000), amounts, max_size=4).map(
    lambda found: [Tier(Decimal(beyond), found[beyond]) for beyond in sorted(found)]
)
quantities = st.lists(st.integers(0, 400_000_000).map(lambda ms: Fraction(ms, 3_600_000)))


def test_each_part_of_a_quantity_costs_its_tiers_amount():
    assert graduated(TEN, TWO, Fraction(500)) == 5_000
    assert graduated(TEN, TWO, Fraction(1000)) == 10_000
    assert graduated(TEN, TWO, Fraction(1001)) == 10_008
    assert graduated(TEN, TWO, Fraction(6000)) == 10_000 + 4_000 * 8 + 1_000 * 7


def test_an_hour_across_a_tier_has_one_price_between_the_two():
    # 984 to 1,016: sixteen at 10 and sixteen at 8.
    assert blended(TEN, ONE, Fraction(984), Fraction(32)) == 9
    assert blended(TEN, ONE, Fraction(500), Fraction(32)) == 10
    assert blended(TEN, ONE, Fraction(1000), Fraction(32)) == 8


def test_an_hour_of_nothing_has_the_price_of_where_the_month_is():
    assert blended(TEN, TWO, Fraction(0), Fraction(0)) == 10
    assert blended(TEN, TWO, Fraction(1000), Fraction(0)) == 8
    assert blended(TEN, TWO, Fraction(7000), Fraction(0)) == 7


def test_the_words_tell_the_bands_and_where_a_tier_begins_inside_the_hour():
    assert in_words(TEN, ONE, "node", Fraction(10), Fraction(8)) == (
        "tier: 1,000 node-hours at 10, then 8: this hour at 10"
    )
    assert in_words(TEN, TWO, "gpu", Fraction(1994, 2), Fraction(5)) == (
        "tier: 1,000 gpu-hours at 10, to 5,000 at 8, then 7: this hour at 9.2 (997 to 1,002)"
    )


def test_the_words_of_two_hours_that_a_millisecond_parts_differ():
    told = [
        in_words(TEN, ONE, "node", Fraction(3_599_000_000 + late, 3_600_000), Fraction(8))
        for late in (0, 1)
    ]
    assert told[0] != told[1]


@pytest.mark.parametrize(
    "wrong",
    [
        [Tier(Decimal(0), TEN)],
        [Tier(Decimal("NaN"), TEN)],
        [Tier(Decimal(5), Decimal(-1))],
        [Tier(Decimal(5), Decimal("Infinity"))],
        [Tier(Decimal(5), TEN), Tier(Decimal(5), EIGHT)],
        [Tier(Decimal(5), TEN), Tier(Decimal(4), EIGHT)],
    ],
)
def test_tiers_that_do_not_rise_or_cost_nothing_known_are_refused(wrong):
    with pytest.raises(NotTiers):
        checked(wrong)


def test_tiers_are_read_as_people_write_them():
    assert parsed("1000=8; 5000 = 7") == parsed("1000=8,5000=7;") == tuple(TWO)
    assert parsed(" ") == ()


@pytest.mark.parametrize("wrong", ["1000", "1000=eight", "=8", "5000=7; 1000=8"])
def test_what_nobody_could_read_as_tiers_is_refused(wrong):
    with pytest.raises(NotTiers):
        parsed(wrong)


def test_tiers_that_rise_are_taken_as_they_are():
    assert checked(TWO) == tuple(TWO)


@given(amounts, tiers, quantities)
def test_the_hours_of_a_month_cost_what_its_whole_quantity_does(first, bands, hours):
    total, before = Fraction(0), Fraction(0)
    for quantity in hours:
        total += blended(first, bands, before, quantity) * quantity
        before += quantity
    assert total == graduated(first, bands, before)


@given(amounts, tiers, quantities, st.randoms())
def test_the_order_of_hours_does_not_matter_to_the_month(first, bands, hours, random):
    def month(of: list[Fraction]) -> Fraction:
        return sum(
            (
                blended(first, bands, sum(of[:place], Fraction(0)), quantity) * quantity
                for place, quantity in enumerate(of)
            ),
            Fraction(0),
        )

    shuffled = list(hours)
    random.shuffle(shuffled)
    assert month(shuffled) == month(hours)


@given(amounts, tiers, quantities, quantities)
def test_more_of_a_thing_never_costs_less(first, bands, some, more):
    once = sum(some, Fraction(0))
    assert graduated(first, bands, once + sum(more, Fraction(0))) >= graduated(first, bands, once)
