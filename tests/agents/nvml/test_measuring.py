"""What a GPU says becomes a reading; what it does not say is absent, never zero."""

import pytest

ABSENT_32 = 0xFFFFFFFF
ABSENT_64 = 2**64 - 1
BLANK_64 = 0x7FFFFFFFFFFFFFF0


def test_the_drivers_own_samples_tell_how_much_of_the_time_was_worked(driver, watching):
    driver.gpu(0, samples=40)

    reading = watching().more(2).last()

    assert reading.worked_seconds / reading.covered_seconds == pytest.approx(0.4, abs=0.001)


def test_without_samples_the_rate_of_each_second_stands_for_it(driver, watching):
    driver.gpu(0, samples=None, util=70)

    reading = watching().more(3).last()

    assert reading.worked_seconds / reading.covered_seconds == pytest.approx(0.7, abs=0.01)


def test_a_gpu_that_tells_nothing_of_its_work_is_unknown(driver, watching):
    driver.gpu(0, samples=None)

    reading = watching().more(2).last()

    assert reading.worked_seconds is None
    assert (reading.energy_joules, reading.temperature_celsius, reading.processes) == (
        None, None, ()
    )  # fmt: skip


def test_numbers_that_mean_not_supported_are_absent(driver, watching):
    driver.gpu(
        0,
        samples=None,
        util=ABSENT_32,
        power_mw=ABSENT_32,
        temp=ABSENT_32,
        clock=ABSENT_32,
        energy_mj=BLANK_64,
        field__156=ABSENT_64,
        field__197=BLANK_64 + 1,
        field__198=5,
    )

    reading = watching().more(2).last()

    told = (
        reading.worked_seconds, reading.energy_joules, reading.temperature_celsius,
        reading.sm_clock_mhz, reading.pcie_bytes,
    )  # fmt: skip
    assert told == (None,) * 5


def test_an_energy_counter_that_begins_anew_is_unknown_for_one_span_alone(driver, watching):
    driver.gpu(0, energy_mj=1_000_000)
    watch = watching().more(1)
    driver.gpu(0, energy_mj=1_500_000)
    watch.until(lambda seen: seen.last().energy_joules == 500)

    driver.gpu(0, energy_mj=10_000)
    watch.until(lambda seen: seen.last().energy_joules is None)
    driver.gpu(0, energy_mj=25_000)
    watch.until(lambda seen: seen.last().energy_joules == 15)

    assert all((each.readings[0].energy_joules or 0) <= 500 for each in watch.frames)


def test_power_is_added_up_where_no_counter_is(driver, watching):
    driver.gpu(0, power_mw=300_000)

    reading = watching().more(3).last()

    assert reading.energy_joules == pytest.approx(300 * reading.covered_seconds, rel=0.15)


def test_hopper_tells_how_hard_it_worked(driver, watching):
    driver.gpu(0, gpm_supported=1, gpm__1=80, gpm__2=60, gpm__5=30, gpm__10=45)

    reading = watching().more(2).last()

    assert (reading.graphics_ratio, reading.sm_ratio) == (0.8, 0.6)
    assert (reading.tensor_ratio, reading.dram_ratio) == (0.3, 0.45)


def test_processes_come_with_their_share(driver, watching):
    driver.gpu(0, procs="41:1000,42:2000", procutil="41:50,42:0")

    readings = {each.pid: each for each in watching().more(3).last().processes}

    assert readings[41].sm_ratio == pytest.approx(0.5, abs=0.1)
    assert (readings[42].sm_ratio, readings[42].memory_bytes) == (0.0, 2000)


def test_accounting_finds_a_process_that_lived_and_died_unseen(driver, watching):
    driver.gpu(0, accounting=1)
    watch = watching().more(1)

    driver.gpu(0, dead="77:50:4096:50")
    watch.until(lambda seen: seen.last().processes)

    process = watch.last().processes[0]
    assert (process.pid, process.memory_bytes) == (77, 4096)
    assert process.sm_ratio == pytest.approx(0.1, abs=0.02)


def test_slices_are_read_on_their_own_with_their_processes(driver, watching):
    slices = {
        "mig": 1, "mig__count": 2, "gpm_supported": 1, "procs": "51:1000:7:0", "samples": 90,
        "mig__0__uuid": "MIG-a", "mig__0__name": "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        "mig__0__gi": 7, "mig__0__gpm__1": 25,
        "mig__1__uuid": "MIG-b", "mig__1__name": "NVIDIA H100 80GB HBM3 MIG 3g.40gb",
        "mig__1__gi": 2, "mig__1__slices": 3, "mig__1__mem_mb": 40_192, "mig__1__gpm__1": 75,
    }  # fmt: skip
    driver.gpu(0, **slices)

    watch = watching().more(2)

    one, three = watch.last("MIG-a"), watch.last("MIG-b")
    assert one.worked_seconds == pytest.approx(0.25 * one.covered_seconds, rel=0.01)
    assert three.worked_seconds == pytest.approx(0.75 * three.covered_seconds, rel=0.01)
    assert [each.pid for each in one.processes] == [51]
    assert three.processes == ()
    assert watch.last().worked_seconds is None
    shapes = {each.uuid: (each.profile, each.compute_slices, each.memory_slices, each.parent)
              for each in watch.frames[-1].devices if each.is_slice}  # fmt: skip
    assert shapes == {"MIG-a": ("1g.10gb", 1, 1, "GPU-0"), "MIG-b": ("3g.40gb", 3, 4, "GPU-0")}
    assert watch.frames[-1].gpu_instances == {"MIG-a": 7, "MIG-b": 2}
