"""GPUs that go, drivers that hang or are replaced: said, survived, recovered from by itself."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from runrate_agent.frames import Event, Frame
from tests.databases import wait_until


def kinds(events: list[Event]) -> list[tuple[str, str, str | None]]:
    return [(each.kind, each.phase, each.device) for each in events]


def test_a_gpu_off_the_bus_is_said_once_and_the_others_go_on(driver, watching):
    driver.write(count=2)
    driver.gpu(1, samples=50)
    watch = watching().more(1)

    driver.gpu(0, rc=15)
    watch.until(lambda seen: seen.told("gpu_lost", "began")).more(2)

    assert [each.uuid for each in watch.frames[-1].readings] == ["GPU-1"]
    driver.gpu(0, rc=None)
    watch.until(lambda seen: seen.told("gpu_lost", "ended")).more(1)
    assert kinds(watch.events) == [("gpu_lost", "began", "GPU-0"), ("gpu_lost", "ended", "GPU-0")]
    assert len(watch.frames[-1].readings) == 2


def test_an_index_that_cannot_be_opened_hides_only_itself(driver, watching):
    driver.write(count=2)
    driver.gpu(0, handle_rc=15)
    driver.gpu(1, samples=50)

    watch = watching().more(1)

    assert [each.uuid for each in watch.frames[-1].devices] == ["GPU-1"]


def test_no_code_of_a_gpu_darkens_the_others_or_comes_and_goes(driver, watching):
    codes = (2, 11, 14, 16, 17, 20, 23, 27, 28, 30, 77, 999)
    sick = {f"GPU-{number}": code for number, code in enumerate(codes)}
    well = f"GPU-{len(codes)}"
    driver.write(count=len(codes) + 1)
    for number in range(len(codes) + 1):
        driver.gpu(number, samples=50)
    watch = watching().more(1)
    pid = watch.source._child.pid

    for number, code in enumerate(codes):
        driver.gpu(number, rc=code)
    watch.until(lambda seen: sick.keys() <= _dark_gpus(seen.frames[-1], sick)).more(3)

    assert (watch.source.state, watch.source._child.pid) == ("ok", pid)
    assert watch.last(well).worked_seconds > 0
    # Lost or only silent, it is said once while it lasts, and never measured as idle.
    began = {(each.device, each.code): each.kind for each in watch.events}
    assert {each.phase for each in watch.events} == {"began"}
    assert len(began) == len(watch.events)
    assert set(began) == {(uuid, code) for uuid, code in sick.items() if code != 2}
    assert {code for (_, code), kind in began.items() if kind == "gpu_lost"} == {11, 16, 28}

    for number in range(len(codes)):
        driver.gpu(number, rc=None)
    watch.until(lambda seen: sum(each.phase == "ended" for each in seen.events) == len(began))
    watch.until(lambda seen: not _dark_gpus(seen.frames[-1], sick))


def test_what_a_driver_calls_a_fault_is_named(driver, watching):
    watch = watching().more(1)
    driver.gpu(0, rc=14)
    watch.until(lambda seen: seen.told("nvml_error", "began"))

    (fault,) = watch.events
    assert (fault.device, fault.code, fault.detail) == (
        "GPU-0", 14, "NVML_ERROR_CORRUPTED_INFOROM"
    )  # fmt: skip


def test_a_gpu_that_has_its_name_but_answers_nothing_else_stays_lost(driver, watching):
    watch = watching().more(1)
    driver.gpu(0, rc=16, named_rc=0)
    watch.until(lambda seen: seen.told("gpu_lost", "began"))
    began = time.monotonic()
    while time.monotonic() < began + 1.5:
        watch.source.frame()

    assert kinds(watch.events) == [("gpu_lost", "began", "GPU-0")]


def _dark_gpus(frame: Frame, uuids: Iterable[str]) -> set[str]:
    """Those that are not there, or of which nothing is known."""
    lit = {each.uuid for each in frame.readings if each.worked_seconds is not None}
    return set(uuids) - lit


def test_a_call_that_hangs_is_killed_and_nobody_waits_for_it(driver, watching):
    watch = watching(start_seconds=1.5).more(1)
    driver.gpu(0, hang_ms=60_000)
    watch.until(lambda seen: seen.told("driver_unresponsive", "began"))

    assert watch.source.state == "driver_unresponsive"
    watch.until(lambda seen: seen.source._child is not None)
    assert _zombies() <= 1
    driver.gpu(0, hang_ms=None)
    watch.until(lambda seen: seen.told("driver_unresponsive", "ended")).more(1)

    assert watch.source.state == "ok"
    assert watch.longest < 1.5
    assert _zombies() == 0


def test_nothing_of_the_driver_is_held_while_a_gpu_is_reset(driver, watching):
    watch = watching().more(1)
    assert _holding_the_driver()
    calls, asked_at = watch.source.calls, time.monotonic()
    watch.source.let_go(1.5)
    watch.until(lambda seen: seen.source._child is None)
    assert not _holding_the_driver()
    before = len(watch.frames)
    watch.more(1)

    assert time.monotonic() - asked_at > 1.5
    assert watch.source.calls > calls
    assert watch.frames[before].readings[0].covered_seconds < 1.0
    assert watch.events == []
    assert watch.source.state == "ok"


def _holding_the_driver() -> list[int]:
    """Our own children that have the driver's library open."""
    found = []
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            status = (maps.parent / "stat").read_text().rpartition(")")[2].split()
            is_ours = int(status[1]) == os.getpid()
            if is_ours and "libnvidia-ml" in maps.read_text():
                found.append(int(maps.parent.name))
        except OSError:
            continue
    return found


def test_a_driver_that_hangs_while_it_is_loaded_is_killed_too(driver, watching):
    driver.write(init__hang_ms=60_000)

    watch = watching(start_seconds=3.0).until(
        lambda seen: seen.told("driver_unresponsive", "began")
    )
    driver.write(init__hang_ms=None)
    watch.more(1)

    assert watch.told("driver_unresponsive", "ended")


def test_a_driver_replaced_under_the_library_is_loaded_anew(driver, watching):
    driver.write(init__rc=18)

    watch = watching().until(lambda seen: seen.told("driver_mismatch", "began"))
    assert watch.source.state == "driver_mismatch"
    driver.write(init__rc=None)
    watch.more(1)

    assert watch.told("driver_mismatch", "ended")


def test_a_driver_upgraded_while_it_measures_is_said_and_asked_again(driver, watching):
    watch = watching().more(1)
    driver.gpu(0, rc=18)
    watch.until(lambda seen: seen.told("driver_mismatch", "began"))

    driver.gpu(0, rc=None)
    driver.write(driver="590.10.01")
    watch.until(lambda seen: seen.told("driver_reloaded", "point")).more(1)

    said = [each.detail for each in watch.events if each.kind == "driver_reloaded"]
    assert said == ["580.95.05 before, 590.10.01 now"]
    assert (watch.source.state, watch.source.driver) == ("ok", "590.10.01")


def test_a_child_that_is_killed_or_says_nonsense_is_replaced(driver, watching, tmp_path):
    watch = watching().more(1)
    os.kill(watch.source._child.pid, signal.SIGKILL)
    watch.until(lambda seen: seen.told("driver_unresponsive", "ended")).more(1)

    other = watching()
    other.source.command = (sys.executable, "-c", "print('[')")
    other.until(lambda seen: seen.source.state == "driver_unresponsive")
    assert watch.source.state == "ok"


def test_a_node_without_a_driver_says_so(driver, watching, monkeypatch, tmp_path):
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))

    watch = watching().until(lambda seen: seen.source.state == "driver_missing")

    assert watch.frames == []


def test_an_xid_is_told_once_with_its_gpu(driver, watching):
    watch = watching().more(1)

    driver.write(xid="0:79")
    watch.until(lambda seen: seen.told("xid", "point")).more(1)

    assert [(each.device, each.code) for each in watch.events] == [("GPU-0", 79)]


def test_a_gpu_put_in_while_running_is_found(driver, watching):
    watch = watching().more(1)
    driver.gpu(1, samples=50)
    driver.write(count=2)

    watch.until(lambda seen: seen.told("gpu_added", "point")).more(1)

    assert len(watch.frames[-1].readings) == 2


def test_a_gpu_cut_into_slices_while_running_is_told_with_its_new_shape(driver, watching):
    watch = watching().more(1)
    driver.gpu(
        0, mig=1, mig__0__uuid="MIG-a", mig__0__gi=1, mig__count=1,
        mig__0__name="NVIDIA H100 80GB HBM3 MIG 2g.20gb", mig__0__slices=2,
    )  # fmt: skip

    watch.until(lambda seen: seen.told("mig_changed", "point")).more(1)

    assert next(each.detail for each in watch.events) == "2g.20gb"
    assert watch.frames[-1].devices[1].compute_slices == 2


def test_a_child_that_hangs_dies_with_its_parent(driver):
    driver.write(init__hang_ms=60_000)
    script = (
        "import time; from runrate_agent.nvml.source import NvmlSource as S;"
        "s = S(1); s.frame(); print(s._child.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    time.sleep(0.3)

    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()

    wait_until(lambda: not _lives(child))


def _zombies() -> int:
    """Children of ours that ended and that nobody has reaped."""
    pid = os.getpid()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(not _lives(int(each)) for each in children)


def _lives(pid: int) -> bool:
    """A zombie that nobody has reaped yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
