"""What the agent emits is what the contract's files say; the server's tests post the same files."""

import gzip
import json
from pathlib import Path

from runrate_agent.batch import Batch, Columns, DeviceRecord, Stamp
from runrate_agent.jobs import Allocation, JobEvent, bulks

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
