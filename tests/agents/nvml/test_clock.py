"""The wall clock is set while a driver is asked: windows begin anew, nothing counts twice."""

import struct
import time
from pathlib import Path

import pytest

from tests.agents.nvml.conftest import SOURCE, built

HOUR = 3_600


class Clock:
    """The wall clock of processes that are started from now on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.off_by(0)

    def off_by(self, seconds: int) -> None:
        with self._path.open("r+b" if self._path.exists() else "wb") as file:
            file.write(struct.pack("q", seconds))


@pytest.fixture
def clock(run_folder, tmp_path, monkeypatch) -> Clock:
    folder = built(
        run_folder / "fake_clock", source=SOURCE.with_name("fake_clock.c"), name="fake_clock.so"
    )
    monkeypatch.setenv("FAKE_CLOCK", str(tmp_path / "clock"))
    monkeypatch.setenv("LD_PRELOAD", str(folder / "fake_clock.so"))
    return Clock(tmp_path / "clock")


def moved(step: int) -> object:
    """Now, by a clock that was moved by so many seconds."""
    return pytest.approx(time.time() + step, abs=10)


@pytest.mark.parametrize("step", [-HOUR, 2 * HOUR])
def test_a_clock_that_is_set_moves_the_windows_and_nothing_else(driver, clock, watching, step):
    driver.gpu(0, samples=None, util=40, energy_watts=300, reasons=4)
    watch = watching(span=0.5).more(1)
    time.sleep(0.3)

    clock.off_by(step)
    # What was measured before may still wait to be read.
    watch.until(lambda told: told.frames[-1].at_ms / 1000 == moved(step)).more(1)

    for frame in watch.frames[-2:]:
        reading = frame.readings[0]
        assert frame.at_ms / 1000 == moved(step)
        assert 0 < reading.covered_seconds <= 0.6
        assert reading.worked_seconds == pytest.approx(0.4 * reading.covered_seconds, rel=0.02)
        assert reading.energy_joules == pytest.approx(300 * reading.covered_seconds, rel=0.3)
        assert reading.power_capped_seconds <= reading.covered_seconds + 0.1
    assert (watch.source.state, watch.events) == ("ok", [])


def test_samples_of_the_time_before_a_clock_was_set_back_hide_none_of_those_after(
    driver, clock, watching
):
    clock.off_by(HOUR)
    driver.gpu(0, samples=70)
    watch = watching().more(2)

    clock.off_by(0)
    watch.more(2)

    reading = watch.last()
    assert reading.worked_seconds / reading.covered_seconds == pytest.approx(0.7, abs=0.001)


def test_a_clock_set_back_while_the_driver_is_being_asked_makes_no_long_sleep(
    driver, clock, watching
):
    driver.write(cost__sleep_us=20_000)
    watch = watching().more(1)

    for step in range(1, 3):
        clock.off_by(-step * HOUR)
        watch.more(1)

    assert (watch.source.state, watch.events) == ("ok", [])
