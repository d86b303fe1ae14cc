"""Frames become windows of the wall clock whose rows say who had a device and what it did."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runrate_agent.batch import DeviceRecord
from runrate_agent.folding import Folding, Window
from runrate_agent.frames import DeviceReading, Frame, ProcessReading
from runrate_agent.whose import Held

TEN_MS = 1_795_168_800_000
GPU = DeviceRecord("GPU-0", "H100", 0)


class Told:
    """Who was granted what, and whose the processes are."""

    problems: tuple[tuple[str, str], ...] = ()
    unread_environments: int = 0
    unread_grants: tuple[str, ...] = ()

    def __init__(
        self, granted: Sequence[str] = (), processes: Mapping[int, str] | None = None
    ) -> None:
        self._granted, self._processes = granted, processes or {}

    def refresh(self, now_ms):
        return ()

    def place(self, places):
        """Not asked here."""

    def of_device(self, uuid):
        return [Held(key, "allocation") for key in self._granted]

    def of_process(self, pid):
        key = self._processes.get(pid)
        return None if key is None else Held(key, "cgroup")


def frame(second: float, **values: object) -> Frame:
    reading = DeviceReading("GPU-0", **({"covered_seconds": 10.0, "worked_seconds": 5.0} | values))
    return Frame(TEN_MS + int(second * 1000), second, (GPU,), (reading,))


def folded(told: Told, *frames: Frame) -> Window:
    folding = Folding(60, told)
    ended = [window for each in frames for window in folding.add(each)]
    last = folding.flush()
    (window,) = ended if last is None else [*ended, last]
    return window


def worked(window: Window) -> dict[str, float | int | None]:
    return {key: values.get("worked_seconds") for _, key, values in window.rows}


def test_windows_begin_where_the_wall_clock_says():
    folding = Folding(60, Told())

    closed = [folding.add(frame(second)) for second in range(10, 131, 10)]

    ended = [(place, each[0].starts_at_ms - TEN_MS) for place, each in enumerate(closed) if each]
    assert ended == [(5, 0), (11, 60_000)]


def test_a_frame_that_ends_a_moment_late_is_of_the_window_it_measured():
    folding = Folding(60, Told())

    closed = [folding.add(frame(second + 0.02)) for second in range(10, 131, 10)]

    windows = [window for each in closed for window in each]
    assert [each.starts_at_ms - TEN_MS for each in windows] == [0, 60_000]
    assert [each.rows[0][2]["observed_seconds"] for each in windows] == [60.0, 60.0]


def test_no_window_is_told_twice_however_short_the_frames_at_its_end():
    folding = Folding(60, Told())
    ended = folding.add(frame(60))

    assert folding.add(frame(60.1, covered_seconds=0.4, worked_seconds=0.2)) == []

    starts = [each.starts_at_ms - TEN_MS for each in (*ended, folding.flush())]
    assert starts == [0, 60_000]


@pytest.mark.parametrize("granted", [(), ("slurm/a/1",)])
def test_with_at_most_one_holder_its_row_is_the_devices(granted):
    window = folded(Told(granted), frame(10), frame(20))

    assert worked(window) == {granted[0] if granted else "": 10.0}


def test_a_grant_without_a_process_is_held_and_idle():
    window = folded(Told(["slurm/a/1"]), frame(10, worked_seconds=0.0, processes=()))

    assert worked(window) == {"slurm/a/1": 0.0}


def test_several_holders_have_a_row_each_beside_the_devices():
    both = (ProcessReading(1, 0.3), ProcessReading(2, 0.1))

    window = folded(Told(processes={1: "k/a/x", 2: "k/a/y"}), frame(10, processes=both))

    assert worked(window) == {"": 5.0, "k/a/x": 3.0, "k/a/y": 1.0}


def test_one_unknown_share_makes_a_holders_time_unknown():
    both = (ProcessReading(1, None), ProcessReading(2, 0.1))

    window = folded(Told(processes={1: "k/a/x", 2: "k/a/y"}), frame(10, processes=both))

    assert worked(window) == {"": 5.0, "k/a/x": None, "k/a/y": 1.0}


@pytest.mark.parametrize("processes", [None, (ProcessReading(9, 0.5),)])
def test_sharers_are_not_idle_only_because_nobody_says_whose_work_it_was(processes):
    window = folded(Told(["k/a/x", "k/a/y"]), frame(10, processes=processes))

    assert worked(window) == {"": 5.0, "k/a/x": None, "k/a/y": None}


def test_sharers_of_an_idle_device_are_idle():
    window = folded(Told(["k/a/x", "k/a/y"]), frame(10, worked_seconds=0.0, processes=None))

    assert worked(window) == {"": 0.0, "k/a/x": 0.0, "k/a/y": 0.0}


def test_no_holder_worked_longer_than_was_observed():
    busy = (ProcessReading(1, 0.9), ProcessReading(2, 0.1))
    told = Told(processes={1: "k/a/x", 2: "k/a/y"})

    window = folded(told, frame(10, processes=busy), frame(20, worked_seconds=None, processes=busy))

    assert worked(window)["k/a/x"] == window.rows[0][2]["observed_seconds"] == 10.0


def test_what_is_unknown_stays_unknown():
    window = folded(Told(), frame(10, worked_seconds=None))

    _, _, values = window.rows[0]
    assert (values["worked_seconds"], values["energy_joules"], values["sm_ratio"]) == (None,) * 3


def test_a_clock_set_back_closes_the_window_it_leaves():
    folding = Folding(60, Told())
    folding.add(frame(130))

    closed = folding.add(frame(10))

    assert [each.starts_at_ms for each in closed] == [TEN_MS + 120_000]


@given(
    st.lists(st.tuples(st.floats(0, 10), st.none() | st.floats(0, 10_000)), min_size=1, max_size=6)
)
def test_a_window_is_the_sum_of_its_frames(spans):
    window = folded(
        Told(),
        *(
            frame(10 * place + 10, worked_seconds=seconds, energy_joules=joules)
            for place, (seconds, joules) in enumerate(spans)
        ),
    )

    _, _, values = window.rows[0]
    known = [joules for _, joules in spans if joules is not None]
    assert values["worked_seconds"] == pytest.approx(sum(each for each, _ in spans), abs=0.001)
    assert values["energy_joules"] == (pytest.approx(sum(known), abs=0.001) if known else None)
    assert values["observed_seconds"] == 10 * len(spans)
