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

REPLICA_SET = "/apis/apps/v1/namespaces/ml/replicasets/chat-7d9"


def owned(kind: str, name: str, uid: str) -> list[dict]:
    return [{"kind": kind, "name": name, "uid": uid, "controller": True}]


def pod(name: str, owners: list[dict]) -> dict:
    told = {"uid": f"uid-{name}", "name": name, "namespace": "ml", "ownerReferences": owners}
    return {"metadata": told, "status": {"phase": "Running"}}


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
