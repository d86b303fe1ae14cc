"""Counts without devices: pinned by what was seen, else divided evenly, and said so."""

from fractions import Fraction

from apps.economics.hours import HOUR_MS
from apps.economics.states import Evidence, Flag, State
from tests.economics.node_hours import (
    claim,
    gpu,
    key,
    minutes_of,
    slice_of,
    split,
    usage,
)

ADA, BEN, CY = 11, 12, 13
KEYS = [key(101, ADA), key(102, BEN)]
FOUR = [gpu(device) for device in (1, 2, 3, 4)]
EACH = (1, 2, 3, 4)


def test_a_count_is_pinned_by_the_devices_its_processes_were_seen_on():
    assert minutes_of(
        devices=FOUR,
        claims=[claim(ADA, gpus=2)],
        usage=[usage(2, 101, worked=[(0, 30)]), usage(4, 101, worked=[(0, 60)])],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE): 90,
        (ADA, State.HELD_IDLE): 30,
        (None, State.UNALLOCATED): 120,
    }


def test_what_no_process_pins_is_divided_over_the_other_devices():
    assert minutes_of(
        devices=FOUR,
        claims=[claim(ADA, gpus=2)],
        usage=[usage(2, 101, worked=[(0, 60)]), *(usage(each) for each in (1, 3, 4))],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE): 60,
        (ADA, State.HELD_IDLE, Flag.UNPINNED): 60,
        (None, State.UNALLOCATED): 120,
    }


def test_processes_on_more_devices_than_claimed_pin_nothing():
    answer = split(
        devices=FOUR,
        claims=[claim(ADA, gpus=2)],
        usage=[usage(each, 101, worked=[(0, 30)]) for each in (1, 2, 3)],
        keys=KEYS,
    )
    assert {(line.job_id, line.state): (line.unit_ms, line.evidence) for line in answer.lines} == {
        (ADA, State.ACTIVE): (HOUR_MS * 3 // 4, Evidence.POOLED),
        (ADA, State.HELD_IDLE): (HOUR_MS * 3 // 4, Evidence.POOLED),
        (ADA, State.UNOBSERVED): (HOUR_MS // 2, Evidence.NONE),
        (None, State.UNALLOCATED): (HOUR_MS * 2, Evidence.DEVICE | Evidence.NONE),
    }


def test_unpinned_claims_take_the_mean_activity_of_the_devices():
    assert minutes_of(
        devices=FOUR,
        claims=[claim(ADA, gpus=1), claim(BEN, gpus=3)],
        usage=[usage(1, worked=[(0, 60)]), usage(2, worked=[(0, 60)]), usage(3), usage(4)],
    ) == {
        (ADA, State.ACTIVE, Flag.UNPINNED): 30,
        (ADA, State.HELD_IDLE, Flag.UNPINNED): 30,
        (BEN, State.ACTIVE, Flag.UNPINNED): 90,
        (BEN, State.HELD_IDLE, Flag.UNPINNED): 90,
    }


def test_the_mean_leaves_out_the_work_of_processes_that_are_not_the_holders():
    assert minutes_of(
        devices=[gpu(1), gpu(2)],
        claims=[claim(ADA, gpus=1)],
        usage=[usage(1, 102, worked=[(0, 60)]), usage(2, worked=[(0, 20)])],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE, Flag.UNPINNED): 10,
        (ADA, State.HELD_IDLE, Flag.UNPINNED): 50,
        (BEN, State.ACTIVE, Flag.UNSCHEDULED): 30,
        (None, State.UNALLOCATED): 30,
    }


def test_more_unpinned_gpus_than_devices_are_contested():
    both = Flag.UNPINNED | Flag.CONTESTED
    assert minutes_of(
        devices=[gpu(1), gpu(2)], claims=[claim(ADA, gpus=3), claim(BEN, gpus=1)]
    ) == {(ADA, State.UNOBSERVED, both): 90, (BEN, State.UNOBSERVED, both): 30}


def test_a_count_alone_on_all_devices_is_certain_of_them():
    assert minutes_of(
        devices=FOUR,
        claims=[claim(ADA, gpus=4)],
        usage=[usage(each, worked=[(0, 15)]) for each in EACH],
    ) == {(ADA, State.ACTIVE): 60, (ADA, State.HELD_IDLE): 180}


def test_a_count_over_all_devices_is_contested_with_itself():
    assert minutes_of(devices=[gpu(1)], claims=[claim(ADA, gpus=2)]) == {
        (ADA, State.UNOBSERVED, Flag.CONTESTED): 60
    }


def test_a_device_wanted_by_more_processes_than_fit_pins_none_of_them():
    assert minutes_of(
        devices=[gpu(1), gpu(2)],
        claims=[claim(ADA, gpus=1), claim(BEN, gpus=1)],
        usage=[
            usage(1, worked=[(0, 60)]),
            usage(1, 101, worked=[(0, 30)]),
            usage(1, 102, worked=[(30, 60)]),
            usage(2),
        ],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE, Flag.UNPINNED): 30,
        (ADA, State.HELD_IDLE, Flag.UNPINNED): 30,
        (BEN, State.ACTIVE, Flag.UNPINNED): 30,
        (BEN, State.HELD_IDLE, Flag.UNPINNED): 30,
    }


def test_shares_of_one_device_may_be_pinned_by_evidence_together():
    half = Fraction(1, 2)
    assert minutes_of(
        devices=[gpu(1), gpu(2)],
        claims=[claim(ADA, gpus=half), claim(BEN, gpus=half)],
        usage=[
            usage(1, worked=[(0, 60)]),
            usage(1, 101, worked=[(0, 30)]),
            usage(1, 102, worked=[(30, 60)]),
        ],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE): 15,
        (ADA, State.HELD_IDLE): 15,
        (BEN, State.ACTIVE): 15,
        (BEN, State.HELD_IDLE): 15,
        (None, State.UNALLOCATED): 60,
    }


def test_granted_devices_are_not_divided_among_the_unpinned():
    assert minutes_of(
        devices=FOUR,
        claims=[claim(ADA, 1, 2), claim(BEN, gpus=1)],
        usage=[usage(each, worked=[(0, 60)]) for each in (1, 2)],
    ) == {
        (ADA, State.ACTIVE): 120,
        (BEN, State.UNOBSERVED, Flag.UNPINNED): 60,
        (None, State.UNALLOCATED): 60,
    }


def test_a_process_on_a_device_granted_to_another_pins_nothing():
    assert minutes_of(
        devices=[gpu(1), gpu(2), gpu(3)],
        claims=[claim(ADA, 1), claim(BEN, gpus=1)],
        usage=[usage(1, 102, worked=[(0, 60)])],
        keys=KEYS,
    ) == {
        (ADA, State.HELD_IDLE): 60,
        (BEN, State.UNOBSERVED, Flag.UNPINNED): 60,
        (None, State.UNALLOCATED): 60,
    }


def test_unpinned_claims_share_granted_devices_only_where_no_other_is_left():
    both = Flag.UNPINNED | Flag.CONTESTED
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1), claim(BEN, gpus=Fraction(1, 2)), claim(CY, gpus=Fraction(1, 2))],
        usage=[usage(1, worked=[(0, 40)]), usage(1, 101, worked=[(0, 10)])],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE, Flag.CONTESTED): 5,
        (ADA, State.HELD_IDLE, Flag.CONTESTED): 25,
        (BEN, State.ACTIVE, both): 7.5,
        (BEN, State.HELD_IDLE, both): 7.5,
        (CY, State.ACTIVE, both): 7.5,
        (CY, State.HELD_IDLE, both): 7.5,
    }


def test_more_gpus_than_the_named_devices_leave_the_rest_unpinned():
    assert minutes_of(devices=FOUR, claims=[claim(ADA, 1, 99, gpus=2)]) == {
        (ADA, State.UNOBSERVED): 60,
        (ADA, State.UNOBSERVED, Flag.UNPINNED): 60,
        (None, State.UNALLOCATED): 120,
    }


def test_fewer_gpus_than_the_named_devices_are_spread_over_them():
    assert minutes_of(devices=FOUR, claims=[claim(ADA, 1, 2, 2, gpus=1)]) == {
        (ADA, State.UNOBSERVED): 60,
        (None, State.UNALLOCATED): 180,
    }


def test_a_device_is_free_again_when_its_holder_has_left():
    # While Ada has one of two devices, Ben is sure of the other; then he may be on either.
    assert minutes_of(
        devices=[gpu(1), gpu(2)], claims=[claim(ADA, 1, held=(0, 30)), claim(BEN, gpus=1)]
    ) == {
        (ADA, State.UNOBSERVED): 30,
        (BEN, State.UNOBSERVED): 30,
        (BEN, State.UNOBSERVED, Flag.UNPINNED): 30,
        (None, State.UNALLOCATED): 30,
    }


def test_a_device_that_changes_hands_next_door_changes_nothing_for_the_unpinned():
    changing = split(
        devices=FOUR,
        claims=[claim(ADA, gpus=1), claim(BEN, 4, held=(0, 7.777)), claim(CY, 4, held=(7.777, 60))],
        usage=[usage(each, worked=[(0, 13)]) for each in (1, 2, 3)],
    )
    steady = split(
        devices=FOUR,
        claims=[claim(ADA, gpus=1), claim(BEN, 4)],
        usage=[usage(each, worked=[(0, 13)]) for each in (1, 2, 3)],
    )
    ours = [line for line in changing.lines if line.flags == Flag.UNPINNED]
    assert ours == [line for line in steady.lines if line.flags == Flag.UNPINNED]
    assert sum(line.unit_ms for line in ours) == HOUR_MS


def test_slices_are_devices_like_any_other_and_their_gpu_is_not():
    half = Fraction(1, 2)
    assert minutes_of(
        devices=[gpu(1), slice_of(1, 2, half), slice_of(1, 3, half)], claims=[claim(ADA, gpus=1)]
    ) == {(ADA, State.UNOBSERVED, Flag.UNPINNED): 30, (None, State.UNALLOCATED): 30}


def test_a_count_held_while_no_device_lives_holds_nothing():
    assert minutes_of(devices=[gpu(1, (30, 60))], claims=[claim(ADA, gpus=1, held=(0, 40))]) == {
        (ADA, State.UNOBSERVED): 10,
        (None, State.UNALLOCATED): 20,
    }


def test_a_total_that_was_divided_evenly_says_so():
    assert minutes_of(devices=[gpu(1)], claims=[claim(ADA, 1, divided_evenly=True)]) == {
        (ADA, State.UNOBSERVED, Flag.DIVIDED_EVENLY): 60
    }
