"""Which controller a pod belongs to: asked of the API server with the pod's own service account."""

from __future__ import annotations

import http.client
import json
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from runrate_agent.compat import SLOTS

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TIMEOUT_SECONDS = 3.0


API_OF = {
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "Deployment": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "RayCluster": "ray.io/v1",
    "RayJob": "ray.io/v1",
    "PyTorchJob": "kubeflow.org/v1",
    "MPIJob": "kubeflow.org/v2beta1",
}
"""Where kinds are asked for; a kind that is not here is taken as it is."""
ABOVE = {"ReplicaSet": ("Deployment",), "RayCluster": ("RayJob",), "Job": ("JobSet",)}
"""Controllers whose own controller is what people call the job."""
ENDED_BY = {
    "Complete": "COMPLETED",
    "Completed": "COMPLETED",
    "Succeeded": "COMPLETED",
    "Failed": "FAILED",
    "SUCCEEDED": "COMPLETED",
    "FAILED": "FAILED",
    "STOPPED": "CANCELLED",
}
"""Conditions, and RayJob's own words, that a job is over."""


class KubeApiUnreachable(Exception):
    """The API server is not there, or refuses; `status` is what it answered, 0 for nothing."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, **SLOTS)
class PodFact:
    """A pod on this node; `owner` is the controller that is the job, or the pod itself."""

    uid: str
    namespace: str
    name: str
    phase: str
    owner_kind: str
    owner_name: str
    owner_uid: str
    labels: Mapping[str, str] = field(default_factory=dict)
    namespace_labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(**SLOTS)
class KubeApi:
    """One server; who owns a controller, and how a namespace is labelled, is asked once.

    The token lasts an hour or so and is renewed in its file: it is read each time.
    """

    address: str
    token_file: Path
    ca_file: str
    node: str
    _owners: dict[tuple[str, str, str], tuple[str, str, str]] = field(default_factory=dict)
    _namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def pods(self) -> list[PodFact]:
        """The pods on this node. Refuses KubeApiUnreachable."""
        asked = urlencode({"fieldSelector": f"spec.nodeName={self.node}"})
        return [self._pod(item) for item in self._get(f"/api/v1/pods?{asked}").get("items", [])]

    def _pod(self, item: Mapping[str, Any]) -> PodFact:
        told = item["metadata"]
        kind, name, uid = "Pod", told["name"], told["uid"]
        for owner in told.get("ownerReferences", []):
            if owner.get("controller"):
                kind, name, uid = owner["kind"], owner["name"], owner["uid"]
        if kind in ABOVE:
            kind, name, uid = self._above(told["namespace"], kind, name, uid)
        return PodFact(
            uid=told["uid"],
            namespace=told["namespace"],
            name=told["name"],
            phase=item.get("status", {}).get("phase", ""),
            owner_kind=kind,
            owner_name=name,
            owner_uid=uid,
            labels=told.get("labels", {}),
            namespace_labels=self._labels_of(told["namespace"]),
        )

    def ended_state(self, pod: PodFact) -> str:
        """How the pod's controller ended, as jobs' states are called; "" while it goes on.

        One that is there no more was deleted: it is over by its last pod's phase, if that tells.
        Refuses KubeApiUnreachable.
        """
        path = _path_of(pod.owner_kind, pod.namespace, pod.owner_name)
        if not path:
            return ""
        try:
            found = self._get(path)
        except KubeApiUnreachable as refused:
            return "GONE" if refused.status == 404 else ""
        if found.get("metadata", {}).get("uid") != pod.owner_uid:
            return "GONE"
        status = found.get("status", {})
        said = [
            each["type"] for each in status.get("conditions", []) if each.get("status") == "True"
        ]
        said += [status.get("jobStatus", ""), status.get("terminalState", "")]
        return next((ENDED_BY[each] for each in said if each in ENDED_BY), "")

    def _labels_of(self, namespace: str) -> Mapping[str, str]:
        """A namespace's labels; none where the service account may not ask."""
        if namespace not in self._namespaces:
            try:
                found = self._get(f"/api/v1/namespaces/{quote(namespace)}")
                self._namespaces[namespace] = found.get("metadata", {}).get("labels", {})
            except KubeApiUnreachable as refused:
                if not refused.status:
                    raise
                self._namespaces[namespace] = {}
        return self._namespaces[namespace]

    def _above(self, namespace: str, kind: str, name: str, uid: str) -> tuple[str, str, str]:
        """The controller that people call the job, which outlives those that it makes."""
        key = namespace, kind, name
        if key not in self._owners:
            found = kind, name, uid
            try:
                told = self._get(_path_of(kind, namespace, name))
            except KubeApiUnreachable as refused:
                if refused.status not in (403, 404):
                    raise
                told = {}
            for owner in told.get("metadata", {}).get("ownerReferences", []):
                if owner.get("controller") and owner["kind"] in ABOVE[kind]:
                    found = owner["kind"], owner["name"], owner["uid"]
            self._owners[key] = found
        return self._owners[key]

    def _get(self, path: str) -> dict[str, Any]:
        host, _, port = self.address.rpartition(":")
        try:
            token = self.token_file.read_text().strip()
            context = ssl.create_default_context(cafile=self.ca_file)
        except (OSError, UnicodeDecodeError) as unreadable:
            raise KubeApiUnreachable(f"the service account: {unreadable}") from unreadable
        connection = http.client.HTTPSConnection(
            host.strip("[]"), int(port), timeout=TIMEOUT_SECONDS, context=context
        )
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as away:
            raise KubeApiUnreachable(f"{self.address}: {away}") from away
        finally:
            connection.close()
        if answer.status != 200:
            raise KubeApiUnreachable(
                f"{self.address}{path.partition('?')[0]} answers {answer.status}", answer.status
            )
        try:
            return dict(json.loads(body))
        except (ValueError, TypeError) as broken:
            raise KubeApiUnreachable(f"{self.address} answers no JSON object") from broken


def _path_of(kind: str, namespace: str, name: str) -> str:
    api = API_OF.get(kind)
    return f"/apis/{api}/namespaces/{quote(namespace)}/{kind.lower()}s/{quote(name)}" if api else ""


def kube_api(node: str, account: Path = ACCOUNT) -> KubeApi | None:
    """The API server of the cluster this runs in; None outside of one."""
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        return None
    if not (account / "token").exists():
        return None
    shown = f"[{host}]" if ":" in host else host
    return KubeApi(f"{shown}:{port}", account / "token", str(account / "ca.crt"), node)
