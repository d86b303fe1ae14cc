"""Parts of a GPU: replicas, MIG slices, claims over capacity."""

from fractions import Fraction

import pytest

from apps.economics.hours import HOUR_MS
from apps.economics.node_hour import OutageOfHour
from apps.economics.rates import Piece
from apps.economics.states import Flag, State
from tests.economics.node_hours import (
    claim,
    gpu,
    key,
    minutes,
    minutes_of,
    slice_of,
    split,
    usage,
)

ADA, BEN, CY, DEE = 11, 12, 13, 14
KEYS = [key(101, ADA), key(102, BEN)]
QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)


def test_four_quarter_shares_are_one_gpu_hour():
    answer = split(
        devices=[gpu(1)], claims=[claim(job, 1, gpus=QUARTER) for job in (ADA, BEN, CY, DEE)]
    )
    assert [line.unit_ms for line in answer.lines] == [HOUR_MS // 4] * 4
    assert not any(line.flags for line in answer.lines)


def test_a_replica_is_held_even_when_alone():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1, gpus=QUARTER)],
        usage=[usage(1, 101, worked=[(0, 40)])],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE): 10,
        (ADA, State.HELD_IDLE): 5,
        (None, State.UNALLOCATED): 45,
    }


def test_the_free_part_of_a_device_pays_for_processes_without_a_claim():
    answer = split(
        devices=[gpu(1)],
        claims=[claim(ADA, 1, gpus=QUARTER)],
        usage=[
            usage(1, worked=[(0, 40)]),
            usage(1, 101, worked=[(0, 20)]),
            usage(1, 102, worked=[(20, 40)]),
            usage(1, 199),
        ],
        keys=KEYS,
    )
    spent = {(line.job_id, line.state, line.flags): line.unit_ms / 60_000 for line in answer.lines}
    assert spent == {
        (ADA, State.ACTIVE, 0): 5,
        (ADA, State.HELD_IDLE, 0): 10,
        (BEN, State.ACTIVE, Flag.UNSCHEDULED): 15,
        (None, State.UNALLOCATED, 0): 30,
    }


def test_two_claims_on_one_gpu_are_scaled_to_it_and_contested():
    assert minutes_of(
        devices=[gpu(1)],
        claims=[claim(ADA, 1), claim(BEN, 1)],
        usage=[
            usage(1, worked=[(0, 60)]),
            usage(1, 101, worked=[(0, 40)]),
            usage(1, 102, worked=[(40, 60)]),
        ],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE, Flag.CONTESTED): 20,
        (ADA, State.HELD_IDLE, Flag.CONTESTED): 10,
        (BEN, State.ACTIVE, Flag.CONTESTED): 10,
        (BEN, State.HELD_IDLE, Flag.CONTESTED): 20,
    }


def test_uneven_claims_over_capacity_keep_their_proportion():
    assert minutes_of(devices=[gpu(1)], claims=[claim(ADA, 1), claim(BEN, 1, gpus=HALF)]) == {
        (ADA, State.UNOBSERVED, Flag.CONTESTED): 40,
        (BEN, State.UNOBSERVED, Flag.CONTESTED): 20,
    }


def test_two_claims_of_one_job_on_a_device_are_one_holder():
    claims = [
        claim(ADA, 1, gpus=QUARTER),
        claim(ADA, 1, gpus=QUARTER, divided_evenly=True)._replace(claim_id=99),
        claim(BEN, 1, gpus=HALF),
    ]
    assert minutes_of(devices=[gpu(1)], claims=claims) == {
        (ADA, State.UNOBSERVED, Flag.DIVIDED_EVENLY): 30,
        (BEN, State.UNOBSERVED): 30,
    }


def mig(*shares: Fraction) -> list:
    return [gpu(1), *(slice_of(1, 2 + index, share) for index, share in enumerate(shares))]


def test_slices_take_their_shares_and_the_rest_is_stranded():
    # An H100 in 3g + 2g + 1g: 1/2 + 2/7 + 1/7; 1/14 is left over.
    assert minutes_of(
        devices=mig(HALF, Fraction(2, 7), Fraction(1, 7)),
        claims=[claim(ADA, 2), claim(BEN, 3)],
        usage=[usage(2, 101, worked=[(0, 30)])],
        keys=KEYS,
    ) == {
        (ADA, State.ACTIVE): 15,
        (ADA, State.HELD_IDLE): 15,
        (BEN, State.UNOBSERVED): pytest.approx(60 * 2 / 7, abs=1e-4),
        (None, State.UNALLOCATED): pytest.approx(60 / 7, abs=1e-4),
        (None, State.STRANDED): pytest.approx(60 / 14, abs=1e-4),
    }


def test_the_money_of_slices_is_the_worked_example():
    # $2.50 an hour: 3g, 2g, 1g and what is left over are 1,250,000, 714,286, 357,143 and 178,571
    # by their shares; by their milliseconds, of which there are whole ones only, one moves.
    answer = split(
        charges={7: [Piece(0, HOUR_MS, *[2_500_000] * 3)]},
        devices=mig(HALF, Fraction(2, 7), Fraction(1, 7)),
        claims=[claim(ADA, 2), claim(BEN, 3), claim(CY, 4)],
    )
    assert {line.job_id: line.effective_micros for line in answer.lines} == {
        ADA: 1_250_000,
        BEN: 714_285,
        CY: 357_143,
        None: 178_572,
    }


def test_a_geometry_over_one_gpu_is_scaled_and_not_contested():
    # 4g + 3g: 4/7 + 1/2 = 15/14.
    assert minutes_of(devices=mig(Fraction(4, 7), HALF), claims=[claim(ADA, 2), claim(BEN, 3)]) == {
        (ADA, State.UNOBSERVED): 32,
        (BEN, State.UNOBSERVED): 28,
    }


def test_a_claim_on_the_whole_gpu_holds_its_slices_and_what_they_leave():
    assert minutes_of(
        devices=mig(HALF, QUARTER),
        claims=[claim(ADA, 1)],
        usage=[usage(2, worked=[(0, 60)])],
    ) == {(ADA, State.ACTIVE): 30, (ADA, State.UNOBSERVED): 30}


def test_slices_made_again_in_the_hour_hold_only_their_own_time():
    devices = [
        gpu(1),
        slice_of(1, 2, HALF, (0, 20)),
        slice_of(1, 3, HALF, (0, 20)),
        slice_of(1, 4, QUARTER, (40, 60)),
    ]
    assert minutes_of(
        devices=devices,
        claims=[
            claim(ADA, 2, held=(0, 20)),
            claim(BEN, 4, held=(40, 60)),
            claim(CY, 1, held=(20, 40)),
        ],
        usage=[usage(1, 102, worked=[(0, 60)])],
        keys=KEYS,
        outages=[OutageOfHour(3, *minutes(0, 10))],
    ) == {
        (ADA, State.UNOBSERVED): 10,
        (None, State.OUT_OF_SERVICE): 5,
        (None, State.UNALLOCATED): 5,
        (CY, State.HELD_IDLE): 20,
        (BEN, State.UNOBSERVED): 5,
        (None, State.STRANDED): 15,
    }


def test_a_slice_of_no_known_gpu_has_no_time():
    assert minutes_of(devices=[gpu(1), slice_of(9, 2, HALF)], claims=[claim(ADA, 2, gpus=1)]) == {
        (ADA, State.UNOBSERVED): 60
    }


def test_replicas_of_a_slice_share_the_slice():
    assert minutes_of(
        devices=mig(HALF, HALF), claims=[claim(ADA, 2, gpus=HALF), claim(BEN, 3, gpus=QUARTER)]
    ) == {
        (ADA, State.UNOBSERVED): 15,
        (BEN, State.UNOBSERVED): 7.5,
        (None, State.UNALLOCATED): 15 + 22.5,
    }


def test_a_part_of_a_millisecond_goes_to_somebody_whole():
    instant = (0, 1 / 60_000)
    answer = split(
        devices=[gpu(1, instant)],
        charges={7: [Piece(0, HOUR_MS, 5, 5, 5)]},
        claims=[claim(job, 1, gpus=QUARTER, held=instant) for job in (ADA, BEN, CY, DEE)],
    )
    assert [(line.job_id, line.unit_ms, line.list_micros) for line in answer.lines] == [(ADA, 1, 5)]
