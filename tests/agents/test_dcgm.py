"""Fleets that already run dcgm-exporter: what its text says of GPUs, and what it only seems to say."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from apps.economics.gpu_catalogue import CATALOGUE
from apps.economics.gpu_model import GpuModel
from runrate_agent.dcgm import source as module
from runrate_agent.dcgm.samples import holder_of, pod_itself, samples_in
from runrate_agent.dcgm.slices import slices_of
from runrate_agent.dcgm.source import DcgmSource, ExporterUnreachable, fetcher
from runrate_agent.folding import Folding
from runrate_agent.frames import Frame
from runrate_agent.running import places_in
from runrate_agent.whose.kubeapi import PodFact
from runrate_agent.whose.kubernetes import KubernetesPods
from runrate_agent.whose.podresources import DeviceId, PodGrant, device_of
from runrate_agent.whose.resolving import Resolving

TEN_O_CLOCK = 1_795_168_800.0
PODS = pod_itself("prod")
GPU = 'gpu="0",UUID="GPU-a",modelName="NVIDIA H100 80GB HBM3",DCGM_FI_DRIVER_VERSION="580.1"'


class Clock:
    """Time that passes only by waiting."""

    def __init__(self) -> None:
        self.now = TEN_O_CLOCK

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.001)


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


class Exporter:
    """Says what `lines` hold, or does not answer."""

    def __init__(self) -> None:
        self.lines: list[str] | None = []

    def say(self, *lines: str) -> None:
        self.lines = list(lines)

    def fetch(self) -> str:
        if self.lines is None:
            raise ExporterUnreachable("nobody is there")
        return "# HELP some\n" + "\n".join(self.lines) + "\n"


def frames(exporter: Exporter) -> Iterator[Frame]:
    source = DcgmSource(10, "prod", exporter.fetch, PODS)
    while True:
        frame = source.frame()
        if frame is not None:
            yield frame


def metric(name: str, value: str, labels: str = GPU) -> str:
    return f"DCGM_FI_{name}{{{labels}}} {value}"


def test_a_gpu_is_told_with_what_the_exporter_knows(clock: Clock) -> None:
    exporter = Exporter()
    exporter.say(
        metric("PROF_GR_ENGINE_ACTIVE", "0.5"),
        metric("DEV_GPU_UTIL", "90"),
        metric("DEV_FB_USED", "1024"),
        metric("DEV_POWER_USAGE", "700"),
        metric("PROF_PIPE_TENSOR_ACTIVE", "0.25"),
    )
    frame = next(frames(exporter))
    (record,), (reading,) = frame.devices, frame.readings
    assert (record.uuid, record.model, record.index) == ("GPU-a", "NVIDIA H100 80GB HBM3", 0)
    assert reading.worked_seconds == pytest.approx(0.5 * reading.covered_seconds)
    assert reading.tensor_ratio == 0.25
    assert reading.memory_used_bytes == 1 << 30
    assert reading.energy_joules == pytest.approx(700 * reading.covered_seconds)
    assert reading.sm_ratio is None


def test_labels_in_either_spelling_and_after_a_relabelling_name_the_same_holder() -> None:
    spelt = (
        'UUID="GPU-a",pod="train-0",namespace="ml",container="main"',
        'uuid="GPU-a",pod_name="train-0",pod_namespace="ml",container_name="main"',
        'UUID="GPU-a",pod="dcgm-exporter-x",namespace="mon",exported_pod="train-0",'
        'exported_namespace="ml",exported_container="main"',
    )
    for labels in spelt:
        (sample,) = samples_in(metric("DEV_GPU_UTIL", "1", labels))
        assert holder_of(sample.labels, "prod", PODS) == "kubernetes/prod/ml.train-0"
    (job,) = samples_in(metric("DEV_GPU_UTIL", "1", 'UUID="GPU-a",hpc_job="4711"'))
    assert holder_of(job.labels, "prod", PODS) == "slurm/prod/4711"


def test_the_exporters_own_pod_holds_nothing() -> None:
    own = 'UUID="GPU-a",pod="dcgm-exporter-x2k",namespace="monitoring",container="exporter"'
    (sample,) = samples_in(metric("DEV_GPU_UTIL", "1", own))
    assert holder_of(sample.labels, "prod", PODS) == ""


@pytest.mark.parametrize("value", ["9223372036854775794", "2147483632", "NaN", "+Inf", "blank"])
def test_what_means_not_supported_is_unknown_and_never_a_number(value: str) -> None:
    assert list(samples_in(metric("DEV_GPU_TEMP", value))) == []


def test_a_sticky_xid_is_told_when_it_changes_and_once(clock: Clock) -> None:
    exporter = Exporter()
    seen = frames(exporter)
    told = []
    for code in ("43", "43", "79", "79", "0"):
        exporter.say(metric("DEV_GPU_UTIL", "0"), metric("DEV_XID_ERRORS", code))
        told += [event.code for event in next(seen).events if event.kind == "xid"]
    assert told == [79]


def test_a_module_that_says_zero_while_the_gpu_is_busy_is_flagged_and_not_believed(
    clock: Clock,
) -> None:
    exporter = Exporter()
    seen = frames(exporter)
    exporter.say(
        metric("PROF_GR_ENGINE_ACTIVE", "0"),
        metric("PROF_SM_ACTIVE", "0"),
        metric("DEV_GPU_UTIL", "99"),
    )
    frame = next(seen)
    (reading,) = frame.readings
    assert reading.worked_seconds == pytest.approx(0.99 * reading.covered_seconds)
    assert (reading.sm_ratio, reading.graphics_ratio) == (None, None)
    assert [(event.kind, event.phase) for event in frame.events] == [("silent_zero", "began")]
    exporter.say(metric("PROF_GR_ENGINE_ACTIVE", "0.9"), metric("DEV_GPU_UTIL", "99"))
    assert [(event.kind, event.phase) for event in next(seen).events] == [("silent_zero", "ended")]


def test_an_exporter_that_is_away_is_an_event_until_it_answers(clock: Clock) -> None:
    exporter = Exporter()
    seen = frames(exporter)
    exporter.lines = None
    assert [event.phase for event in next(seen).events] == ["began"]
    exporter.say(metric("DEV_GPU_UTIL", "5"))
    frame = next(seen)
    assert [event.phase for event in frame.events] == ["ended"]
    assert len(frame.readings) == 1


def test_an_instance_is_a_slice_of_its_gpu(clock: Clock) -> None:
    exporter = Exporter()
    labels = f'{GPU},GPU_I_ID="7",GPU_I_PROFILE="3g.40gb"'
    exporter.say(metric("PROF_GR_ENGINE_ACTIVE", "0.4", labels))
    devices = {each.uuid: each for each in next(frames(exporter)).devices}
    part = devices["GPU-a/gi7"]
    assert (part.parent, part.compute_slices, part.memory_slices) == ("GPU-a", 3, 4)
    assert "GPU-a" in devices


def test_energy_heat_and_faults_of_a_gpu_in_slices_are_told_once_and_not_of_each_slice(
    clock: Clock,
) -> None:
    exporter = Exporter()
    slices = [f'{GPU},GPU_I_ID="{number}",GPU_I_PROFILE="1g.10gb"' for number in (7, 8, 9)]
    seen = frames(exporter)

    def say(joules: int, xid: int) -> Frame:
        exporter.say(
            *(metric("PROF_GR_ENGINE_ACTIVE", "0.5", each) for each in slices),
            *(metric("DEV_FB_USED", "1024", each) for each in slices),
            *(metric("DEV_TOTAL_ENERGY_CONSUMPTION", str(joules * 1000), each) for each in slices),
            *(metric("DEV_GPU_TEMP", "60", each) for each in slices),
            *(metric("DEV_XID_ERRORS", str(xid), each) for each in slices),
        )
        return next(seen)

    say(1000, 0)
    frame = say(8000, 79)
    readings = {each.uuid: each for each in frame.readings}
    assert readings["GPU-a"].energy_joules == 7000
    assert readings["GPU-a"].worked_seconds is None
    for number in (7, 8, 9):
        own = readings[f"GPU-a/gi{number}"]
        assert (own.energy_joules, own.temperature_celsius) == (None, None)
        assert own.memory_used_bytes == 1 << 30
        assert own.worked_seconds == pytest.approx(0.5 * own.covered_seconds)
    assert [(each.kind, each.device) for each in frame.events] == [("xid", "GPU-a")]
    assert sorted(each.uuid for each in frame.devices) == [
        "GPU-a", "GPU-a/gi7", "GPU-a/gi8", "GPU-a/gi9"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "model", [each for each in CATALOGUE if each.mig is not None], ids=lambda each: each.name
)
def test_every_slice_of_every_known_gpu_has_its_memory(model: GpuModel) -> None:
    assert model.mig is not None
    for profile in model.mig.profiles:
        compute, memory = slices_of(profile.name, model.name)
        eighths = profile.memory_slices * 8 // model.mig.memory_slices
        assert (compute, memory) == (profile.compute_slices, eighths), profile.name


def test_a_gpu_nobody_knows_has_slices_of_unknown_memory() -> None:
    assert slices_of("1g.99gb", "NVIDIA X900") == (1, None)
    assert slices_of("", "NVIDIA H200") == (None, None)


def shared_gpu(vgpu: int, pod: str, busy: int, used: int) -> list[str]:
    """As dcgm-exporter tells a pod's own share where it knows of virtual GPUs."""
    own = f'{GPU},container="main",namespace="ml",pod="{pod}",vgpu="{vgpu}"'
    return [
        metric("DEV_GPU_UTIL", str(busy), own),
        metric("DEV_FB_USED", str(used), own),
        metric("DEV_POWER_USAGE", "600", own),
    ]


def test_of_a_shared_gpu_the_memory_of_all_pods_is_used(clock: Clock) -> None:
    exporter = Exporter()
    # The second pod has two replicas; both lines tell all that it uses.
    exporter.say(
        *shared_gpu(0, "a", 52, 20_480),
        *shared_gpu(1, "b", 31, 10_240),
        *shared_gpu(2, "b", 31, 10_240),
    )
    (reading,) = next(frames(exporter)).readings
    assert reading.memory_used_bytes == 30_720 << 20
    assert reading.worked_seconds == pytest.approx(0.83 * reading.covered_seconds)
    assert dict(reading.holders or ()) == {
        "kubernetes/prod/ml.a": pytest.approx(0.52), "kubernetes/prod/ml.b": pytest.approx(0.31)
    }  # fmt: skip
    assert reading.energy_joules == pytest.approx(600 * reading.covered_seconds)


class TestOnKubernetes:
    """The exporter names pods, the kubelet and the API their controllers: one holder for each GPU."""

    def node(self, facts: list[PodFact]) -> Resolving:
        grants = [
            PodGrant("ml", "chat-x", (DeviceId("GPU-a"),)),
            PodGrant("ml", "chat-y", (DeviceId("GPU-a"),)),
        ]
        pods = KubernetesPods("prod", "gpu-01", lambda: grants, lambda: list(facts))
        node = Resolving(Path("/nowhere"), "gpu-01", "prod", None, pods)
        node.refresh(int(TEN_O_CLOCK * 1000))
        return node

    def rows(self, node: Resolving, *lines: str) -> dict[str, float | None]:
        """Worked seconds by holder, as a window tells them."""
        exporter = Exporter()
        exporter.say(*lines)
        source = DcgmSource(10, "prod", exporter.fetch, node.holder_of_pod)
        folding = Folding(10, node)
        while (frame := source.frame()) is None:
            continue
        (window,) = [*folding.add(frame), folding.flush()][:1]
        assert window is not None
        return {key: values["worked_seconds"] for _, key, values in window.rows}

    def test_a_pod_that_the_exporter_names_is_its_controllers(self, clock: Clock) -> None:
        node = self.node([fact("chat-x"), fact("chat-y")])
        own = f'{GPU},container="main",namespace="ml",pod="chat-x"'
        assert self.rows(node, metric("DEV_GPU_UTIL", "50", own)) == {
            "kubernetes/prod/uid-chat": pytest.approx(5, abs=0.1)
        }

    def test_two_pods_of_one_controller_are_one_holder_with_what_both_did(self, clock) -> None:
        node = self.node([fact("chat-x"), fact("chat-y")])
        lines = [*shared_gpu(0, "chat-x", 20, 1), *shared_gpu(1, "chat-y", 30, 1)]
        assert self.rows(node, *lines) == {"kubernetes/prod/uid-chat": pytest.approx(5, abs=0.1)}

    def test_a_pod_that_came_since_the_api_was_asked_is_asked_for_once(self, clock) -> None:
        facts = [fact("chat-x"), fact("chat-y")]
        node = self.node(facts)
        facts.append(fact("train-0", owner="train"))
        own = f'{GPU},container="main",namespace="ml",pod="train-0"'
        assert "kubernetes/prod/uid-train" in self.rows(node, metric("DEV_GPU_UTIL", "50", own))
        assert node.holder_of_pod("ml", "nobody-knows") == "kubernetes/prod/ml.nobody-knows"

    MIG = """\
# HELP DCGM_FI_PROF_GR_ENGINE_ACTIVE Ratio of time the graphics engine is active.
# TYPE DCGM_FI_PROF_GR_ENGINE_ACTIVE gauge
DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{gpu},GPU_I_PROFILE="3g.40gb",GPU_I_ID="1",{of}"chat-x"}} 0.500000
DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{gpu},GPU_I_PROFILE="2g.20gb",GPU_I_ID="5",{of}"train-0"}} 0.250000
DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{gpu},GPU_I_PROFILE="1g.10gb",GPU_I_ID="9"}} 0.000000
# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{{{gpu},GPU_I_PROFILE="3g.40gb",GPU_I_ID="1",{of}"chat-x"}} 321.000000
DCGM_FI_DEV_POWER_USAGE{{{gpu},GPU_I_PROFILE="2g.20gb",GPU_I_ID="5",{of}"train-0"}} 321.000000
DCGM_FI_DEV_POWER_USAGE{{{gpu},GPU_I_PROFILE="1g.10gb",GPU_I_ID="9"}} 321.000000
"""

    @pytest.mark.parametrize(
        "slices",
        [
            ("MIG-7c0e", "MIG-91af"),
            ("MIG-GPU-a/1/0", "MIG-GPU-a/5/0"),
            ("nvidia0/gi1", "nvidia0/gi5"),
        ],
        ids=["by UUID", "as before driver 470", "by number"],
    )
    def test_slices_that_the_kubelet_names_otherwise_are_the_exporters(self, clock, slices) -> None:
        devices = [device_of(each) for each in slices]
        grants = [
            PodGrant("ml", pod, (device,))
            for pod, device in zip(("chat-x", "train-0"), devices, strict=True)
            if device is not None
        ]
        facts = [fact("chat-x"), fact("train-0", owner="train")]
        pods = KubernetesPods("prod", "gpu-01", lambda: grants, lambda: facts)
        node = Resolving(Path("/nowhere"), "gpu-01", "prod", None, pods)
        gpu = f'{GPU},pci_bus_id="00000000:17:00.0",device="nvidia0",Hostname="gpu-01"'
        exporter = Exporter()
        exporter.say(self.MIG.format(gpu=gpu, of='container="main",namespace="ml",pod='))
        source = DcgmSource(10, "prod", exporter.fetch, node.holder_of_pod)
        while (frame := source.frame()) is None:
            continue
        node.place(places_in(frame))
        events = node.refresh(int(TEN_O_CLOCK * 1000) + 20_000)
        assert [(each.raw_id, each.allocations[0].devices) for each in events] == [
            ("uid-chat", ("GPU-a/gi1",)), ("uid-train", ("GPU-a/gi5",))
        ]  # fmt: skip
        folding = Folding(10, node)
        (window,) = [*folding.add(frame), folding.flush()][:1]
        assert window is not None
        worked = {(uuid, key): values["worked_seconds"] for uuid, key, values in window.rows}
        length = frame.readings[0].covered_seconds
        assert {held: seconds for held, seconds in worked.items() if held[1]} == {
            ("GPU-a/gi1", "kubernetes/prod/uid-chat"): pytest.approx(0.5 * length),
            ("GPU-a/gi5", "kubernetes/prod/uid-train"): pytest.approx(0.25 * length),
        }
        energy = {uuid: each["energy_joules"] for uuid, _, each in window.rows}
        assert {uuid for uuid, joules in energy.items() if joules} == {"GPU-a"}

    def test_a_pod_that_ended_holds_nothing_any_more(self, clock: Clock) -> None:
        node = self.node([fact("done-0", phase="Succeeded")])
        assert node.holder_of_pod("ml", "done-0") == ""


def fact(name: str, owner: str = "chat", phase: str = "Running") -> PodFact:
    return PodFact(f"uid-{name}", "ml", name, phase, "Deployment", owner, f"uid-{owner}")


def test_the_text_is_fetched_over_http_and_any_other_answer_is_no_exporter() -> None:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_metrics = self.path == "/metrics"
            body = metric("DEV_GPU_UTIL", "5").encode() if is_metrics else b"<html>"
            self.send_response(200 if is_metrics else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        assert len(list(samples_in(fetcher(f"{address}/metrics")()))) == 1
        with pytest.raises(ExporterUnreachable, match="404"):
            fetcher(f"{address}/other")()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    with pytest.raises(ExporterUnreachable):
        fetcher("http://127.0.0.1:1/metrics")()


def test_devices_that_are_not_understood_are_named_and_those_of_no_gpu_are_not(
    clock: Clock,
) -> None:
    exporter = Exporter()
    slice_of = f'{GPU},GPU_I_ID="7",GPU_I_PROFILE="1c.3g.40gb+me"'
    exporter.say(
        metric("DEV_GPU_UTIL", "50"),
        metric("DEV_FB_USED", "1024", slice_of),
        metric("DEV_GPU_UTIL", "50", 'gpu="1",device="nvidia1"'),
        metric("DEV_NVSWITCH_TEMPERATURE_CURRENT", "50", 'nvswitch="nvswitch0"'),
        metric("DEV_CPU_UTIL_TOTAL", "0.5", 'cpu="0"'),
        'amd_gpu_package_power{gpu_id="0"} 300',
        'habanalabs_utilization{uuid="x"} 3',
        'gpu_gfx_activity{gpu_id="0"} 50',
        'xpum_engine_ratio{uuid="x"} 3',
    )
    source = DcgmSource(10, "prod", exporter.fetch, PODS)
    while source.frame() is None:
        pass
    assert source.unread == {
        "DCGM's device without a UUID, by device, gpu",
        "MIG instance 1c.3g.40gb+me of NVIDIA H100 80GB HBM3",
        "metrics amd_…",
        "metrics gpu_…",
        "metrics xpum_…",
        "metrics habanalabs_…",
    }
    exporter.say(metric("DEV_GPU_UTIL", "50"))
    while source.frame() is None:
        pass
    assert source.unread == frozenset()
