"""Every GPU-second is in one state: the rows of the state table, one by one."""

from fractions import Fraction

from apps.economics.hours import HOUR_MS
from apps.economics.node_hour import OutageOfHour
from apps.economics.states import Evidence, Flag, State
from tests.economics.node_hours import (
    claim,
    gpu,
    key,
    minutes,
    minutes_of,
    split,
    usage,
)

ADA, BEN = 11, 12
ADAS_KEY, BENS_KEY, STRANGE_KEY = 101, 102, 199
KEYS = [key(ADAS_KEY, ADA), key(BENS_KEY, BEN)]
HALF = Fraction(1, 2)


def test_a_holder_whose_process_worked_is_active_and_idle_for_the_rest():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1)],
        usage=[usage(1, ADAS_KEY, worked=[(0, 45)])],
        keys=KEYS,
    ) == {(ADA, State.ACTIVE): 45, (ADA, State.HELD_IDLE): 15}


def test_a_device_that_worked_for_its_only_holder_was_his_without_a_process_seen():
    assert minutes_of(
        devices=[gpu(1)], claims=[claim(ADA, 1)], usage=[usage(1, worked=[(0, 30)])]
    ) == {(ADA, State.ACTIVE): 30, (ADA, State.HELD_IDLE): 30}


def test_time_held_and_not_observed_is_unobserved():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1)],
        usage=[usage(1, ADAS_KEY, observed=[(0, 20)], worked=[(0, 10)])],
        keys=KEYS,
    ) == {(ADA, State.ACTIVE): 10, (ADA, State.HELD_IDLE): 10, (ADA, State.UNOBSERVED): 40}


def test_a_claimed_node_whose_agent_never_spoke_is_unobserved():
    assert minutes_of(devices=[gpu(1)], claims=[claim(ADA, 1)]) == {(ADA, State.UNOBSERVED): 60}


def test_work_that_none_of_several_holders_explains_is_unobserved_for_all_of_them():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1, gpus=HALF), claim(BEN, 1, gpus=HALF)],
        usage=[
            usage(1, worked=[(0, 40)]),
            usage(1, ADAS_KEY, worked=[(0, 10)]),
            usage(1, BENS_KEY, worked=[(10, 20)]),
        ],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE): 5,
        (ADA, State.UNOBSERVED): 10,
        (ADA, State.HELD_IDLE): 15,
        (BEN, State.ACTIVE): 5,
        (BEN, State.UNOBSERVED): 10,
        (BEN, State.HELD_IDLE): 15,
    }


def test_a_known_jobs_process_without_a_claim_is_active_and_unscheduled():
    assert minutes_of(
        devices=[gpu(1)], usage=[usage(1, ADAS_KEY, worked=[(0, 25)])], keys=KEYS
    ) == {(ADA, State.ACTIVE, Flag.UNSCHEDULED): 25, (None, State.UNALLOCATED): 35}


def test_work_under_a_key_without_a_job_is_unclaimed_and_keeps_its_key():
    assert minutes_of(devices=[gpu(1)], usage=[usage(1, STRANGE_KEY, worked=[(0, 25)])]) == {
        (-STRANGE_KEY, State.ACTIVE, Flag.UNCLAIMED): 25,
        (None, State.UNALLOCATED): 35,
    }


def test_work_without_any_key_is_unclaimed_by_nobody():
    assert minutes_of(devices=[gpu(1)], usage=[usage(1, worked=[(0, 25)])]) == {
        (None, State.ACTIVE, Flag.UNCLAIMED): 25,
        (None, State.UNALLOCATED): 35,
    }


def test_unheld_processes_together_get_what_the_device_worked():
    assert minutes_of(
        devices=[gpu(1)],
        usage=[
            usage(1, worked=[(0, 40)]),
            usage(1, ADAS_KEY, worked=[(0, 40)]),
            usage(1, STRANGE_KEY, worked=[(0, 40)]),
        ],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE, Flag.UNSCHEDULED): 20,
        (-STRANGE_KEY, State.ACTIVE, Flag.UNCLAIMED): 20,
        (None, State.UNALLOCATED): 20,
    }


def test_a_process_that_did_nothing_leaves_the_device_unallocated():
    assert minutes_of(
        devices=[gpu(1)],
        usage=[
            usage(1, worked=[(0, 30)]),
            usage(1, ADAS_KEY, worked=[(0, 30)]),
            usage(1, STRANGE_KEY),
        ],
        keys=KEYS,
    ) == {(ADA, State.ACTIVE, Flag.UNSCHEDULED): 30, (None, State.UNALLOCATED): 30}


def test_a_device_nobody_holds_or_uses_is_unallocated_observed_or_not():
    answer = split(devices=[gpu(1)], usage=[usage(1, observed=[(0, 30)])])
    (line,) = answer.lines
    assert (line.job_id, line.state, line.unit_ms) == (None, State.UNALLOCATED, HOUR_MS)
    assert line.evidence == Evidence.DEVICE | Evidence.NONE


def test_an_outage_takes_time_from_unallocated_only():
    assert minutes_of(
        devices=[gpu(1), gpu(2), gpu(3)],
        claims=[claim(ADA, 1, held=(0, 30))],
        usage=[usage(2, worked=[(0, 10)])],
        outages=[OutageOfHour(None, *minutes(0, 20)), OutageOfHour(3, *minutes(40, 60))],
    ) == {
        (ADA, State.UNOBSERVED): 30,
        (None, State.ACTIVE, Flag.UNCLAIMED): 10,
        (None, State.OUT_OF_SERVICE): 10 + 20 + 20,
        (None, State.UNALLOCATED): 30 + 40 + 20,
    }


def test_another_jobs_process_on_a_claimed_device_moves_no_money():
    answer = split(
        devices=[gpu(1)],
        claims=[claim(ADA, 1)],
        usage=[
            usage(1, worked=[(0, 50)]),
            usage(1, ADAS_KEY, worked=[(0, 20)]),
            usage(1, BENS_KEY, worked=[(20, 50)]),
        ],
        keys=KEYS,
    )
    assert {(line.job_id, line.state): line.unit_ms for line in answer.lines} == {
        (ADA, State.ACTIVE): 20 * 60_000,
        (ADA, State.HELD_IDLE): 40 * 60_000,
    }


def test_a_foreign_process_counts_only_in_the_minutes_in_which_it_was_seen():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1)],
        usage=[
            usage(1, worked=[(0, 60)]),
            usage(1, BENS_KEY, observed=[(0, 10)], worked=[(0, 10)]),
        ],
        keys=KEYS,
    ) == {(ADA, State.ACTIVE): 50, (ADA, State.HELD_IDLE): 10}


def test_a_foreign_process_under_the_only_key_leaves_the_holder_idle():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1)],
        usage=[usage(1, BENS_KEY, worked=[(0, 10)])],
        keys=KEYS,
    ) == {(ADA, State.HELD_IDLE): 60}


def test_a_foreign_process_seen_before_the_claim_leaves_the_devices_work_to_the_holder():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1, held=(30, 60))],
        usage=[
            usage(1, worked=[(0, 60)]),
            usage(1, BENS_KEY, observed=[(0, 30)], worked=[(0, 30)]),
        ],
        keys=KEYS,
    ) == {(BEN, State.ACTIVE, Flag.UNSCHEDULED): 30, (ADA, State.ACTIVE): 30}


def test_two_keys_of_one_job_are_one_holder():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1)],
        usage=[
            usage(1, worked=[(0, 40)]),
            usage(1, ADAS_KEY, worked=[(0, 20)]),
            usage(1, 103, worked=[(20, 40)]),
        ],
        keys=[*KEYS, key(103, ADA)],
    ) == {(ADA, State.ACTIVE): 40, (ADA, State.HELD_IDLE): 20}


def test_process_rows_without_the_devices_own_reading_show_nothing():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1)],
        usage=[usage(1, ADAS_KEY, worked=[(0, 20)]), usage(1, BENS_KEY, worked=[(0, 20)])],
        keys=KEYS,
    ) == {(ADA, State.UNOBSERVED): 60}


def test_evidence_says_what_each_state_rests_on():
    answer = split(
        devices=[gpu(1), gpu(2), gpu(3)],
        claims=[claim(ADA, 1, 2), claim(BEN, 3)],
        usage=[usage(1, ADAS_KEY, worked=[(0, 30)]), usage(2, worked=[(0, 30)])],
        keys=KEYS,
    )
    assert {(line.job_id, line.state): line.evidence for line in answer.lines} == {
        (ADA, State.ACTIVE): Evidence.PROCESS | Evidence.DEVICE,
        (ADA, State.HELD_IDLE): Evidence.DEVICE,
        (BEN, State.UNOBSERVED): Evidence.NONE,
    }


def test_evidence_of_unexplained_work_is_the_device():
    answer = split(
        devices=[gpu(1)],
        claims=[claim(ADA, 1, gpus=HALF), claim(BEN, 1, gpus=HALF)],
        usage=[usage(1, worked=[(0, 60)])],
    )
    assert {line.evidence for line in answer.lines} == {Evidence.DEVICE}


def test_a_requeued_key_is_each_attempts_in_its_own_time():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1, held=(0, 20)), claim(BEN, 1, held=(30, 60))],
        usage=[usage(1, ADAS_KEY, observed=[(0, 60)], worked=[(0, 20), (25, 50)])],
        keys=[key(ADAS_KEY, ADA, (0, 20)), key(ADAS_KEY, BEN, (30, 60))],
    ) == {
        (ADA, State.ACTIVE): 20,
        (-ADAS_KEY, State.ACTIVE, Flag.UNCLAIMED): 5,
        (None, State.UNALLOCATED): 5,
        (BEN, State.ACTIVE): 20,
        (BEN, State.HELD_IDLE): 10,
    }


def test_a_key_of_two_holders_is_his_whose_it_is_at_the_time():
    answer = split(
        devices=[gpu(1)],
        claims=[claim(ADA, 1, gpus=HALF, held=(30, 60)), claim(BEN, 1, gpus=HALF, held=(30, 60))],
        usage=[usage(1, ADAS_KEY, observed=[(30, 60)], worked=[(30, 60)])],
        keys=[key(ADAS_KEY, ADA, (0, 30)), key(ADAS_KEY, BEN, (30, 60))],
    )
    assert {line.job_id for line in answer.lines if line.state is State.ACTIVE} == {BEN}
