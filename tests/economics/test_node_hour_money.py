"""The money of a node-hour follows its time, exactly, on every basis."""

from decimal import Decimal

from apps.economics.hours import HOUR_MS
from apps.economics.rates import Per, Piece, QuotedRate, RateInHour, pieces_of_hour
from apps.economics.states import State
from tests.economics.node_hours import claim, gpu, key, minutes, split, usage

ADA, BEN = 11, 12
KEYS = [key(101, ADA)]


def test_each_basis_is_split_by_time_and_sums_exactly():
    # 50 = 17 + 17 + 16; the step of 30 = 10 + 10 + 10; the step of 20 = 7 + 7 + 6.
    answer = split(
        charges={7: [Piece(0, HOUR_MS, 100, 80, 50)]},
        devices=[gpu(1), gpu(2), gpu(3)],
        claims=[claim(ADA, 1), claim(BEN, 2)],
    )
    assert [line[-3:] for line in answer.lines] == [(34, 27, 17), (34, 27, 17), (32, 26, 16)]


def test_a_price_cut_inside_the_hour_is_paid_by_those_who_were_there():
    dear = QuotedRate(1, Decimal(10), 3600, Per.NODE)
    cheap = QuotedRate(2, Decimal(4), 3600, Per.NODE)
    spans = [RateInHour(*minutes(0, 30), dear), RateInHour(*minutes(30, 60), cheap)]
    answer = split(
        charges={7: pieces_of_hour([(0, HOUR_MS, 1)], spans, [])},
        devices=[gpu(1)],
        claims=[claim(ADA, 1, held=(0, 30)), claim(BEN, 1, held=(30, 60))],
    )
    assert {line.job_id: line.list_micros for line in answer.lines} == {
        ADA: 5_000_000,
        BEN: 2_000_000,
    }


def test_pieces_of_one_charge_become_one_line_for_each_holder_and_state():
    pieces = [Piece(*minutes(at, at + 1), 7, 7, 7) for at in range(60)]
    answer = split(
        charges={7: pieces},
        devices=[gpu(1)],
        claims=[claim(ADA, 1)],
        usage=[usage(1, 101, worked=[(0, 30)])],
        keys=KEYS,
    )
    assert [(line.state, line.effective_micros) for line in answer.lines] == [
        (State.ACTIVE, 210),
        (State.HELD_IDLE, 210),
    ]


def test_two_charges_divide_the_hour_between_them():
    covered, rest = Piece(*minutes(0, 15), 100, 100, 40), Piece(*minutes(15, 60), 300, 300, 300)
    answer = split(charges={8: [rest], 7: [covered]}, devices=[gpu(1)], claims=[claim(ADA, 1)])
    assert [(line.charge, line.unit_ms, line.effective_micros) for line in answer.lines] == [
        (7, HOUR_MS // 4, 40),
        (8, HOUR_MS * 3 // 4, 300),
    ]


def test_an_unpriced_charge_is_split_in_time_only():
    (line,) = split(
        charges={7: [Piece(0, HOUR_MS, None, None, None)]}, devices=[gpu(1)], claims=[claim(ADA, 1)]
    ).lines
    assert line.unit_ms == HOUR_MS
    assert (line.list_micros, line.contracted_micros, line.effective_micros) == (None, None, None)


def test_a_basis_known_in_one_piece_only_sums_what_is_known():
    known, unknown = Piece(*minutes(0, 30), 6, 6, 6), Piece(*minutes(30, 60), None, 4, 4)
    (line,) = split(charges={7: [known, unknown]}, devices=[gpu(1)], claims=[claim(ADA, 1)]).lines
    assert (line.list_micros, line.effective_micros) == (6, 10)


def test_a_piece_in_which_no_device_lived_is_carried_by_nobody():
    pieces = [Piece(*minutes(0, 30), 6, 6, 6), Piece(*minutes(30, 60), 4, 4, 4)]
    answer = split(charges={7: pieces}, devices=[gpu(1, (30, 60))], claims=[claim(ADA, 1)])
    assert [(line.job_id, line.unit_ms, line.list_micros) for line in answer.lines] == [
        (None, 0, 6),
        (ADA, HOUR_MS // 2, 4),
    ]


def test_credits_are_split_like_charges():
    answer = split(
        charges={7: [Piece(0, HOUR_MS, -7, -7, -7)]},
        devices=[gpu(1), gpu(2), gpu(3)],
        claims=[claim(ADA, 1)],
    )
    assert [line.list_micros for line in answer.lines] == [-5, -2]
