"""Fleets that already run dcgm-exporter: what its text says of GPUs, and what it only seems to say."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from runrate_agent.dcgm import source as module
from runrate_agent.dcgm.samples import holder_of, samples_in
from runrate_agent.dcgm.source import DcgmSource, ExporterUnreachable, fetcher
from runrate_agent.frames import Frame

TEN_O_CLOCK = 1_795_168_800.0
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
    source = DcgmSource(10, "prod", exporter.fetch)
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
        assert holder_of(sample.labels, "prod") == "kubernetes/prod/ml.train-0"
    (job,) = samples_in(metric("DEV_GPU_UTIL", "1", 'UUID="GPU-a",hpc_job="4711"'))
    assert holder_of(job.labels, "prod") == "slurm/prod/4711"


def test_the_exporters_own_pod_holds_nothing() -> None:
    own = 'UUID="GPU-a",pod="dcgm-exporter-x2k",namespace="monitoring",container="exporter"'
    (sample,) = samples_in(metric("DEV_GPU_UTIL", "1", own))
    assert holder_of(sample.labels, "prod") == ""


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
