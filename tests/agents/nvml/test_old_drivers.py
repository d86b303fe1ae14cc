"""Drivers and GPUs that know less: what they cannot tell is absent, the rest is read all the same."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pynvml
import pytest

from runrate_agent.nvml.fields import NVLINK_RECEIVED, NVLINK_SENT, Fields
from tests.agents.nvml.conftest import built

# Not in a driver of branch 470: what came with Hopper, and later forms of older calls.
MISSING = (
    "nvmlGpm*", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetTemperatureV",
    "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetComputeRunningProcesses_v3",
)  # fmt: skip


@pytest.fixture
def without(run_folder, driver, monkeypatch):
    """The driver's library without some of its functions."""

    def make(name: str, *missing: str) -> None:
        folder = run_folder / name
        folder.mkdir(exist_ok=True)
        (folder / "map").write_text(f"{{ global: *; local: {'; '.join(missing)}; }};")
        built(folder, f"-Wl,--version-script={folder}/map")
        monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))

    return make


def test_an_older_driver_is_asked_in_the_older_way(driver, without, watching):
    without("nvml_470", *MISSING)
    driver.gpu(
        0, temp=61, reasons=4, procs="41:1000", procutil="41:50", gpm_supported=1, energy_watts=300
    )

    reading = watching().more(3).last()

    assert reading.worked_seconds / reading.covered_seconds == pytest.approx(0.4, abs=0.001)
    assert (reading.temperature_celsius, reading.memory_used_bytes) == (61, 1 << 30)
    assert reading.power_capped_seconds == pytest.approx(reading.covered_seconds, rel=0.2)
    assert [each.pid for each in reading.processes] == [41]
    assert (reading.graphics_ratio, reading.sm_ratio, reading.tensor_ratio) == (None, None, None)


def test_a_driver_that_lists_no_processes_leaves_unknown_whether_there_are_any(
    driver, without, watching
):
    without("nvml_no_processes", "nvmlDeviceGetComputeRunningProcesses*")
    driver.gpu(0, procs="41:1000")

    assert watching().more(2).last().processes is None


def test_clients_of_a_multi_process_service_are_processes_of_the_gpu(driver, without, watching):
    driver.gpu(0, procs="41:1000", mps="41:1000,42:2000,43:3000")
    assert [each.pid for each in watching().more(2).last().processes] == [41, 42, 43]
    without("nvml_no_mps", "nvmlDeviceGetMPSComputeRunningProcesses*")
    assert [each.pid for each in watching().more(2).last().processes] == [41]


def test_a_driver_without_xids_batched_fields_and_accounting_still_measures(
    driver, without, watching
):
    without(
        "nvml_bare", "nvmlEventSet*", "nvmlDeviceGetFieldValues", "nvmlDeviceGetAccounting*",
        "nvmlDeviceGetSamples", "nvmlDeviceGetMigMode", "nvmlGpm*",
    )  # fmt: skip
    driver.gpu(0, util=30, energy_watts=300)

    reading = watching().more(3).last()

    assert reading.worked_seconds / reading.covered_seconds == pytest.approx(0.3, abs=0.01)
    assert reading.energy_joules == pytest.approx(300 * reading.covered_seconds, rel=0.2)
    assert (reading.ecc_corrected, reading.pcie_bytes) == (None, None)


def test_a_gpu_without_samples_is_known_by_how_busy_its_engines_were(driver, watching):
    driver.gpu(0, samples=None, gpm_supported=1, gpm__1=55)

    reading = watching().more(2).last()

    assert reading.worked_seconds == pytest.approx(0.55 * reading.covered_seconds, rel=1e-4)
    assert (reading.sm_ratio, reading.tensor_ratio) == (None, None)


def test_slices_of_a_gpu_without_engine_counters_are_unknown_not_idle(driver, watching):
    driver.gpu(
        0, mig=1, mig__count=1, mig__0__uuid="MIG-a", mig__0__gi=1, mig__0__mem_used=5 << 30,
        mig__0__name="NVIDIA A100-SXM4-80GB MIG 1g.10gb", procs="51:1000:1:0",
    )  # fmt: skip

    reading = watching().more(2).last("MIG-a")

    assert (reading.worked_seconds, reading.graphics_ratio) == (None, None)
    assert reading.memory_used_bytes == 5 << 30
    assert [(each.pid, each.sm_ratio) for each in reading.processes] == [(51, None)]


@dataclass
class Counters:
    """A driver's field values; what is not there is not supported."""

    values: dict[int, int]
    asked: list[list[int]] = field(default_factory=list)

    def ask(self, call: object, handle: object, fields: list) -> list[SimpleNamespace]:
        ids = [each[0] if isinstance(each, tuple) else each for each in fields]
        self.asked.append(ids)
        return [
            SimpleNamespace(
                fieldId=each,
                nvmlReturn=pynvml.NVML_SUCCESS
                if each in self.values
                else pynvml.NVML_ERROR_NOT_SUPPORTED,
                valueType=3,
                value=SimpleNamespace(ullVal=self.values.get(each)),
            )
            for each in ids
        ]


@pytest.mark.parametrize(
    ("values", "again"),
    [
        ({138: 10, 139: 20}, [138, 139]),
        ({202: 10_240, 204: 20_480, 138: 9, 139: 9}, [202, 204]),
    ],
    ids=["A100, in KiB", "H100, in bytes"],
)
def test_nvlink_bytes_are_read_by_the_counters_that_the_gpu_has(
    values: dict[int, int], again: list[int]
) -> None:
    driver, fields = Counters(values), Fields()
    assert fields.read(driver, None) == {NVLINK_SENT: 10_240, NVLINK_RECEIVED: 20_480}
    fields.read(driver, None)
    assert driver.asked[1] == again
