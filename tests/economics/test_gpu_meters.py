"""Meters add up, each over the time it told of; what none told stays unknown."""

import pytest

from apps.economics.gpu_meters import GpuMeters, meters_together

HOUR_MS = 3_600_000


def test_a_mean_is_over_the_time_its_meter_told_of_and_coverage_says_how_much_that_is() -> None:
    meters = GpuMeters(
        4 * HOUR_MS, 2 * HOUR_MS, HOUR_MS,
        sm_seconds=720, sm_observed_seconds=1800, nvlink_bytes=3.6e12, nvlink_observed_seconds=3600,
    )  # fmt: skip
    assert (meters.active_ratio, meters.sm_active_ratio) == (0.5, 0.4)
    assert meters.sm_coverage_ratio == 0.125
    assert meters.nvlink_bytes_per_second == 1e9
    assert meters.tensor_active_ratio is meters.dram_active_ratio is None
    assert meters.pcie_bytes_per_second is None


def test_time_that_nobody_observed_is_not_inactive() -> None:
    dark = GpuMeters(HOUR_MS)
    assert (dark.active_ratio, dark.sm_active_ratio, dark.sm_coverage_ratio) == (None, None, 0.0)
    assert GpuMeters().sm_coverage_ratio is None


def test_together_what_one_did_not_tell_is_left_out_with_its_time() -> None:
    one = GpuMeters(HOUR_MS, HOUR_MS, HOUR_MS, sm_seconds=1800, sm_observed_seconds=3600)
    both = meters_together([one, GpuMeters(HOUR_MS)])
    assert (both.sm_active_ratio, both.sm_coverage_ratio) == (0.5, 0.5)
    assert (both.active_ratio, both.gpu_milliseconds) == (1.0, 2 * HOUR_MS)
    assert meters_together([]) == GpuMeters()
    assert both.dram_active_ratio is None
    assert both.sm_coverage_ratio == pytest.approx(0.5)
