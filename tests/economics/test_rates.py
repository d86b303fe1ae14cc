"""Quoted rates over a lived span: exact, cut at every change, rounded once."""

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.rates import (
    Per,
    Piece,
    QuotedRate,
    RateInHour,
    RatesOverlap,
    amount_micros,
    pieces_of_hour,
)

HOUR = 3_600_000
HALF = HOUR // 2
LIST = QuotedRate(1, Decimal(10), 3600, Per.NODE)
CONTRACT = QuotedRate(2, Decimal("0.75"), 3600, Per.GPU)
SPOT = QuotedRate(3, Decimal("0.001"), 1, Per.NODE)


def test_a_rate_by_the_hour_costs_by_the_millisecond():
    assert amount_micros(LIST, HOUR, 8) == 10_000_000
    assert amount_micros(LIST, HOUR // 4, 8) == 2_500_000


def test_a_rate_by_the_second_and_per_gpu():
    assert amount_micros(SPOT, 90_500, 8) == 90_500
    assert amount_micros(CONTRACT, HOUR, 8) == 6_000_000


def test_a_piece_is_rounded_once_half_even():
    # 0.000001 an hour for half an hour is half a micro-unit; for 1.5 hours one and a half.
    tiny = QuotedRate(4, Decimal("0.000001"), 3600, Per.NODE)
    assert amount_micros(tiny, HALF, 1) == 0
    assert amount_micros(tiny, 3 * HALF, 1) == 2


def test_an_hour_cut_by_a_price_costs_what_exact_arithmetic_says():
    # A p5.48xlarge in the week of AWS's cut of June 2025.
    before, after = (
        QuotedRate(n, Decimal(a), 3600, Per.NODE) for n, a in ((1, "98.32"), (2, "55.04"))
    )
    cut = 18 * 60_000 + 30_000
    hour = pieces_of_hour(
        [(0, HOUR, 8)], [RateInHour(0, cut, before), RateInHour(cut, HOUR, after)], []
    )
    whole_hours = 85 * 98_320_000 + 82 * 55_040_000
    assert whole_hours + sum(piece.effective_micros for piece in hour) == 12_938_864_667


def test_an_hour_in_which_a_node_changed_is_rounded_once():
    tiny = QuotedRate(4, Decimal("0.000001"), 3600, Per.GPU)
    spans = [(0, HALF, 1), (HALF, HOUR - 1, 3), (HOUR - 1, HOUR, 3)]
    pieces = pieces_of_hour(spans, [], [RateInHour(0, HOUR, tiny)])
    assert sum(piece.contracted_micros for piece in pieces) == 2


cuts = st.lists(st.integers(1, HOUR - 1), max_size=6, unique=True).map(sorted)


@given(
    cuts,
    st.lists(st.decimals("0", "99", places=5), min_size=7, max_size=7),
    st.lists(st.decimals("0", "99", places=5), min_size=7, max_size=7),
)
def test_pieces_sum_to_the_exact_amount_and_keep_their_order(moments, listed, agreed):
    spans = list(pairwise([0, *moments, HOUR]))

    def rates(amounts, first):
        return [
            RateInHour(*span, QuotedRate(first + n, amount, 3600, Per.NODE))
            for n, (span, amount) in enumerate(zip(spans, amounts, strict=False))
        ]

    full, paid = rates(listed, 1), rates(agreed, 101)
    pieces = pieces_of_hour([(0, HOUR, 1)], full, paid)

    for basis, of in (("list_micros", full), ("contracted_micros", paid)):
        exact = sum(
            Fraction(each.rate.amount) * 1_000_000 * (each.end_ms - each.start_ms) / HOUR
            for each in of
        )
        assert sum(getattr(piece, basis) for piece in pieces) == round(exact)
    for piece, over, under in zip(pieces, full, paid, strict=True):
        gap = piece.list_micros - piece.contracted_micros
        assert gap * (over.rate.amount - under.rate.amount) >= 0
        assert gap == 0 or over.rate.amount != under.rate.amount


def test_list_contracted_and_effective_of_a_contract_below_list():
    assert pieces_of_hour(
        [(0, HOUR, 8)], [RateInHour(0, HOUR, LIST)], [RateInHour(0, HOUR, CONTRACT)]
    ) == [Piece(0, HOUR, 10_000_000, 6_000_000, 6_000_000, list_rate_id=1, contract_rate_id=2)]


def test_without_a_contract_the_list_price_is_what_is_paid():
    assert pieces_of_hour([(0, HOUR, 8)], [RateInHour(0, HOUR, LIST)], []) == [
        Piece(0, HOUR, 10_000_000, 10_000_000, 10_000_000, list_rate_id=1)
    ]


def test_without_a_list_price_the_list_amount_is_unknown():
    assert pieces_of_hour([(0, HOUR, 8)], [], [RateInHour(0, HOUR, CONTRACT)]) == [
        Piece(0, HOUR, None, 6_000_000, 6_000_000, contract_rate_id=2)
    ]


def test_time_without_a_price_is_unpriced_and_never_free():
    pieces = pieces_of_hour([(0, HOUR, 1)], [RateInHour(0, HALF, LIST)], [])
    assert pieces[1] == Piece(HALF, HOUR, None, None, None)


def test_each_piece_has_one_rate_on_each_basis():
    quarter = HOUR // 4
    pieces = pieces_of_hour(
        [(quarter, HOUR, 8)],
        [RateInHour(0, HALF, LIST), RateInHour(HALF, HOUR, SPOT)],
        [RateInHour(3 * quarter, 2 * HOUR, CONTRACT)],
    )
    assert [(p.start_ms, p.end_ms, p.list_rate_id, p.contract_rate_id) for p in pieces] == [
        (quarter, HALF, 1, None),
        (HALF, 3 * quarter, 3, None),
        (3 * quarter, HOUR, 3, 2),
    ]


def test_the_higher_priority_wins_and_its_loser_leaves_no_cut():
    pieces = pieces_of_hour(
        [(0, HOUR, 1)],
        [RateInHour(0, HOUR, LIST, priority=2), RateInHour(0, HALF, SPOT, priority=1)],
        [],
    )
    assert [(p.start_ms, p.end_ms, p.list_rate_id) for p in pieces] == [(0, HOUR, 1)]


def test_two_rates_of_equal_priority_at_once_are_refused():
    with pytest.raises(RatesOverlap):
        pieces_of_hour(
            [(0, HOUR, 1)], [RateInHour(0, HOUR, LIST), RateInHour(HALF, HOUR, SPOT)], []
        )


def test_the_same_rate_said_twice_is_one():
    twice = [RateInHour(0, HOUR, LIST), RateInHour(0, HOUR, LIST)]
    assert len(pieces_of_hour([(0, HOUR, 1)], twice, [])) == 1


def test_a_node_that_did_not_live_has_no_pieces():
    assert pieces_of_hour([(HALF, HALF, 1)], [RateInHour(0, HOUR, LIST)], []) == []


CUTS = st.lists(st.integers(0, HOUR), min_size=2, max_size=6, unique=True).map(sorted)


@given(CUTS, CUTS, st.integers(0, HALF), st.integers(HALF, HOUR))
def test_pieces_tile_the_lived_time(list_cuts, contract_cuts, lived_from, lived_to):
    def spans(cuts, first_id):
        return [
            RateInHour(start, end, QuotedRate(first_id + start, Decimal(3), 3600, Per.NODE))
            for start, end in pairwise(cuts)
        ]

    pieces = pieces_of_hour(
        [(lived_from, lived_to, 1)], spans(list_cuts, 1), spans(contract_cuts, 10**7)
    )
    edges = [lived_from, *(piece.end_ms for piece in pieces)]
    assert [piece.start_ms for piece in pieces] == edges[:-1]
    assert edges[-1] == lived_to


def test_a_foreign_rate_is_converted_before_the_one_rounding():
    # 10 at 1/3 is 3.333333…: a millisecond costs 0.000000926.
    euros = QuotedRate(5, Decimal(10), 3600, Per.NODE, exchange=Fraction(1, 3))
    assert amount_micros(euros, HOUR, 8) == 3_333_333
    assert amount_micros(euros, HOUR * 3, 8) == 10_000_000


def test_what_is_paid_in_money_nobody_can_convert_is_unpriced_on_every_basis():
    euros = QuotedRate(6, Decimal(9), 3600, Per.NODE, exchange=None, detail="no rate of exchange")
    spans = [RateInHour(0, HOUR, LIST)], [RateInHour(0, HOUR, euros)]
    (piece,) = pieces_of_hour([(0, HOUR, 8)], *spans)
    assert (piece.list_micros, piece.contracted_micros, piece.effective_micros) == (None,) * 3
    assert (piece.contract_rate_id, piece.detail) == (6, "no rate of exchange")


def test_a_list_price_nobody_can_convert_leaves_the_contract_known():
    euros = QuotedRate(7, Decimal(9), 3600, Per.NODE, exchange=None, detail="no rate of exchange")
    spans = [RateInHour(0, HOUR, euros)], [RateInHour(0, HOUR, CONTRACT)]
    (piece,) = pieces_of_hour([(0, HOUR, 8)], *spans)
    assert (piece.list_micros, piece.contracted_micros) == (None, 6_000_000)


def test_what_made_both_amounts_is_told_once():
    both = [QuotedRate(8 + n, Decimal(9), 3600, Per.NODE, detail="at 1.1") for n in (0, 1)]
    (piece,) = pieces_of_hour(
        [(0, HOUR, 8)], [RateInHour(0, HOUR, both[0])], [RateInHour(0, HOUR, both[1])]
    )
    assert piece.detail == "at 1.1"
