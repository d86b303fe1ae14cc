"""The agent whole but for its driver: when it sends, what it says it lost, how it ends."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from runrate_agent import running
from runrate_agent.batch import DeviceRecord
from runrate_agent.frames import DeviceReading, Event, Frame
from runrate_agent.running import Agent, heed_signals
from runrate_agent.sending import Sending, phase_of
from runrate_agent.spool import BATCH, REPORT, Spool
from runrate_agent.uplink import Patience, Uplink, server_at
from runrate_agent.whose.resolving import Resolving
from tests.databases import wait_until

WINDOW = 10
GPU = DeviceRecord("GPU-0", "NVIDIA H100 80GB HBM3", 0)


@dataclass
class Frames:
    """A driver of one GPU; `tell` says what its next frame holds."""

    name: str = "nvml"
    state: str = "ok"
    driver: str = "580.95.05"
    calls: int = 0
    told: list[Frame] = field(default_factory=list)

    def tell(self, ends_at_ms: int, *events: Event) -> None:
        reading = DeviceReading(GPU.uuid, WINDOW, worked_seconds=4.0, processes=())
        self.told.append(Frame(ends_at_ms, 0.0, (GPU,), (reading,), events))

    def frame(self) -> Frame | None:
        if self.told:
            return self.told.pop(0)
        time.sleep(0.02)
        return None

    def let_go(self, seconds: float) -> None:
        self.state = f"let go for {seconds:.0f} s"

    def close(self) -> None:
        self.state = "closed"


@dataclass
class Node:
    """An agent that runs in a thread."""

    agent: Agent
    source: Frames
    thread: threading.Thread

    def stop(self) -> None:
        self.agent.stop()
        self.thread.join(timeout=20)
        assert not self.thread.is_alive()


@pytest.fixture
def started(tmp_path, far_server) -> Iterator:
    nodes: list[Node] = []

    def start() -> Node:
        stopping, source = threading.Event(), Frames()
        uplink = Uplink(server_at(far_server.url), "secret", Patience(20, sleep=stopping.wait))
        spool = Spool(tmp_path / "spool.sqlite3", most_bytes=1 << 20, most_days=1)
        sending = Sending(
            spool, {BATCH: uplink, REPORT: uplink}, lambda text: None, stopping=stopping
        )
        holders = Resolving(tmp_path, "gpu-01", "atlas")
        agent = Agent(source, holders, spool, sending, WINDOW, "1", node="gpu-01")
        agent.start(time.time_ns() // 1_000_000)
        # As late as an agent's moment can be: nothing goes by itself while a test looks.
        sending.phase_seconds = 60.0
        thread = threading.Thread(target=agent.run)
        nodes.append(Node(agent, source, thread))
        thread.start()
        wait_until(lambda: reports(far_server) and not spool.depth().items)
        # The first report goes at once, and with it all that is older, as these tests' windows are.
        sending._hurried_ms = 0
        return nodes[-1]

    yield start
    for node in nodes:
        node.stop()


def reports(far_server) -> list[dict]:
    return [each.document for each in far_server.requests if each.path.endswith("/reports")]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def measure(node: Node) -> None:
    """One window, closed by the first frame of the one that follows."""
    ends = (now_ms() // (WINDOW * 1000) - 1) * WINDOW * 1000
    node.source.tell(ends)
    node.source.tell(ends + 1)
    wait_until(lambda: node.agent.spool.depth().items)


def test_a_thousand_agents_part_evenly_over_the_window_each_always_at_its_own_moment():
    boots = [1_795_168_800_000 + 7 * place for place in range(1_000)]
    phases = [phase_of(f"gpu-{place:04}/{boot}", 60) for place, boot in enumerate(boots)]

    assert phases == [phase_of(f"gpu-{place:04}/{boot}", 60) for place, boot in enumerate(boots)]
    assert min(phases) >= 0
    assert max(phases) < 60
    assert max(Counter(int(phase) for phase in phases).values()) <= 40
    assert max(phase_of(f"gpu-{place:04}/{boots[0]}", 10) for place in range(1_000)) < 10


def test_a_window_waits_for_its_agents_moment_but_for_no_event(started, far_server):
    node = started()
    measure(node)
    time.sleep(0.3)
    assert far_server.batches == []

    node.source.tell(now_ms(), Event(now_ms(), "xid", device=GPU.uuid, code=79))
    wait_until(lambda: len(reports(far_server)) == 2, seconds=20)

    assert [each["code"] for each in reports(far_server)[-1]["events"]] == [79]
    assert far_server.batches[0]["windows"]["worked_seconds"] == [4.0]


def test_an_agent_that_ends_sends_at_once_all_it_has(started, far_server):
    node = started()
    measure(node)
    began = time.monotonic()

    node.stop()

    assert time.monotonic() - began < 10
    starts = [batch["windows"]["starts_at_ms"] for batch in far_server.batches]
    assert len(starts) == 2
    assert starts[1][0] - starts[0][0] == WINDOW * 1000
    assert len(reports(far_server)) == 2


def test_while_the_sender_waits_for_an_answer_an_ending_agent_sends_nothing_beside_it(
    started, far_server, monkeypatch
):
    monkeypatch.setattr(running, "DRAIN_SECONDS", 0.5)
    node = started()
    measure(node)
    answering = far_server.hold()

    node.stop()

    try:
        wait_until(lambda: far_server.holding == 1)
        time.sleep(0.3)
        assert (len(far_server.batches), far_server.most_at_once) == (1, 1)
    finally:
        answering.set()
    wait_until(lambda: "sending" not in [each.name for each in threading.enumerate()])
    assert node.source.state == "closed"


def test_an_ending_agent_does_not_wait_out_its_patience_with_a_server_that_is_away(
    started, far_server
):
    node = started()
    for _ in range(40):
        far_server.answer(503)
    measure(node)
    node.agent.sending.hurry(now_ms())
    wait_until(lambda: len(far_server.batches) >= 2)
    began = time.monotonic()

    node.stop()

    assert time.monotonic() - began < 10
    assert len(far_server.batches) <= 5


def test_windows_that_the_server_refused_for_good_are_counted_and_told(started, far_server):
    node = started()
    measure(node)
    far_server.answer(400, {"title": "not understood"})
    node.agent.sending.hurry(now_ms())
    wait_until(lambda: node.agent.spool.depth().items == 0)

    node.source.tell(now_ms(), Event(now_ms(), "xid", device=GPU.uuid, code=79))
    wait_until(lambda: len(reports(far_server)) == 2)

    told = reports(far_server)[-1]
    assert told["status"]["dropped_windows"] == 1
    details = [each["detail"] for each in told["events"] if each["kind"] == "windows_dropped"]
    assert details == ["1 windows went unsent: the server refused them for good"]
    assert node.agent.figures()["windows_refused_total"] == 1


def test_windows_that_are_too_large_by_themselves_are_told_as_set_aside_and_not_as_dropped(
    started, far_server
):
    node = started()
    measure(node)
    far_server.answer(413, "<html>Request Entity Too Large</html>")
    node.agent.sending.hurry(now_ms())
    wait_until(lambda: node.agent.spool.depth().items == 0)

    told = node.agent.status()
    ((code, detail),) = [(each["code"], each["detail"]) for each in told["problems"]]
    assert (code, told["dropped_windows"]) == ("aside", 0)
    assert detail.startswith("1 bodies with 1 windows are set aside")
    assert node.agent.figures()["windows_aside"] == 1


def test_a_signal_has_it_let_go_of_the_driver_and_go_on(started):
    node = started()
    asked = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)
    before = {number: signal.getsignal(number) for number in asked}
    try:
        heed_signals(node.agent)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert node.source.state == "let go for 60 s"
        assert node.thread.is_alive()
        os.kill(os.getpid(), signal.SIGTERM)
        node.thread.join(timeout=20)
        assert not node.thread.is_alive()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_gpu_that_was_replaced_is_missed_no_more(started, far_server):
    node = started()
    at = now_ms() - 60_000
    for place, uuids in enumerate((("GPU-0", "GPU-1"), ("GPU-0",), ("GPU-0", "GPU-2"))):
        devices = tuple(DeviceRecord(uuid, "NVIDIA H100 80GB HBM3", 0) for uuid in uuids)
        readings = tuple(DeviceReading(uuid, WINDOW, 4.0, processes=()) for uuid in uuids)
        node.source.told.append(Frame(at + place * 1000, 0.0, devices, readings, ()))
    wait_until(lambda: not node.source.told)
    node.agent._report(now_ms())
    node.agent.sending.hurry(now_ms())

    def phases() -> list[str]:
        events = [event for report in reports(far_server) for event in report.get("events", ())]
        return [event["phase"] for event in events if event["kind"] == "gpu_missing"]

    wait_until(lambda: len(phases()) == 2)
    assert phases() == ["began", "ended"]
    status = node.agent.status()
    assert (status["expected_gpus"], status["seen_gpus"], status["missing"]) == (2, 2, [])
