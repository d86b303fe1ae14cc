"""The API server, asked over TLS with a token that is renewed while the agent runs."""

import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from runrate_agent.whose.kubeapi import KubeApi, KubeApiUnreachable, kube_api
from runrate_agent.whose.kubernetes import KubernetesPods
from runrate_agent.whose.podresources import pod_grants
from tests.agents.kubelet import kubelet_at

REPLICA_SET = "/apis/apps/v1/namespaces/ml/replicasets/chat-7d9"


APIS = {"ReplicaSet": "apps/v1", "Job": "batch/v1", "CronJob": "batch/v1", "RayJob": "ray.io/v1",
        "Deployment": "apps/v1", "RayCluster": "ray.io/v1", "JobSet": "jobset.x-k8s.io/v1alpha2"}  # fmt: skip


def owned(kind: str, name: str, uid: str, api: str = "") -> list[dict]:
    of = {"apiVersion": api or APIS[kind], "kind": kind, "name": name, "uid": uid}
    return [of | {"controller": True}]


def pod(name: str, owners: list[dict]) -> dict:
    told = {"uid": f"uid-{name}", "name": name, "namespace": "ml", "ownerReferences": owners}
    return {"metadata": told, "status": {"phase": "Running"}}


def condition(kind: str) -> dict:
    """A Job of which this is so."""
    told = [{"type": "Other", "status": "True"}, {"type": kind, "status": "True"}]
    return {"metadata": {"uid": "uid-job"}, "status": {"conditions": told}}


@dataclass
class Cluster:
    """Opens to one token; every path that was asked for is kept."""

    answers: dict[str, bytes]
    account: Path
    token: str = "first"
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
         "-keyout", folder / "key", "-out", folder / "ca.crt", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def cluster(certificate, tmp_path, monkeypatch) -> Iterator[Cluster]:
    pods = [
        pod("chat-7d9-x", owned("ReplicaSet", "chat-7d9", "uid-rs")),
        pod("chat-7d9-y", owned("ReplicaSet", "chat-7d9", "uid-rs")),
        pod("train-z", owned("Job", "train", "uid-job")),
        pod("alone", []),
    ]
    above = {"metadata": {"ownerReferences": owned("Deployment", "chat", "uid-chat")}}
    told = Cluster(
        {
            "/api/v1/pods": json.dumps({"items": pods}).encode(),
            REPLICA_SET: json.dumps(above).encode(),
        },
        tmp_path,
    )

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.partition("?")[0]
            told.asked.append(path)
            may = self.headers["Authorization"] == f"Bearer {told.token}"
            body = told.answers.get(path, b"") if may else b""
            self.send_response((200 if body else 403) if may else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "ca.crt", certificate / "key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "ca.crt").write_bytes((certificate / "ca.crt").read_bytes())
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.server_port))
    yield told
    server.shutdown()
    thread.join()
    server.server_close()


def api_of(cluster: Cluster) -> KubeApi:
    found = kube_api("gpu-01", cluster.account)
    assert found is not None
    return found


def test_a_pod_is_its_controllers_and_a_replica_set_its_deployments(cluster):
    facts = {each.name: (each.owner_kind, each.owner_uid) for each in api_of(cluster).pods()}

    assert facts == {
        "chat-7d9-x": ("Deployment", "uid-chat"),
        "chat-7d9-y": ("Deployment", "uid-chat"),
        "train-z": ("Job", "uid-job"),
        "alone": ("Pod", "uid-alone"),
    }
    assert cluster.asked.count(REPLICA_SET) == 1


def tell(cluster: Cluster, path: str, told: dict) -> None:
    cluster.answers[path] = json.dumps(told).encode()


RAY_CLUSTER = "/apis/ray.io/v1/namespaces/ml/rayclusters/tune-raycluster-x"
JOB = "/apis/batch/v1/namespaces/ml/jobs/sft-worker-0"


def test_pods_of_a_ray_job_are_the_ray_jobs_and_of_a_job_set_the_job_sets(cluster):
    pods = [
        pod("tune-head", owned("RayCluster", "tune-raycluster-x", "uid-rc")),
        pod("sft-0", owned("Job", "sft-worker-0", "uid-j0")),
        pod("nightly", owned("Job", "nightly-1", "uid-n1")),
    ]
    tell(cluster, "/api/v1/pods", {"items": pods})
    of_ray = {"ownerReferences": owned("RayJob", "tune", "uid-tune")}
    tell(cluster, RAY_CLUSTER, {"metadata": of_ray})
    tell(cluster, JOB, {"metadata": {"ownerReferences": owned("JobSet", "sft", "uid-sft")}})
    # Each run of a CronJob is a job of its own.
    cron = {"ownerReferences": owned("CronJob", "nightly", "uid-cron")}
    tell(cluster, "/apis/batch/v1/namespaces/ml/jobs/nightly-1", {"metadata": cron})

    facts = {each.name: (each.owner_kind, each.owner_uid) for each in api_of(cluster).pods()}

    assert facts == {
        "tune-head": ("RayJob", "uid-tune"),
        "sft-0": ("JobSet", "uid-sft"),
        "nightly": ("Job", "uid-n1"),
    }


def test_an_owner_is_climbed_to_the_root_as_far_as_the_api_shows_it(cluster):
    train, trainer = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets/sft", "trainer/v1alpha1"
    tell(cluster, "/api/v1/pods", {"items": [pod("sft-0", owned("Job", "sft-worker-0", "uid-j0"))]})
    of_set = owned("JobSet", "sft", "uid-sft")
    tell(cluster, JOB, {"metadata": {"ownerReferences": of_set}})
    api = api_of(cluster)
    assert [each.owner_kind for each in api.pods()] == ["JobSet"]

    above = owned("TrainJob", "sft", "uid-train", trainer)
    tell(cluster, train, {"metadata": {"ownerReferences": above}})
    later = api_of(cluster)
    assert [(each.owner_kind, each.owner_uid) for each in later.pods()] == [
        ("TrainJob", "uid-train")
    ]
    cluster.asked.clear()
    later.pods()
    # Who made whom never changes: it is asked once.
    assert JOB not in cluster.asked
    assert train not in cluster.asked


def test_labels_of_a_namespace_are_asked_for_every_ten_minutes_and_may_be_refused(cluster):
    api = api_of(cluster)
    now = [1000.0]
    api.clock = lambda: now[0]

    def teams() -> set[str | None]:
        return {each.namespace_labels.get("team") for each in api.pods()}

    assert teams() == {None}
    tell(cluster, "/api/v1/namespaces/ml", {"metadata": {"labels": {"team": "Research"}}})
    now[0] += 300
    assert teams() == {None}
    now[0] += 300
    assert teams() == {"Research"}
    tell(cluster, "/api/v1/namespaces/ml", {"metadata": {"labels": {"team": "Vision"}}})
    cluster.asked.clear()
    assert teams() == {"Research"}
    assert "/api/v1/namespaces/ml" not in cluster.asked
    now[0] += 600
    assert teams() == {"Vision"}


def test_a_list_of_nothing_may_be_null(cluster):
    tell(cluster, "/api/v1/pods", {"items": None})
    assert api_of(cluster).pods() == []


def test_a_kind_is_asked_for_where_its_owner_reference_says(cluster):
    of_volcano = owned("Job", "train", "uid-vc", "batch.volcano.sh/v1alpha1")
    tell(cluster, "/api/v1/pods", {"items": [pod("train-0", of_volcano)]})
    path = "/apis/batch.volcano.sh/v1alpha1/namespaces/ml/jobs/train"
    tell(cluster, path, {"metadata": {"uid": "uid-vc"}, "status": {"conditions": None}})
    api = api_of(cluster)
    (of_job,) = api.pods()
    assert (of_job.owner_kind, of_job.owner_uid) == ("Job", "uid-vc")
    assert api.ended_state(of_job) == ""
    assert path in cluster.asked


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ({"metadata": {"uid": "uid-job"}, "status": {"active": 1}}, ""),
        (condition("Complete"), "COMPLETED"),
        (condition("Failed"), "FAILED"),
        (condition("Suspended"), ""),
        ({"metadata": {"uid": "another"}, "status": {}}, "GONE"),
    ],
)
def test_a_job_says_how_it_ended(cluster, told, state):
    tell(cluster, "/apis/batch/v1/namespaces/ml/jobs/train", told)
    api = api_of(cluster)
    (of_job,) = [each for each in api.pods() if each.name == "train-z"]
    assert api.ended_state(of_job) == state


@pytest.mark.parametrize(("said", "state"), [("Failed", "FAILED"), ("Complete", "COMPLETED")])
def test_from_the_kubelet_and_the_api_server_a_job_ends_as_it_did(cluster, tmp_path, said, state):
    job = "/apis/batch/v1/namespaces/ml/jobs/train"
    tell(cluster, "/api/v1/namespaces/ml", {"metadata": {"labels": {"team": "Research"}}})
    tell(cluster, job, {"metadata": {"uid": "uid-job"}, "status": {"active": 1}})
    api = api_of(cluster)
    with kubelet_at(tmp_path / "kubelet.sock") as kubelet:
        kubelet.granted = {("ml", "train-z"): ["GPU-a", "GPU-b"]}
        pods = KubernetesPods(
            "prod", "gpu-01", lambda: pod_grants(kubelet.socket), api.pods, ended=api.ended_state
        )
        [start] = pods.read(1_795_168_800_000)
        assert (start.event, start.raw_id) == ("start", "uid-job")
        assert start.details["labels"] == {"team": "Research"}
        kubelet.granted = {}
        tell(cluster, job, condition(said))
        [end] = pods.read(1_795_168_810_000)
    assert (end.event, end.raw_id, end.state) == ("end", "uid-job", state)


def test_a_renewed_token_is_used_as_soon_as_it_is_there(cluster):
    api = api_of(cluster)
    assert len(api.pods()) == 4

    cluster.token = "second"
    with pytest.raises(KubeApiUnreachable, match="401"):
        api.pods()
    (cluster.account / "token").write_text("second\n")

    assert len(api.pods()) == 4


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[1]", b"7"])
def test_a_refusal_or_another_kind_of_answer_is_said(cluster, answer):
    cluster.answers["/api/v1/pods"] = answer
    with pytest.raises(KubeApiUnreachable):
        api_of(cluster).pods()


@pytest.mark.parametrize("name", ["token", "ca.crt"])
def test_a_service_account_that_cannot_be_read_is_said(cluster, name):
    api = api_of(cluster)
    (cluster.account / name).unlink()
    with pytest.raises(KubeApiUnreachable, match="service account"):
        api.pods()


def test_a_server_that_the_clusters_ca_does_not_know_is_not_told_the_token(cluster, tmp_path):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "key",
         "-out", cluster.account / "ca.crt", "-subj", "/CN=another"],
        check=True, capture_output=True,
    )  # fmt: skip
    with pytest.raises(KubeApiUnreachable, match="CERTIFICATE"):
        api_of(cluster).pods()
    assert cluster.asked == []


def test_outside_of_a_cluster_nobody_is_asked(tmp_path, monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert kube_api("gpu-01", tmp_path) is None
