"""What measured use says about GPUs that are asked for, by hand."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from apps.economics.capacity import (
    GpuReturn,
    MeasuredUse,
    ReturnedGpus,
    capacity_cost,
    first_productive_hour,
    gpu_returns,
    returned_together,
)
from apps.economics.hours import HOUR_MS

DAY_MS = 24 * HOUR_MS
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_gpus_held_times_the_share_of_time_waiting_for_data() -> None:
    # 40 GPUs held through a day, 30 of them by runs that report: a tenth of those 720 h waits for data.
    use = MeasuredUse(
        span_ms=DAY_MS,
        held_ms=40 * DAY_MS,
        observed_ms=36 * DAY_MS,
        told_ms=30 * DAY_MS,
        lost_ms={GpuReturn.DATA_WAIT: 3 * DAY_MS, GpuReturn.IDLE: 8 * DAY_MS},
    )
    assert gpu_returns(use) == (
        ReturnedGpus(GpuReturn.DATA_WAIT, 3.0, 30.0, 0.1),
        ReturnedGpus(GpuReturn.IDLE, 8.0, 40.0, 0.2),
        ReturnedGpus(GpuReturn.FAILED, 0.0, 30.0, 0.0),
    )
    assert returned_together(gpu_returns(use)) == 11.0


def test_what_is_not_measured_returns_nothing_that_anybody_knows() -> None:
    assert gpu_returns(MeasuredUse(DAY_MS, held_ms=8 * DAY_MS)) == (
        ReturnedGpus(GpuReturn.DATA_WAIT, None),
        ReturnedGpus(GpuReturn.IDLE, None),
        ReturnedGpus(GpuReturn.FAILED, None),
    )
    assert returned_together(gpu_returns(MeasuredUse(DAY_MS, held_ms=8 * DAY_MS))) is None
    assert gpu_returns(MeasuredUse(DAY_MS)) == (), "who held nothing is told nothing"


def test_what_no_job_held_is_its_time_over_the_span() -> None:
    lost = {
        GpuReturn.STRANDED: DAY_MS // 2,
        GpuReturn.UNALLOCATED: 4 * DAY_MS,
        GpuReturn.NO_REQUESTS: DAY_MS,
    }
    use = MeasuredUse(DAY_MS, held_ms=2 * DAY_MS, observed_ms=DAY_MS, lost_ms=lost)
    assert gpu_returns(use)[-3:] == (
        ReturnedGpus(GpuReturn.NO_REQUESTS, 1.0, 2.0, 0.5),
        ReturnedGpus(GpuReturn.UNALLOCATED, 4.0),
        ReturnedGpus(GpuReturn.STRANDED, 0.5),
    )


def test_a_span_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="a span has a length"):
        gpu_returns(MeasuredUse(0))


def test_cost_is_gpus_times_hours_times_the_price_rounded_once() -> None:
    # 12 GPUs for 90 minutes at a third of a dollar: 6 dollars.
    assert capacity_cost(12, 90 * 60_000, Fraction(1_000_000, 3)) == 6_000_000
    assert capacity_cost(1, HOUR_MS, Fraction(1, 2)) == 0, "half-even"


def test_the_first_productive_hour_has_a_gpu_hour_more_than_any_before() -> None:
    hours = [
        (NOON + timedelta(hours=lead), active * HOUR_MS) for lead, active in enumerate((4, 5, 9))
    ]
    assert first_productive_hour(hours, 4 * HOUR_MS) == NOON + timedelta(hours=1)
    assert first_productive_hour(reversed(hours), 4 * HOUR_MS) == NOON + timedelta(hours=1)
    assert first_productive_hour(hours, 9 * HOUR_MS) is None
    assert first_productive_hour([], 0) is None
