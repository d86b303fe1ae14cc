"""Windows become usage hours: each device-second once, minute by minute."""

from dataclasses import replace
from math import nan

import numpy as np
import pytest

from apps.economics.usage import ColumnsDiffer
from tests.economics.windows import columns, told, usage, window

HALF_MINUTE = 30_000
MINUTE = 60_000
HOUR = 3_600_000


def test_no_windows_are_no_rows():
    assert usage() == []


def test_a_minute_is_quarter_seconds_observed_and_worked():
    (row,) = usage(window(worked_seconds=41.25))
    assert told(row) == (1, 0, {0: (240, 165)})
    assert len(row.observed) == len(row.worked) == 60


def test_a_window_says_how_much_of_it_was_sampled():
    (row,) = usage(window(observed_seconds=45.0, worked_seconds=50.0))
    assert told(row) == (1, 0, {0: (180, 180)})


def test_a_device_that_cannot_tell_its_work_was_not_observed():
    (row,) = usage(window(worked_seconds=nan, sm_ratio=0.5))
    assert told(row) == (1, 0, {})
    assert (row.sm_seconds, row.sm_observed_seconds) == (30.0, 60.0)


def test_a_long_window_is_spread_over_its_minutes():
    (row,) = usage(window(start_ms=HALF_MINUTE, length_ms=3 * MINUTE, worked_seconds=60))
    assert told(row) == (
        1,
        0,
        {0: (120, 40), 1: (240, 80), 2: (240, 80), 3: (120, 40)},
    )


def test_short_windows_of_one_minute_add_up():
    (row,) = usage(*(window(start_ms=at, length_ms=10_000, worked_seconds=5) for at in (0, 20_000)))
    assert told(row) == (1, 0, {0: (80, 40)})


def test_a_window_that_crosses_the_hour_is_cut_in_proportion():
    early = window(start_ms=-HALF_MINUTE, worked_seconds=20, energy_joules=100)
    late = window(start_ms=HOUR - 15_000, worked_seconds=20, energy_joules=100)
    (row,) = usage(early, late)
    assert told(row) == (1, 0, {0: (120, 40), 59: (60, 20)})
    assert row.energy_joules == 75.0


def test_windows_outside_the_hour_or_without_length_do_not_count():
    assert usage(window(start_ms=-MINUTE), window(start_ms=HOUR), window(length_ms=0)) == []


def test_rounding_moves_quarters_and_loses_none():
    # 0.1 s is 0.4 of a quarter: three of them round to one.
    rows = usage(*(window(start_ms=at * MINUTE, worked_seconds=0.1) for at in range(6)))
    assert sum(rows[0].worked) == round(6 * 0.4)
    assert told(rows[0])[2][1] == (240, 1)


def test_work_that_rounding_puts_over_what_was_observed_waits_for_room():
    rows = usage(
        window(observed_seconds=0.1125, worked_seconds=0.1),
        window(start_ms=MINUTE, observed_seconds=0.025, worked_seconds=0.025),
        window(start_ms=2 * MINUTE, observed_seconds=1, worked_seconds=0.1),
    )
    assert told(rows[0])[2] == {1: (1, 1), 2: (4, 0)}


def test_work_without_room_after_it_goes_back_to_a_minute_with_room():
    rows = usage(
        window(observed_seconds=0.1375, worked_seconds=0.1),
        window(start_ms=59 * MINUTE, observed_seconds=0.025, worked_seconds=0.025),
    )
    assert told(rows[0])[2] == {0: (1, 1)}


def test_a_device_with_one_holder_all_along_is_one_row_under_his_key():
    rows = usage(window(holder_id=7), window(start_ms=MINUTE, holder_id=7))
    assert [told(row)[:2] for row in rows] == [(1, 7)]


def test_a_device_that_changes_holders_has_a_reading_of_its_own_and_a_row_for_each():
    rows = usage(
        window(holder_id=7, worked_seconds=10, energy_joules=1.0),
        window(start_ms=MINUTE, worked_seconds=20),
        window(start_ms=2 * MINUTE, holder_id=8, worked_seconds=30, energy_joules=2.0),
    )
    assert list(map(told, rows)) == [
        (1, 0, {0: (240, 40), 1: (240, 80), 2: (240, 120)}),
        (1, 7, {0: (240, 40)}),
        (1, 8, {2: (240, 120)}),
    ]
    assert [row.energy_joules for row in rows] == [3.0, None, None]


def test_with_several_holders_the_row_of_no_holder_is_the_devices():
    rows = usage(
        window(worked_seconds=50, sm_ratio=0.5),
        window(holder_id=7, worked_seconds=20),
        window(holder_id=8, worked_seconds=25, observed_seconds=30),
    )
    assert list(map(told, rows)) == [
        (1, 0, {0: (240, 200)}),
        (1, 7, {0: (240, 80)}),
        (1, 8, {0: (120, 100)}),
    ]
    assert (rows[0].sm_seconds, rows[1].sm_seconds) == (30.0, None)


def test_several_holders_without_a_devices_row_work_no_longer_than_it_was_seen():
    rows = usage(
        window(holder_id=7, worked_seconds=40),
        window(holder_id=8, worked_seconds=35),
    )
    assert told(rows[0]) == (1, 0, {0: (240, 240)})


def test_several_holders_that_cannot_tell_leave_the_device_unobserved():
    rows = usage(window(holder_id=7, worked_seconds=nan), window(holder_id=8, worked_seconds=nan))
    assert [told(row)[2] for row in rows] == [{}, {}, {}]


def test_the_better_source_wins_whatever_came_first():
    nvml = window(source=1, agent_id=1, worked_seconds=10)
    dcgm = window(source=2, agent_id=2, worked_seconds=50)
    for rows in (usage(nvml, dcgm), usage(dcgm, nvml)):
        assert [(told(row), row.source) for row in rows] == [((1, 0, {0: (240, 40)}), 1)]


def test_the_newer_boot_wins_and_the_older_fills_what_it_leaves():
    older = window(boot=1, worked_seconds=60, energy_joules=60)
    newer = window(boot=2, start_ms=HALF_MINUTE, worked_seconds=0, energy_joules=10)
    (row,) = usage(older, newer)
    assert told(row) == (1, 0, {0: (240, 120), 1: (120, 0)})
    assert row.energy_joules == 40.0


def test_an_older_window_around_a_newer_one_counts_on_both_sides():
    older = window(boot=1, length_ms=3 * MINUTE, worked_seconds=180)
    newer = window(boot=2, start_ms=MINUTE, worked_seconds=0)
    (row,) = usage(older, newer)
    assert told(row)[2] == {0: (240, 240), 1: (240, 0), 2: (240, 240)}


def test_an_older_window_under_two_newer_ones_counts_between_them():
    older = window(boot=1, start_ms=HALF_MINUTE, length_ms=2 * MINUTE, worked_seconds=120)
    newer = [window(boot=2, start_ms=at * MINUTE, worked_seconds=0) for at in (0, 2)]
    (row,) = usage(older, *newer)
    assert told(row)[2] == {0: (240, 0), 1: (240, 240), 2: (240, 0)}


def test_a_window_said_twice_counts_once():
    (row,) = usage(window(worked_seconds=30), window(worked_seconds=30))
    assert told(row) == (1, 0, {0: (240, 120)})


def test_a_window_said_twice_differently_counts_once_and_always_the_same():
    first, second = window(worked_seconds=30), window(worked_seconds=40)
    assert usage(first, second) == usage(second, first)


def test_the_loser_of_an_overlap_takes_its_holders_with_it():
    rows = usage(
        window(source=2, worked_seconds=50),
        window(source=2, holder_id=7, worked_seconds=20),
        window(source=1, start_ms=0, length_ms=HALF_MINUTE, holder_id=8, worked_seconds=30),
    )
    assert list(map(told, rows)) == [
        (1, 0, {0: (240, 220)}),
        (1, 7, {0: (120, 40)}),
        (1, 8, {0: (120, 120)}),
    ]


def test_devices_that_overlap_and_devices_that_do_not_stand_in_one_order():
    rows = usage(
        window(device_id=3, worked_seconds=1),
        window(device_id=2, worked_seconds=2),
        window(device_id=2, start_ms=HALF_MINUTE, worked_seconds=0),
        window(device_id=1, worked_seconds=3),
    )
    assert [told(row)[:2] for row in rows] == [(1, 0), (2, 0), (3, 0)]
    assert told(rows[1])[2] == {0: (240, 8), 1: (120, 0)}


def test_a_ratio_known_for_part_of_the_hour_says_for_how_much():
    (row,) = usage(
        window(sm_ratio=0.5, tensor_ratio=0.25), window(start_ms=MINUTE, tensor_ratio=0.75)
    )
    assert (row.sm_seconds, row.sm_observed_seconds) == (30.0, 60.0)
    assert (row.tensor_seconds, row.tensor_observed_seconds) == (60.0, 120.0)
    assert (row.dram_seconds, row.dram_observed_seconds) == (None, None)


def test_columns_of_unequal_length_are_refused():
    whole = columns([window(), window()])
    with pytest.raises(ColumnsDiffer):
        replace(whole, boot=np.array([1]))
