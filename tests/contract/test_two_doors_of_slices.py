"""Two doors, one dollar: an hour of a MIG slice costs its part of a GPU, whoever tells of it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from apps.ledger.models import Line
from apps.workloads.models import Job
from controlplane.ledger_audit import audit_here
from runrate_agent.batch import Batch, Columns, DeviceRecord, Stamp
from runrate_agent.dcgm import source as dcgm
from runrate_agent.dcgm.samples import pod_itself
from runrate_agent.dcgm.source import DcgmSource
from runrate_agent.jobs import Allocation, JobEvent, bulks
from runrate_agent.whose import Places
from runrate_agent.whose.kubernetes import KubernetesPods
from runrate_agent.whose.podresources import grants_in
from tests import make
from tests.agents.kubelet import Kubelet
from tests.agents.test_dcgm import Clock
from tests.apps.ledger import scene
from tests.apps.telemetry.sending import load_addresses, ms, now, this_hour
from tests.contract.sampling import by_turns

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
MODEL = "NVIDIA H100 80GB HBM3"
GPU = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
SLICE = "MIG-bbbbbbbb-0000-0000-0000-000000000000"
BY_JOB, BY_POD = "slurm/atlas/1", "kubernetes/atlas/lab.train"
HEADER = "JobIDRaw|Cluster|Account|User|Submit|Start|End|State|AllocTRES|NodeList|JobName"


@dataclass(frozen=True)
class SliceFact:
    """A slice of an H100 of 80 GB at 8 an hour: its profile, slices, and its part of the GPU."""

    profile: str
    compute: int
    memory: int
    share: Fraction


FACTS = {
    "a seventh": SliceFact("1g.10gb", 1, 1, Fraction(1, 7)),
    "a seventh with twice the memory": SliceFact("1g.20gb", 1, 2, Fraction(1, 4)),
    "two sevenths": SliceFact("2g.20gb", 2, 2, Fraction(2, 7)),
    "three sevenths and half the memory": SliceFact("3g.40gb", 3, 4, Fraction(1, 2)),
    "four sevenths": SliceFact("4g.40gb", 4, 4, Fraction(4, 7)),
    "all of it": SliceFact("7g.80gb", 7, 8, Fraction(1)),
}


@dataclass(frozen=True)
class Teller:
    """The node's agent, with the token by which it sends."""

    secret: str

    def post(self, address: str, body: object) -> None:
        headers = {"Authorization": f"Bearer {self.secret}"}
        text = json.dumps(body)
        answer = Client(headers=headers).post(
            f"/api/v1/{address}", text, content_type="application/json"
        )
        assert answer.status_code == 200, answer.content
        assert not answer.json().get("errors"), answer.content

    def windows(self, devices: list[DeviceRecord], uuid: str, holder: str) -> None:
        """An hour in which the slice worked, for this holder or for nobody that is known."""
        columns = Columns()
        at = [each.uuid for each in devices].index(uuid)
        holders = ["", holder] if holder else [""]
        for minute in range(60):
            for place in range(len(holders)):
                columns.device.append(at)
                columns.holder.append(place)
                columns.starts_at_ms.append(ms(this_hour()) + minute * 60_000)
                columns.seconds.append(60)
                columns.observed_seconds.append(60.0)
                columns.worked_seconds.append(60.0)
                for unknown in (
                    columns.sm_ratio, columns.tensor_ratio, columns.dram_ratio,
                    columns.energy_joules,
                ):  # fmt: skip
                    unknown.append(None)
                columns.memory_used_bytes.append(None)
        stamp = Stamp(ms(this_hour()), 0, "1", "nvml", "g1")
        # The server moves windows by what a sender's clock is off.
        sent = Batch(stamp, devices, holders, columns).payload(sent_at_ms=ms(now()))
        self.post("telemetry/batches", sent)

    def jobs(self, events: list[JobEvent]) -> None:
        for body in bulks(events):
            self.post("jobs/bulk", body)


def zulu(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def slurm_job(devices: tuple[str, ...] | None) -> list[JobEvent]:
    """What the prolog and the epilog leave: one device of this node."""
    began = JobEvent(
        cluster="atlas", raw_id="1", submitted_at=None, restart_count=0, event="start",
        at=zulu(this_hour()), state="RUNNING", details={"account": "research"},
        allocations=(Allocation("g1", 1, None, devices, 8),), source="agent",
    )  # fmt: skip
    ended = JobEvent(
        cluster="atlas", raw_id="1", submitted_at=None, restart_count=0, event="end",
        at=zulu(this_hour() + HOUR), state="COMPLETED", details={}, allocations=(), source="agent",
    )  # fmt: skip
    return [began, ended]


def nvml_devices(fact: SliceFact) -> list[DeviceRecord]:
    return [
        DeviceRecord(uuid=GPU, model=MODEL, index=0),
        DeviceRecord(
            uuid=SLICE, model=f"{MODEL} MIG {fact.profile}", index=0, parent=GPU,
            profile=fact.profile, compute_slices=fact.compute, memory_slices=fact.memory,
        ),
    ]  # fmt: skip


def by_sacct(fact: SliceFact, teller: Teller, folder: Path) -> None:
    start, end = (each.strftime("%Y-%m-%dT%H:%M:%S") for each in (this_hour(), this_hour() + HOUR))
    row = (
        f"1|atlas|research|ada|{start}|{start}|{end}|COMPLETED|"
        f"cpu=8,gres/gpu=1,gres/gpu:h100_{fact.profile}=1|g1|train"
    )
    file = folder / "sacct.psv"
    file.write_text(f"{HEADER}\n{row}\n")
    call_command("import_sacct", str(file))


def by_nvml(fact: SliceFact, teller: Teller, folder: Path) -> None:
    teller.windows(nvml_devices(fact), SLICE, BY_JOB)
    teller.jobs(slurm_job((SLICE,)))


def by_nvml_without_devices(fact: SliceFact, teller: Teller, folder: Path) -> None:
    teller.windows(nvml_devices(fact), SLICE, BY_JOB)
    teller.jobs(slurm_job(None))


def scraped(fact: SliceFact, whose: str) -> tuple[list[DeviceRecord], str, str]:
    """What the agent makes of an exporter's text: devices, the slice's name, and its holder."""
    labels = (
        f'gpu="0",UUID="{GPU}",device="nvidia0",modelName="{MODEL}",GPU_I_ID="9",'
        f'GPU_I_PROFILE="{fact.profile}",{whose}'
    )
    text = f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}} 1\nDCGM_FI_DEV_FB_USED{{{labels}}} 1024\n"
    source = DcgmSource(10, "atlas", lambda: text, pod_itself("atlas"))
    while (frame := source.frame()) is None:
        pass
    assert source.unread == frozenset()
    (reading,) = frame.readings
    ((holder, _),) = reading.holders
    return list(frame.devices), reading.uuid, holder


def by_dcgm(fact: SliceFact, teller: Teller, folder: Path) -> None:
    teller.windows(*scraped(fact, 'hpc_job="1"'))
    teller.jobs(slurm_job(None))


def granted(resource: str, device: str, places: Places) -> list[JobEvent]:
    """What the agent tells of a pod that held this device from the hour's start to its end."""
    kubelet = Kubelet(Path("/nowhere"), {("lab", "train"): [device]}, resource)
    pods = KubernetesPods(
        "atlas", "g1", lambda: grants_in(kubelet.answer(None, None).SerializeToString()), None
    )
    pods.places = places
    events = pods.read(ms(this_hour()))
    assert pods.unread == frozenset()
    kubelet.granted = {}
    return [*events, *pods.read(ms(this_hour() + HOUR))]


def by_kubelet(fact: SliceFact, teller: Teller, folder: Path) -> None:
    teller.windows(nvml_devices(fact), SLICE, BY_POD)
    teller.jobs(granted(f"nvidia.com/mig-{fact.profile}", SLICE, Places()))


def by_gke_and_dcgm(fact: SliceFact, teller: Teller, folder: Path) -> None:
    """GKE numbers devices and instances, and an exporter names what it sees by the same."""
    devices, uuid, holder = scraped(fact, 'exported_namespace="lab",exported_pod="train"')
    teller.windows(devices, uuid, holder)
    places = Places(minors={GPU: 0}, parents={uuid: GPU}, instances={uuid: 9})
    teller.jobs(granted("nvidia.com/gpu", "nvidia0/gi9", places))


DOORS: Mapping[str, Callable[[SliceFact, Teller, Path], None]] = {
    "sacct": by_sacct,
    "NVML": by_nvml,
    "NVML, of a scheduler that names no devices": by_nvml_without_devices,
    "DCGM": by_dcgm,
    "the kubelet": by_kubelet,
    "GKE's kubelet and DCGM": by_gke_and_dcgm,
}


@pytest.fixture
def teller(monkeypatch: pytest.MonkeyPatch) -> Teller:
    load_addresses()
    monkeypatch.setattr(dcgm, "time", Clock())
    make.make_organisation()
    pool_id = make.make_pool("pool of g1", gpus_per_node=1)
    scene.make_rate(pool_id, Decimal(8), starts_at=this_hour() - timedelta(days=30))
    node_id = make.make_node(
        "g1", pool_id=pool_id, units=1, cluster_id=make.make_cluster(),
        started_at=this_hour(), at=now(),
    )  # fmt: skip
    token = make.make_token("ingest", "jobs", at=this_hour())
    make.make_agent(node_id=node_id, token_id=token.id, at=this_hour())
    return Teller(token.secret)


def is_counted_as(fact: SliceFact) -> None:
    """Hold the job's cost and GPU-hours, its status, and the rest of the GPU."""
    scene.settle_all(this_hour() + 3 * HOUR)
    (job,) = Job.objects.filter(merged_into=None)
    assert job.state in {"COMPLETED", "ENDED"}
    lines = Line.objects.filter(hour=this_hour())
    of_job = [line for line in lines if line.job_id is not None]
    hours = sum(line.unit_milliseconds for line in of_job) / 3_600_000
    assert hours == pytest.approx(float(fact.share), abs=1e-6)
    micros = sum(line.effective_micros or 0 for line in of_job)
    assert micros == pytest.approx(float(8_000_000 * fact.share), abs=3)
    assert sum(line.effective_micros or 0 for line in lines) == 8_000_000
    assert audit_here().adds_up


@pytest.mark.parametrize(("fact", "told"), by_turns(FACTS, DOORS, 2))
def test_a_slice_costs_its_part_through_every_door(
    tmp_path: Path,
    teller: Teller,
    fact: SliceFact,
    told: Callable[[SliceFact, Teller, Path], None],
) -> None:
    told(fact, teller, tmp_path)
    is_counted_as(fact)


@pytest.mark.parametrize(
    ("fact", "doors"),
    by_turns(FACTS, {"sacct first": ("sacct", "NVML"), "NVML first": ("NVML", "sacct")}, 1),
)
def test_a_slice_that_two_doors_tell_is_one(
    tmp_path: Path, teller: Teller, fact: SliceFact, doors: Sequence[str]
) -> None:
    for door in doors:
        DOORS[door](fact, teller, tmp_path)
    is_counted_as(fact)
