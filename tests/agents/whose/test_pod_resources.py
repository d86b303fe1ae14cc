"""What a kubelet granted, over its own protocol on a unix socket."""

from dataclasses import replace

import pytest

from runrate_agent.whose import Places
from runrate_agent.whose.kubeapi import KubeApiUnreachable, PodFact
from runrate_agent.whose.kubernetes import KubernetesPods
from runrate_agent.whose.podresources import (
    DeviceId,
    PodResourcesUnreachable,
    device_of,
    pod_grants,
)
from tests.agents.kubelet import kubelet_at

NOW = 1_795_168_800_000


@pytest.fixture
def kubelet(tmp_path):
    with kubelet_at(tmp_path / "kubelet.sock") as kubelet:
        yield kubelet


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("GPU-1a", DeviceId("GPU-1a")),
        ("GPU-1a::3", DeviceId("GPU-1a", is_replica=True)),
        ("MIG-1a", DeviceId("MIG-1a")),
        ("MIG-1a::0", DeviceId("MIG-1a", is_replica=True)),
        ("nvidia0", DeviceId(None, 0)),
        ("nvidia1/vgpu2", DeviceId(None, 1, is_replica=True)),
        ("nvidia1/gi7", DeviceId(None, 1, 7)),
        ("nvidia1/gi7/vgpu2", DeviceId(None, 1, 7, is_replica=True)),
        ("eth0", None),
    ],
)
def test_every_way_to_name_a_device_is_read(text, device):
    assert device_of(text) == device


def test_grants_are_read_from_the_socket_and_other_resources_left_out(kubelet):
    kubelet.granted = {("ml", "train"): ["GPU-a", "GPU-b"], ("ml", "web"): []}

    [grant] = pod_grants(kubelet.socket)

    assert (grant.namespace, grant.name) == ("ml", "train")
    assert [each.uuid for each in grant.devices] == ["GPU-a", "GPU-b"]


def test_a_socket_that_is_not_mounted_is_said(tmp_path):
    with pytest.raises(PodResourcesUnreachable, match="is it mounted"):
        pod_grants(tmp_path / "kubelet.sock")


def test_a_pod_that_is_gone_gives_its_gpus_back(kubelet):
    pods = KubernetesPods("prod", "gpu-01", lambda: pod_grants(kubelet.socket), None)
    kubelet.granted = {("ml", "train"): ["GPU-a"]}
    [start] = pods.read(NOW)
    assert (start.event, start.allocations[0].devices) == ("start", ("GPU-a",))
    assert pods.of_device("GPU-a")[0].key == "kubernetes/prod/ml.train"

    kubelet.granted = {}
    [over] = pods.read(NOW + 10_000)

    # Nobody can be asked how it ended.
    assert (over.event, over.state, over.raw_id) == ("end", "ENDED", start.raw_id)
    assert pods.of_device("GPU-a") == []


def test_a_slice_by_number_is_the_slice_and_never_its_whole_gpu(kubelet):
    pods = KubernetesPods("prod", "gpu-01", lambda: pod_grants(kubelet.socket), None)
    pods.places = Places(
        minors={"GPU-a": 0, "GPU-b": 1},
        parents={"MIG-a7": "GPU-a", "MIG-b7": "GPU-b"},
        instances={"MIG-a7": 7, "MIG-b7": 7},
    )
    kubelet.granted = {("ml", "train"): ["nvidia1/gi7"], ("ml", "lost"): ["nvidia0/gi9"]}
    pods.read(NOW)
    assert [held.key for held in pods.of_device("MIG-b7")] == ["kubernetes/prod/ml.train"]
    for uuid in ("GPU-a", "GPU-b", "MIG-a7"):
        assert pods.of_device(uuid) == []


SHARED = "GPU-8f2c1a5e-1111-2222-3333-444455556666"


@pytest.mark.parametrize(
    "resource", ["nvidia.com/a100", "nvidia.com/A100-SXM4-80GB", "mycorp.io/h100", "mycorp.io/fast"]
)
@pytest.mark.parametrize("device", [SHARED, f"{SHARED}::2", SHARED.replace("GPU", "MIG")])
def test_a_renamed_resource_is_known_by_the_form_of_its_ids(kubelet, resource, device):
    pods = KubernetesPods("prod", "gpu-01", lambda: pod_grants(kubelet.socket), None)
    kubelet.resource, kubelet.granted = resource, {("ml", "train"): [device]}
    [start] = pods.read(NOW)
    assert pods.unread == frozenset()
    assert start.allocations[0].devices == (device.partition("::")[0],)


@pytest.mark.parametrize(
    "resource", ["rdma/hca", "nvidia.com/hostdev", "cpu.example/mb100x", "example.com/fpga"]
)
def test_a_device_that_is_no_gpu_is_neither_granted_nor_named(kubelet, resource):
    pods = KubernetesPods("prod", "gpu-01", lambda: pod_grants(kubelet.socket), None)
    kubelet.resource, kubelet.granted = resource, {("ml", "train"): ["0"]}
    assert pods.read(NOW) == []
    assert pods.unread == frozenset()


@pytest.mark.parametrize(
    ("resource", "device", "name"),
    [
        ("nvidia.com/GA102GL_A10", "0000:03:00.0", "nvidia.com/GA102GL_A10"),
        ("nvidia.com/a100", "0", "nvidia.com/a100"),
        ("mycorp.io/nvidia-h100-80gb", "0", "mycorp.io/nvidia-h100-80gb"),
        ("nvidia.com/gpu", "0", "nvidia.com/gpu as #"),
        ("nvidia.com/gpu", f"{SHARED}-3", "nvidia.com/gpu as GPU-#"),
        ("nvidia.com/gpumem-percentage", "x", "nvidia.com/gpumem-percentage"),
        ("volcano.sh/vgpu-number", "x", "volcano.sh/vgpu-number"),
        ("aliyun.com/gpu-mem", "GPU-a-_-1", "aliyun.com/gpu-mem"),
        ("amd.com/gpu", "0000:03:00.0", "amd.com/gpu"),
        ("habana.ai/gaudi", "AC0", "habana.ai/gaudi"),
        ("google.com/tpu", "0", "google.com/tpu"),
        ("company.example/gpu-renamed", "GPU-a", "company.example/gpu-renamed"),
        ("nvidia.com/gpu", "nvidia7", "nvidia.com/gpu by a number that no device of this node has"),
    ],
)
def test_a_grant_that_is_not_understood_has_no_holder_and_is_named(kubelet, resource, device, name):
    pods = KubernetesPods("prod", "gpu-01", lambda: pod_grants(kubelet.socket), None)
    pods.places = Places(minors={"GPU-a": 0, SHARED: 1})
    kubelet.resource, kubelet.granted = resource, {("ml", "train"): [device]}
    events = pods.read(NOW)
    assert pods.unread == {name}
    assert all(not one.devices for event in events for one in event.allocations or ())
    assert pods.of_device(device) == pods.of_device("GPU-a") == []
    kubelet.granted = {}
    pods.read(NOW + 10_000)
    assert pods.unread == frozenset()


def test_a_dynamic_claim_is_named_by_its_driver(kubelet):
    pods = KubernetesPods("prod", "gpu-01", lambda: pod_grants(kubelet.socket), None)
    kubelet.claims = {("ml", "train"): "gpu.nvidia.com"}
    assert pods.read(NOW) == []
    assert pods.unread == {"dynamic resource of gpu.nvidia.com"}


class TestEnds:
    """A job of two nodes, looked at from one of them."""

    @pytest.fixture
    def here(self, kubelet):
        """What is granted here, and a job whose pods and state a test changes."""
        kubelet.granted = {("ml", "train-0"): ["GPU-a"]}
        facts = [PodFact("uid-0", "ml", "train-0", "Running", "Job", "train", "uid-train")]
        said = {"uid-train": ""}
        pods = KubernetesPods(
            "prod", "gpu-01", lambda: pod_grants(kubelet.socket), lambda: list(facts),
            ended=lambda fact: said[fact.owner_uid],
        )  # fmt: skip
        [start] = pods.read(NOW)
        assert (start.event, start.raw_id) == ("start", "uid-train")
        return kubelet, facts, said, pods

    def events(self, pods: KubernetesPods, seconds: int) -> list[tuple[str, str]]:
        return [(each.event, each.state) for each in pods.read(NOW + seconds * 1000)]

    def test_a_job_ends_when_it_says_so_also_after_its_pod_has_gone(self, here):
        kubelet, facts, said, pods = here
        kubelet.granted = {}
        facts.clear()
        assert self.events(pods, 10) == [("update", "RUNNING")]
        assert self.events(pods, 20) == []
        said["uid-train"] = "FAILED"
        assert self.events(pods, 30) == [("end", "FAILED")]
        assert self.events(pods, 40) == []

    def test_what_goes_on_elsewhere_only_gives_this_node_back(self, here):
        kubelet, _, said, pods = here
        kubelet.granted = {}
        assert self.events(pods, 10) == [("update", "RUNNING")]
        assert self.events(pods, 700) == []
        said["uid-train"] = "COMPLETED"
        assert self.events(pods, 710) == []

    def test_a_job_that_comes_back_meanwhile_has_not_ended(self, here):
        kubelet, _, _, pods = here
        kubelet.granted = {}
        self.events(pods, 10)
        kubelet.granted = {("ml", "train-0"): ["GPU-b"]}
        assert self.events(pods, 20) == [("start", "RUNNING")]

    @pytest.mark.parametrize(
        ("phase", "state"), [("Succeeded", "COMPLETED"), ("Running", "CANCELLED")]
    )
    def test_a_job_that_was_deleted_ends_as_its_last_pod_did(self, here, phase, state):
        kubelet, facts, said, pods = here
        kubelet.granted = {}
        facts[:] = [replace(facts[0], phase=phase)]
        said["uid-train"] = "GONE"
        assert self.events(pods, 10) == [("end", state)]

    def test_while_nobody_can_be_asked_nothing_ends(self, here):
        kubelet, facts, said, pods = here
        said["uid-train"] = "COMPLETED"
        kubelet.granted = {}

        def away() -> list[PodFact]:
            raise KubeApiUnreachable("away")

        pods.pods = away
        assert self.events(pods, 10) == [("update", "RUNNING")]
        for minutes in range(10, 180, 10):
            assert self.events(pods, 60 * minutes) == []
        pods.pods = lambda: list(facts)
        assert self.events(pods, 10_800) == [("end", "COMPLETED")]

    def restarted(self, pods: KubernetesPods) -> KubernetesPods:
        """The next agent on this node."""
        return KubernetesPods(
            "prod", "gpu-01", pods.grants, pods.pods, ended=pods.ended, memory=pods.memory
        )

    @pytest.fixture
    def kept(self, here, tmp_path):
        """The same, with a state folder."""
        kubelet, facts, said, pods = here
        pods.memory = tmp_path / "pods.json"
        assert self.events(pods, 5) == []
        return kubelet, facts, said, pods

    def test_what_ends_while_no_agent_runs_is_told_by_the_next_one(self, kept):
        kubelet, facts, said, pods = kept
        kubelet.granted = {}
        facts.clear()
        said["uid-train"] = "FAILED"
        again = self.restarted(pods)
        assert self.events(again, 60) == [("end", "FAILED")]
        assert self.events(self.restarted(again), 70) == []

    def test_what_goes_on_over_a_restart_is_the_same_job(self, kept):
        _, _, _, pods = kept
        assert self.events(self.restarted(pods), 60) == [("start", "RUNNING")]

    def test_after_a_restart_a_job_is_known_while_nobody_can_be_asked(self, kept):
        kubelet, facts, said, pods = kept

        def away() -> list[PodFact]:
            raise KubeApiUnreachable("away")

        again = self.restarted(pods)
        again.pods = away
        [start] = again.read(NOW + 60_000)
        assert (start.event, start.raw_id) == ("start", "uid-train")
        kubelet.granted = {}
        said["uid-train"] = "COMPLETED"
        last = self.restarted(again)
        last.pods = away
        assert self.events(last, 70) == []
        last.pods = lambda: list(facts)
        assert self.events(last, 80) == [("end", "COMPLETED")]

    @pytest.mark.parametrize("text", ["", "{", "[1]", '[{"uid": "a"}]', "null"])
    def test_a_memory_that_cannot_be_read_is_none(self, kept, text):
        _, _, _, pods = kept
        pods.memory.write_text(text)
        assert self.events(self.restarted(pods), 60) == [("start", "RUNNING")]


def test_labels_are_the_pods_else_its_namespaces_by_the_names_that_are_asked(kubelet):
    kubelet.granted = {("ml", "train-0"): ["GPU-a"]}
    fact = PodFact(
        "uid-0", "ml", "train-0", "Running", "Job", "train", "uid-train",
        labels={"queue": "gold", "app": "x"},
        namespace_labels={"team": "Research", "queue": "all"},
    )  # fmt: skip
    pods = KubernetesPods(
        "prod", "gpu-01", lambda: pod_grants(kubelet.socket), lambda: [fact],
        labels=("team", "queue"),
    )  # fmt: skip
    [event] = pods.read(NOW)
    assert event.details["labels"] == {"team": "Research", "queue": "gold"}
    assert dict(pods.of_device("GPU-a")[0].labels) == event.details["labels"]
