"""Minutes cut by a change: evidence by the minute, time to the millisecond."""

from fractions import Fraction

import pytest

from apps.economics.hours import HOUR_MS
from apps.economics.node_hour import CapacityFact, PiecesDoNotCoverTheHour, UsageFact
from apps.economics.rates import Piece
from apps.economics.states import Flag, State
from tests.economics.node_hours import (
    claim,
    gpu,
    key,
    minutes,
    minutes_of,
    node_hour,
    quarters,
    split,
    split_node_hour,
    time_of,
    usage,
)

ADA, BEN = 11, 12
KEYS = [key(101, ADA), key(102, BEN)]
EIGHT = CapacityFact(0, HOUR_MS, 8)


def one_minute(minute: int, level: int) -> bytes:
    return bytes(level if each == minute else 0 for each in range(60))


def test_work_in_a_cut_minute_goes_to_the_span_that_was_held():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1, held=(0, 10 + 1 / 3))],
        usage=[
            UsageFact(1, 0, quarters([(0, 60)]), quarters([(0, 10)])[:10] + b"\x50" + bytes(49))
        ],
    ) == {(ADA, State.ACTIVE): 10 + 1 / 3, (None, State.UNALLOCATED): 49 + 2 / 3}


def test_work_beyond_the_held_span_of_a_minute_was_not_the_holders():
    # 40 s of work in a minute of which 20 s were held: 20 s at least were somebody else's.
    worked = UsageFact(1, 0, quarters([(0, 60)]), one_minute(10, 160))
    assert minutes_of(
        devices=[gpu(1)], claims=[claim(ADA, 1, held=(10, 10 + 1 / 3))], usage=[worked]
    ) == {
        (ADA, State.ACTIVE): 1 / 3,
        (None, State.ACTIVE, Flag.UNCLAIMED): 1 / 3,
        (None, State.UNALLOCATED): pytest.approx(59 + 1 / 3),
    }


def test_two_jobs_in_one_minute_each_get_their_own_work():
    # Ada held 20 s and worked them; Ben held the other 40 s and worked 10 s.
    rows = [
        UsageFact(1, 0, quarters([(0, 60)]), one_minute(10, 120)),
        UsageFact(1, 101, one_minute(10, 80), one_minute(10, 80)),
        UsageFact(1, 102, one_minute(10, 160), one_minute(10, 40)),
    ]
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1, held=(10, 10 + 1 / 3)), claim(BEN, 1, held=(10 + 1 / 3, 11))],
        usage=rows,
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE): 1 / 3,
        (BEN, State.ACTIVE): 1 / 6,
        (BEN, State.HELD_IDLE): 1 / 2,
        (None, State.UNALLOCATED): 59,
    }


def test_process_rows_in_a_cut_minute_without_a_device_reading_show_nothing():
    rows = [
        UsageFact(1, 101, one_minute(10, 80), one_minute(10, 80)),
        UsageFact(1, 102, one_minute(10, 160), one_minute(10, 40)),
    ]
    assert minutes_of(
        devices=[gpu(1)], claims=[claim(ADA, 1, held=(10, 10.5))], usage=rows, keys=KEYS
    ) == {(ADA, State.UNOBSERVED): 0.5, (None, State.UNALLOCATED): 59.5}


def test_a_claim_inside_one_minute_takes_the_minutes_work_first():
    worked = UsageFact(1, 0, quarters([(0, 60)]), one_minute(10, 60))
    assert minutes_of(
        devices=[gpu(1)], claims=[claim(ADA, 1, held=(10.25, 10.75))], usage=[worked]
    ) == {
        (ADA, State.ACTIVE): 0.25,
        (ADA, State.HELD_IDLE): 0.25,
        (None, State.UNALLOCATED): 59.5,
    }


def test_a_foreign_process_in_a_cut_minute_leaves_only_own_work():
    rows = [
        UsageFact(1, 0, quarters([(0, 60)]), one_minute(10, 240)),
        UsageFact(1, 102, one_minute(10, 240), one_minute(10, 240)),
    ]
    assert minutes_of(
        devices=[gpu(1)], claims=[claim(ADA, 1, held=(0, 10.5))], usage=rows, keys=KEYS
    ) == {
        (ADA, State.HELD_IDLE): 10.5,
        (BEN, State.ACTIVE, Flag.UNSCHEDULED): 0.5,
        (None, State.UNALLOCATED): 49,
    }


def test_a_running_hour_is_split_as_far_as_it_has_come():
    lived = Piece(0, 20 * 60_000 + 30_000, 10, 10, 10)
    answer = split(
        through_ms=lived.end_ms,
        charges={7: [lived]},
        devices=[gpu(1), gpu(2)],
        claims=[claim(ADA, 1)],
        usage=[usage(1, 101, observed=[(0, 20)], worked=[(0, 20)])],
        keys=KEYS,
    )
    assert answer.capacity_ms == 2 * lived.end_ms
    assert time_of(answer) == {
        (ADA, State.ACTIVE): 20,
        (ADA, State.UNOBSERVED): 0.5,
        (None, State.UNALLOCATED): 20.5,
    }


def test_an_hour_that_has_not_begun_has_no_lines():
    answer = split(through_ms=-5, charges={7: []}, devices=[gpu(1)])
    assert (answer.lines, answer.capacity_ms) == ((), 0)


def test_a_node_counts_only_while_it_lives_and_its_devices_with_it():
    assert minutes_of(
        lived_ms=minutes(15, 45),
        charges={7: [Piece(*minutes(15, 45), 10, 10, 10)]},
        devices=[gpu(1), gpu(2, (30, 60)), gpu(3, (0, 10))],
        claims=[claim(ADA, 1, 2)],
    ) == {(ADA, State.UNOBSERVED): 30 + 15}


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [Piece(0, 60_000, 1, 1, 1)],
        [Piece(60_000, HOUR_MS, 1, 1, 1)],
        [Piece(0, 60_000, 1, 1, 1), Piece(30_000, HOUR_MS, 1, 1, 1)],
        [Piece(0, HOUR_MS, 1, 1, 1), Piece(HOUR_MS, HOUR_MS, 1, 1, 1)],
    ],
)
def test_pieces_that_do_not_tile_the_lived_time_are_refused(pieces):
    with pytest.raises(PiecesDoNotCoverTheHour):
        split_node_hour(node_hour(charges={7: pieces}, devices=[gpu(1)]))


def test_a_node_without_known_devices_is_split_by_its_declared_count():
    assert minutes_of(capacity=[EIGHT], claims=[claim(ADA, 5, 6)]) == {
        (ADA, State.UNOBSERVED, Flag.UNPINNED): 120,
        (None, State.UNALLOCATED): 360,
    }


def test_claims_over_a_declared_count_are_contested():
    answer = split(
        capacity=[CapacityFact(0, HOUR_MS, 4)], claims=[claim(ADA, gpus=3), claim(BEN, gpus=3)]
    )
    assert answer.capacity_ms == 4 * HOUR_MS
    both = Flag.UNPINNED | Flag.CONTESTED
    assert time_of(answer) == {
        (ADA, State.UNOBSERVED, both): 120,
        (BEN, State.UNOBSERVED, both): 120,
    }


def test_a_claim_on_all_of_a_declared_count_is_certain():
    assert minutes_of(capacity=[EIGHT], claims=[claim(ADA, gpus=8)]) == {
        (ADA, State.UNOBSERVED): 480
    }


def test_a_declared_count_may_change_within_the_hour():
    answer = split(
        capacity=[CapacityFact(*minutes(0, 30), 8), CapacityFact(*minutes(30, 60), 2)],
        claims=[claim(ADA, gpus=2)],
    )
    assert answer.capacity_ms == 5 * HOUR_MS
    assert time_of(answer) == {
        (ADA, State.UNOBSERVED): 60,
        (ADA, State.UNOBSERVED, Flag.UNPINNED): 60,
        (None, State.UNALLOCATED): 180,
    }


def test_before_any_gpu_is_known_the_declared_count_is_what_a_claim_is_on():
    # The agent first spoke at minute 20; Ada was granted GPU 1 from the start.
    assert minutes_of(
        devices=[gpu(1, (20, 60)), gpu(2, (20, 60))],
        capacity=[CapacityFact(0, HOUR_MS, 2)],
        claims=[claim(ADA, 1)],
        usage=[usage(1, 101, observed=[(20, 60)], worked=[(20, 60)])],
        keys=KEYS,
    ) == {
        (ADA, State.UNOBSERVED, Flag.UNPINNED): 20,
        (ADA, State.ACTIVE): 40,
        (None, State.UNALLOCATED): 60,
    }


def test_a_count_is_declared_between_the_lives_of_gpus_too():
    answer = split(
        devices=[gpu(1, (0, 20)), gpu(2, (10, 30)), gpu(3, (50, 60))],
        capacity=[CapacityFact(0, HOUR_MS, 2)],
    )
    assert answer.capacity_ms == sum(minutes(0, 20 + 20 + 2 * 20 + 10))


def test_a_device_described_again_in_the_hour_is_one_device_to_its_holder():
    again = gpu(2, (30, 60))._replace(stable_key="GPU-0001")
    assert minutes_of(devices=[gpu(1, (0, 30)), again], claims=[claim(ADA, 1, 2, gpus=1)]) == {
        (ADA, State.UNOBSERVED): 60
    }


def test_a_node_without_any_capacity_still_carries_its_cost():
    (line,) = split(charges={7: [Piece(0, HOUR_MS, 30, 20, 10)]}).lines
    assert (line.state, line.unit_ms) == (State.UNALLOCATED, 0)
    assert (line.list_micros, line.contracted_micros, line.effective_micros) == (30, 20, 10)


def test_a_claim_of_no_gpu_or_outside_the_hour_holds_nothing():
    claims = [claim(ADA, gpus=0), claim(BEN, 1, held=(-30, 0)), claim(13, gpus=Fraction(-1))]
    assert minutes_of(devices=[gpu(1)], claims=claims) == {(None, State.UNALLOCATED): 60}
