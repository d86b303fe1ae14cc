"""What the agent emits is what the contract's files say; the server's tests post the same files."""

import gzip
import json
from pathlib import Path

from runrate_agent.batch import Batch, Columns, DeviceRecord, Stamp
from runrate_agent.folding import Window
from runrate_agent.frames import Event
from runrate_agent.jobs import Allocation, JobEvent, bulks
from runrate_agent.reports import Evidence, report_of

CONTRACT = Path(__file__).resolve().parent.parent / "contract"
TEN_O_CLOCK_MS = 1_795_168_800_000  # 2026-11-20T10:00:00Z
MINUTE_MS = 60_000

WHOLE = "GPU-6f0c1a52-0000-4000-8000-000000000001"
SLICED_PARENT = "GPU-6f0c1a52-0000-4000-8000-000000000002"
SLICE = "MIG-6f0c1a52-0000-4000-8000-000000000003"
SHARED = "GPU-6f0c1a52-0000-4000-8000-000000000004"


def golden(name: str) -> dict:
    return json.loads((CONTRACT / name).read_text())


def the_batch() -> Batch:
    """A held GPU, an idle one, a slice half observed and a device two hold, minute by minute."""
    return Batch(
        stamp=Stamp(
            boot_ms=TEN_O_CLOCK_MS - 7_200_000, sequence=17, version="0.1.0", source="simulated"
        ),
        devices=[
            DeviceRecord(WHOLE, "NVIDIA A100-SXM4-80GB", 0),
            DeviceRecord(SLICED_PARENT, "NVIDIA A100-SXM4-80GB", 1),
            DeviceRecord(SLICE, "NVIDIA A100-SXM4-80GB", 1, SLICED_PARENT, "3g.40gb", 3, 4),
            DeviceRecord(SHARED, "NVIDIA A100-SXM4-80GB", 2, replicas=4),
        ],
        holders=["", "slurm/atlas/4711", "slurm/atlas/4712"],
        windows=Columns(
            device=[0, 0, 2, 2, 3, 3, 3],
            holder=[1, 0, 1, 2, 0, 1, 2],
            starts_at_ms=[TEN_O_CLOCK_MS + n * MINUTE_MS for n in (0, 1, 0, 1, 0, 0, 0)],
            seconds=[60] * 7,
            observed_seconds=[None, None, 30.0, None, None, None, None],
            worked_seconds=[41.25, 0.0, 12.5, None, 50.0, 20.0, 35.25],
            sm_ratio=[0.612, 0.0, 0.3, None, 0.55, None, None],
            tensor_ratio=[0.31, 0.0, None, None, 0.12, None, None],
            dram_ratio=[0.402, 0.0, None, None, 0.4, None, None],
            energy_joules=[21_480.5, 3_300.0, None, None, 15_000.0, None, None],
            memory_used_bytes=[61_203_283_968, 0, 20_401_094_656, None, 8_589_934_592, None, None],
        ),
    )


def events() -> list[JobEvent]:
    """A start with granted GPUs, a start with a fraction of each, an end, a start not pinned."""
    return [
        event("4711", "start", "RUNNING", Allocation("gpu-01", 1, None, (WHOLE,), 12)),
        event("4712", "start", "RUNNING", Allocation("gpu-01", 1, "1/4", (SHARED,), 3)),
        event("4711", "end", "NODE_FAIL", Allocation("gpu-01", 1, None, (WHOLE,), 12)),
        event("4711", "start", "RUNNING", Allocation("gpu-02", 2, None, None, 24), restart_count=1),
    ]


def event(
    raw_id: str, kind: str, state: str, allocation: Allocation, restart_count: int = 0
) -> JobEvent:
    hour = 9 + (kind == "end") + 2 * restart_count
    return JobEvent(
        cluster="atlas",
        raw_id=raw_id,
        submitted_at=f"2026-11-20T{8 + 2 * restart_count:02}:55:00Z",
        restart_count=restart_count,
        event=kind,
        at=f"2026-11-20T{hour:02}:00:00Z",
        state=state,
        details={
            "array_id": None,
            "het_id": None,
            "name": "pretrain-7b",
            "user": "ada",
            "account": "research",
            "partition": "a100",
            "qos": None,
            "namespace": None,
            "labels": {"project": "llm"},
            "exit_code": 1 if kind == "end" else None,
            "cpus": allocation.cpus,
            "run": "pretrain-7b-r3",
        },
        allocations=(allocation,),
    )


def the_report() -> dict:
    """Two minutes of two GPUs of which one fell off the bus, of a node that its cloud takes back."""
    first = {
        "observed_seconds": 60.0, "temperature_celsius": 61.5, "sm_clock_mhz": 1980.0,
        "graphics_ratio": 0.7, "power_capped_seconds": 3.0, "thermal_seconds": 0.0,
        "pcie_bytes": 123_000.0, "ecc_uncorrected": 0,
    }  # fmt: skip
    idle = {
        "observed_seconds": 30.0, "temperature_celsius": 44.0, "graphics_ratio": 0.0,
        "power_capped_seconds": 0.0, "thermal_seconds": 0.0, "ecc_uncorrected": 0,
    }  # fmt: skip
    second = {
        "observed_seconds": 60.0, "temperature_celsius": 64.5, "sm_clock_mhz": 1410.0,
        "graphics_ratio": 0.9, "power_capped_seconds": 12.0, "thermal_seconds": 2.0,
        "pcie_bytes": 1_000.0, "ecc_uncorrected": 1,
    }  # fmt: skip
    network = {"network_bytes": 6e6, "network_errors": 0.0, "disk_read_bytes": 1_200.0}
    said = "aws: terminate at 2026-11-20T10:05:00Z"
    evidence = Evidence(
        windows=[
            Window(TEN_O_CLOCK_MS, 60, [], [], [(WHOLE, first), (SLICED_PARENT, idle)]),
            Window(TEN_O_CLOCK_MS + MINUTE_MS, 60, [], [], [(WHOLE, second)]),
        ],
        node=[
            (TEN_O_CLOCK_MS, 60, network | {"io_stalled_seconds": 0.5}),
            (
                TEN_O_CLOCK_MS + MINUTE_MS,
                60,
                {"network_bytes": 6e5, "network_errors": 1.0, "io_stalled_seconds": 12.0},
            ),
        ],
        events=[
            Event(TEN_O_CLOCK_MS + 30_000, "xid", "point", WHOLE, 79, "GPU has fallen off the bus"),
            Event(
                TEN_O_CLOCK_MS + 40_000, "gpu_missing", "began", SHARED, None, "was there before"
            ),
            Event(
                TEN_O_CLOCK_MS + 50_000,
                "reclaim_notice",
                detail=said,
                ends_at_ms=TEN_O_CLOCK_MS + 300_000,
            ),
        ],
    )
    stamp = Stamp(boot_ms=TEN_O_CLOCK_MS - 7_200_000, sequence=3, version="0.2.0", source="nvml")
    return report_of(evidence, stamp, golden("telemetry_report.json")["status"])


def test_a_report_is_the_contracts_report():
    sent = the_report() | {"sent_at_ms": TEN_O_CLOCK_MS + 3 * MINUTE_MS}

    assert sent == golden("telemetry_report.json")


def test_a_batch_is_the_contracts_batch():
    payload = the_batch().payload(sent_at_ms=TEN_O_CLOCK_MS + 3 * MINUTE_MS)

    assert payload == golden("telemetry_batch.json")


def test_a_batch_travels_as_gzipped_json():
    body = the_batch().encoded(sent_at_ms=TEN_O_CLOCK_MS + 3 * MINUTE_MS)

    assert json.loads(gzip.decompress(body)) == golden("telemetry_batch.json")


def test_job_events_are_the_contracts_events():
    assert list(bulks(events())) == [golden("jobs_bulk.json")]


def test_a_column_of_unknowns_stays_at_home():
    batch = the_batch()
    batch.windows.tensor_ratio = [None] * 7

    windows = batch.payload(sent_at_ms=0)["windows"]

    assert "tensor_ratio" not in windows
    assert "worked_seconds" in windows


def test_many_events_go_in_several_bulks():
    several = list(bulks(events() * 600))

    assert [len(bulk["events"]) for bulk in several] == [1000, 1000, 400]
