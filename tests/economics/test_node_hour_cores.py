"""Cores that carry a node's cost: alone where it is measured in them, or beside its GPUs."""

import sys
from fractions import Fraction
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.hours import HOUR_MS
from apps.economics.node_hour import (
    CapacityFact,
    ClaimFact,
    CoresFact,
    NodeHourSplit,
    OutageOfHour,
    split_node_hour,
)
from apps.economics.rates import Piece
from apps.economics.states import Evidence, Flag, State
from tests.economics.node_hours import NO_FLAG, claim, gpu, minutes, node_hour, split, usage

ADA, BEN = 11, 12
THIRTY_TWO = CoresFact([CapacityFact(0, HOUR_MS, 32)])


def cores(
    job_id: int, count: Fraction | int | None, held: tuple[float, float] = (0, 60)
) -> ClaimFact:
    """A job's claim on that many cores, of no GPU; None: nobody said how many."""
    wanted = None if count is None else Fraction(count)
    return ClaimFact(job_id, job_id, *minutes(*held), Fraction(0), cores=wanted)


def costing(micros: int) -> dict[int, list[Piece]]:
    return {1: [Piece(0, HOUR_MS, micros, micros, micros)]}


def money_of(answer: NodeHourSplit) -> dict[tuple[int | None, State, Flag], int]:
    """Effective micro-units by job, state and flags."""
    return {
        (line.job_id, line.state, line.flags): line.effective_micros or 0 for line in answer.lines
    }


def test_a_job_carries_the_cores_it_holds_and_the_rest_is_unallocated():
    answer = split(cores=THIRTY_TWO, claims=[cores(ADA, 16)], charges=costing(1_600_000))

    assert money_of(answer) == {
        (ADA, State.UNOBSERVED, NO_FLAG): 800_000,
        (None, State.UNALLOCATED, NO_FLAG): 800_000,
    }
    assert answer.capacity_ms == 32 * HOUR_MS
    assert {line.evidence for line in answer.lines} == {Evidence.NONE}


def test_gpus_of_a_node_measured_in_cores_carry_nothing():
    held = cores(ADA, 32)._replace(gpus=Fraction(4))
    answer = split(cores=THIRTY_TWO, claims=[held], capacity=[], charges=costing(100))

    assert money_of(answer) == {(ADA, State.UNOBSERVED, NO_FLAG): 100}


def test_claims_over_the_cores_are_scaled_while_they_are():
    answer = split(
        cores=THIRTY_TWO,
        claims=[cores(ADA, 32), cores(BEN, 32, held=(30, 60))],
        charges=costing(4_000),
    )

    assert money_of(answer) == {
        (ADA, State.UNOBSERVED, NO_FLAG): 2_000,
        (ADA, State.UNOBSERVED, Flag.CONTESTED): 1_000,
        (BEN, State.UNOBSERVED, Flag.CONTESTED): 1_000,
    }


def test_beside_a_job_of_unknown_cores_nothing_is_said_to_be_free():
    answer = split(
        cores=THIRTY_TWO,
        claims=[cores(ADA, 8), cores(BEN, None, held=(0, 30))],
        charges=costing(3_200),
    )

    assert money_of(answer) == {
        (ADA, State.UNOBSERVED, NO_FLAG): 800,
        (None, State.UNOBSERVED, Flag.UNCOUNTED): 1_200,
        (None, State.UNALLOCATED, NO_FLAG): 1_200,
    }


def test_a_job_known_to_hold_no_core_holds_none():
    answer = split(cores=THIRTY_TWO, claims=[cores(ADA, 0)], charges=costing(32))

    assert money_of(answer) == {(None, State.UNALLOCATED, NO_FLAG): 32}


def test_cores_of_a_node_that_is_down_are_out_of_service_unless_held():
    answer = split(
        cores=THIRTY_TWO,
        claims=[cores(ADA, 16)],
        outages=[OutageOfHour(None, *minutes(0, 30))],
        charges=costing(64),
    )

    assert money_of(answer) == {
        (ADA, State.UNOBSERVED, NO_FLAG): 32,
        (None, State.OUT_OF_SERVICE, NO_FLAG): 16,
        (None, State.UNALLOCATED, NO_FLAG): 16,
    }


def test_weighed_cores_carry_their_part_beside_the_gpus_and_no_gpu_time():
    # One GPU and 20 cores at 1/20 of a GPU each: half of the cost rides on either.
    answer = split(
        devices=[gpu(1)],
        usage=[usage(1, worked=[(0, 60)])],
        claims=[claim(ADA, 1)._replace(cores=Fraction(5)), cores(BEN, 10)],
        cores=CoresFact([CapacityFact(0, HOUR_MS, 20)], Fraction(1, 20)),
        charges=costing(4_000),
    )

    assert money_of(answer) == {
        (ADA, State.ACTIVE, NO_FLAG): 2_000,
        (ADA, State.UNOBSERVED, Flag.CORES): 500,
        (BEN, State.UNOBSERVED, Flag.CORES): 1_000,
        (None, State.UNALLOCATED, Flag.CORES): 500,
    }
    assert answer.capacity_ms == HOUR_MS
    assert sum(line.unit_ms for line in answer.lines) == HOUR_MS


@st.composite
def core_claims(draw: st.DrawFn) -> list[ClaimFact]:
    times = st.integers(0, HOUR_MS)
    counts = st.none() | st.fractions(0, 40, max_denominator=7)
    return [
        ClaimFact(1 + job % 5, job, start, end, Fraction(0), cores=draw(counts))
        for job in range(draw(st.integers(0, 8)))
        for start, end in [sorted((draw(times), draw(times)))]
        if start < end
    ]


def _slowly(claims: list[ClaimFact], units: int) -> dict[int, Fraction]:
    """Unit milliseconds by job, moment by moment; 0 is nobody."""
    moments = sorted({0, HOUR_MS, *(m for c in claims for m in (c.start_ms, c.end_ms))})
    times: dict[int, Fraction] = {0: Fraction(0)}
    for start, end in pairwise(moments):
        now = [c for c in claims if c.cores and c.start_ms <= start < c.end_ms]
        wanted = sum(c.cores or 0 for c in now)
        scale = min(Fraction(1), Fraction(units) / wanted) if wanted else Fraction(0)
        for c in now:
            times[c.holder_id] = times.get(c.holder_id, Fraction(0)) + (
                (c.cores or 0) * scale * (end - start)
            )
        times[0] += (units - wanted * scale) * (end - start)
    return times


@given(core_claims(), st.integers(1, 48), st.integers(0, 10**9))
def test_cores_sum_to_the_charge_and_agree_with_a_walk_through_every_moment(
    claims: list[ClaimFact], units: int, micros: int
):
    facts = {"claims": claims, "cores": CoresFact([CapacityFact(0, HOUR_MS, units)])}
    answer = split(**facts, charges=costing(micros))

    assert sum(line.effective_micros or 0 for line in answer.lines) == micros
    assert sum(line.unit_ms for line in answer.lines) == answer.capacity_ms == units * HOUR_MS
    for job_id, told in _slowly(claims, units).items():
        mine = [line.unit_ms for line in answer.lines if (line.job_id or 0) == job_id]
        assert abs(sum(mine) - told) <= max(1, len(mine))
    assert split(**facts | {"claims": claims[::-1]}, charges=costing(micros)) == answer


@pytest.mark.parametrize("fact", ["cores", "declared", "known"])
def test_the_work_grows_with_the_number_of_claims_not_with_its_square(fact: str):
    """Counted in lines of code that are run, which no machine's speed changes."""
    assert _lines_run(fact, 400) < 2.5 * _lines_run(fact, 200)


def _lines_run(fact: str, jobs: int) -> int:
    """Lines run to split an hour of so many short jobs, a few of them at a time."""
    step = HOUR_MS // jobs
    claims = [
        ClaimFact(
            job, job, step * job, min(HOUR_MS, step * (job + 3)), Fraction(1), cores=Fraction(2)
        )
        for job in range(1, jobs)
    ]
    given: dict[str, object] = {
        "cores": {"cores": THIRTY_TWO},
        "declared": {"capacity": [CapacityFact(0, HOUR_MS, 8)]},
        "known": {"devices": [gpu(number) for number in range(1, 5)]},
    }[fact]
    facts = node_hour(claims=claims, **given)  # type: ignore[arg-type]
    lines = 0

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        split_node_hour(facts)
    finally:
        sys.settrace(before)
    return lines
