"""One DaemonSet on three nodes: one secret, three agents, and every GPU counted on its own node."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.cache import cache
from django.core.management import call_command

from apps.fleet.models import Agent, Device, Node
from apps.telemetry.models import TelemetryWindow
from apps.workloads.models import Allocation, Job
from tests import make
from tests.agents.kubelet import kubelet_at
from tests.agents.nvml.conftest import built
from tests.databases import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.proof]
MANIFEST = Path(__file__).resolve().parents[2] / "agents/agent/kubernetes/daemonset.yaml"
NODES = ("gpu-01", "gpu-02", "gpu-03")
GPUS = 2


@dataclass
class NodeOfCluster:
    """A node's own folder as the DaemonSet's pod sees it, and the agent in it."""

    name: str
    folder: Path
    process: subprocess.Popen[str]

    def stop(self) -> str:
        """What it said, once it has sent all that it had."""
        self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=30)
        return said


def pod_config(folder: Path, url: str, secret: str) -> Path:
    """The manifest's own ConfigMap and Secret, with this node's folders in place of its mounts."""
    documents = list(yaml.safe_load_all(MANIFEST.read_text()))
    config = next(each for each in documents if each["kind"] == "ConfigMap")
    text = config["data"]["agent.toml"]
    assert text.count("/etc/runrate-token/") == 1
    text = text.replace("https://runrate.example.org", url).replace("my-cluster", "prod")
    text = text.replace("/etc/runrate-token/", f"{folder}/").replace('"/host"', '"/"')
    text = text.replace("127.0.0.1:9808", "")
    text = text.replace(
        "[holders]",
        f'[source]\nwindow_seconds = 10\n[holders]\npod_resources = "{folder}/kubelet.sock"',
    )
    (folder / "token").write_text(secret)
    (folder / "agent.toml").write_text(text + f'[spool]\nfolder = "{folder}/state"\n')
    return folder / "agent.toml"


def driver_state(folder: Path, node: str) -> Path:
    lines = [f"count={GPUS}"]
    for gpu in range(GPUS):
        own = {"uuid": f"GPU-{node}-{gpu}", "busid": f"00000000:{16 + gpu:02X}:00.0", "samples": 40}
        lines += [f"gpu.{gpu}.{name}={value}" for name, value in own.items()]
    (folder / "nvml.state").write_text("\n".join(lines) + "\n")
    return folder / "nvml.state"


@pytest.fixture
def cluster(live_server: Any, tmp_path: Path) -> Iterator[Callable[[str], NodeOfCluster]]:
    """Nodes that are started one by one, each with its kubelet, driver and agent."""
    cache.clear()
    make.make_organisation()
    now = datetime.now(UTC)
    prod = make.make_cluster("prod", kind="kubernetes")
    pool = make.make_pool("h100", cluster_id=prod, gpus_per_node=GPUS)
    for name in NODES[:2]:
        make.make_node(
            name, pool_id=pool, cluster_id=prod, units=GPUS, started_at=now - timedelta(days=1)
        )
    secret = make_join_token()
    library = built(tmp_path / "fake")
    with ExitStack() as stack:

        def start(name: str) -> NodeOfCluster:
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            if not (folder / "kubelet.sock").exists():
                kubelet = stack.enter_context(kubelet_at(folder / "kubelet.sock"))
                kubelet.granted[("ml", f"train-{name}")] = [f"GPU-{name}-0"]
            state = driver_state(folder, name)
            env = {**os.environ, "NODE_NAME": name, "FAKE_NVML_STATE": str(state),
                   "LD_LIBRARY_PATH": str(library)}  # fmt: skip
            config = pod_config(folder, live_server.url, secret)
            process = subprocess.Popen(
                [sys.executable, "-m", "runrate_agent", "run", "--config", str(config)],
                env=env,
                stderr=subprocess.PIPE,
                text=True,
            )
            stack.callback(process.kill)
            return NodeOfCluster(name, folder, process)

        yield start


def make_join_token() -> str:
    from io import StringIO

    out = StringIO()
    call_command(
        *("make_join_token", "--cluster", "prod", "--nodes", "gpu-*", "--pool", "h100"), stdout=out
    )
    return out.getvalue()


def counts() -> dict[str, int]:
    """Windows of devices, by node."""
    nodes = dict(Device.objects.values_list("id", "node__name"))
    return dict(
        Counter(nodes[each] for each in TelemetryWindow.objects.values_list("device_id", flat=True))
    )


def test_three_agents_of_one_daemonset_are_three_nodes(cluster) -> None:
    agents = [cluster(name) for name in NODES]
    wait_until(lambda: len(counts()) == len(NODES))
    said = {each.name: each.stop() for each in agents}

    # gpu-03 was not on record: the join token says which pool new nodes are of.
    nodes = {node.name: node for node in Node.objects.all()}
    assert set(nodes) == set(NODES)
    assert nodes["gpu-03"].pool.name == "h100"
    owners = Device.objects.values_list("uuid", "node__name")
    assert sorted(owners) == [
        (f"GPU-{name}-{gpu}", name) for name in NODES for gpu in range(GPUS)
    ], said
    assert dict(Agent.objects.values_list("node__name", "source")) == dict.fromkeys(NODES, "nvml")
    by_agent = Counter(TelemetryWindow.objects.values_list("agent_id", flat=True))
    agent_of = dict(Agent.objects.values_list("node__name", "id"))
    assert counts() == {name: by_agent[agent_of[name]] for name in NODES}
    # Every span that a node saw is there once for each of its GPUs.
    for name in NODES:
        starts = TelemetryWindow.objects.filter(agent_id=agent_of[name])
        per_device = Counter(starts.values_list("device_id", flat=True))
        spans = starts.values_list("starts_at", flat=True).distinct().count()
        assert list(per_device.values()) == [spans] * GPUS
    # The jobs are told with the same token, each with what it held on its own node.
    held = Allocation.objects.values_list("job__raw_id", "node__name")
    assert {(raw, node) for raw, node in held} == {(f"ml.train-{name}", name) for name in NODES}
    assert Job.objects.count() == len(NODES)


def test_an_agent_that_is_killed_comes_back_as_itself(cluster) -> None:
    first = cluster("gpu-01")
    wait_until(counts)
    token = Agent.objects.get().token_id
    first.process.kill()
    first.process.communicate(timeout=10)
    before = counts()["gpu-01"]

    again = cluster("gpu-01")
    wait_until(lambda: counts()["gpu-01"] > before)
    again.stop()

    assert Agent.objects.get().token_id == token
    windows = TelemetryWindow.objects.values_list("device_id", "starts_at")
    assert len(windows) == len(set(windows))
