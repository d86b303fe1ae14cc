"""Which controller a pod belongs to: asked of the API server with the pod's own service account."""

from __future__ import annotations

import http.client
import json
import math
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from runrate_agent.compat import SLOTS

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TIMEOUT_SECONDS = 3.0


LOOKED_UP_SECONDS = 600.0
"""So often it is asked anew how a namespace is labelled, and what was refused."""
ABOVE = {
    "ReplicaSet": ("Deployment", "Rollout"),
    "Deployment": ("InferenceService", "LLMInferenceService", "DynamoComponentDeployment"),
    "DynamoComponentDeployment": ("DynamoGraphDeployment",),
    "StatefulSet": ("LeaderWorkerSet",),
    "LeaderWorkerSet": ("LLMInferenceService", "DynamoComponentDeployment"),
    "RayCluster": ("RayJob", "RayService"),
    "Job": ("JobSet",),
    "JobSet": ("TrainJob",),
    "PyTorchJob": ("TrainJob",),
}
"""Controllers whose own controller is what people call the job; never what makes one job after the
other, as a CronJob does."""
MOST_LEVELS = 5
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
    """A pod on this node; `owner` is the controller that is the job, or the pod itself.

    `owner_api` is the group and version that the controller is asked for under.
    """

    uid: str
    namespace: str
    name: str
    phase: str
    owner_kind: str
    owner_name: str
    owner_uid: str
    owner_api: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    namespace_labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, **SLOTS)
class _Controller:
    """What an object says of its controller."""

    api: str
    kind: str
    name: str
    uid: str


@dataclass(**SLOTS)
class KubeApi:
    """One server. Whose a controller is asked once, how a namespace is labelled every ten minutes.

    The token lasts an hour or so and is renewed in its file: it is read each time.
    """

    address: str
    token_file: Path
    ca_file: str
    node: str
    clock: Callable[[], float] = time.monotonic
    _owners: dict[str, tuple[_Controller, float]] = field(default_factory=dict)
    _namespaces: dict[str, tuple[Mapping[str, str], float]] = field(default_factory=dict)

    def pods(self) -> list[PodFact]:
        """The pods on this node. Refuses KubeApiUnreachable."""
        asked = urlencode({"fieldSelector": f"spec.nodeName={self.node}"})
        found = self._get(f"/api/v1/pods?{asked}").get("items") or []
        pods = [self._pod(item) for item in found]
        used = {each["uid"] for item in found for each in _controllers(item["metadata"])}
        for _ in range(MOST_LEVELS):
            used |= {above.uid for uid, (above, _) in self._owners.items() if uid in used}
        self._owners = {uid: known for uid, known in self._owners.items() if uid in used}
        return pods

    def _pod(self, item: Mapping[str, Any]) -> PodFact:
        told = item["metadata"]
        owner = _controller_of(told) or _Controller("v1", "Pod", told["name"], told["uid"])
        for _ in range(MOST_LEVELS):
            if owner.kind not in ABOVE:
                break
            below, owner = owner, self._above(told["namespace"], owner)
            if owner.uid == below.uid:
                break
        return PodFact(
            uid=told["uid"],
            namespace=told["namespace"],
            name=told["name"],
            phase=item.get("status", {}).get("phase", ""),
            owner_kind=owner.kind,
            owner_name=owner.name,
            owner_uid=owner.uid,
            owner_api=owner.api,
            labels=told.get("labels") or {},
            namespace_labels=self._labels_of(told["namespace"]),
        )

    def ended_state(self, pod: PodFact) -> str:
        """How the pod's controller ended, as jobs' states are called; "" while it goes on.

        One that is there no more was deleted: it is over by its last pod's phase, if that tells.
        Refuses KubeApiUnreachable.
        """
        try:
            found = self._get(
                _path_of(pod.owner_api, pod.owner_kind, pod.namespace, pod.owner_name)
            )
        except KubeApiUnreachable as refused:
            return "GONE" if refused.status == 404 else ""
        if found.get("metadata", {}).get("uid") != pod.owner_uid:
            return "GONE"
        status = found.get("status", {})
        said = [
            each["type"] for each in status.get("conditions") or [] if each.get("status") == "True"
        ]
        said += [status.get("jobStatus", ""), status.get("terminalState", "")]
        return next((ENDED_BY[each] for each in said if each in ENDED_BY), "")

    def _labels_of(self, namespace: str) -> Mapping[str, str]:
        """A namespace's labels; none where the service account may not ask."""
        labels, until = self._namespaces.get(namespace, ({}, 0.0))
        if self.clock() >= until:
            told = self._allowed(f"/api/v1/namespaces/{quote(namespace)}")
            labels = told.get("metadata", {}).get("labels") or {}
            self._namespaces[namespace] = labels, self.clock() + LOOKED_UP_SECONDS
        return labels

    def _above(self, namespace: str, below: _Controller) -> _Controller:
        """The controller that people call the job, which outlives those that it makes."""
        found, until = self._owners.get(below.uid, (below, 0.0))
        if self.clock() >= until:
            told = self._allowed(_path_of(below.api, below.kind, namespace, below.name))
            above = _controller_of(told.get("metadata", {}))
            found = above if above and above.kind in ABOVE[below.kind] else below
            # Who made it never changes; it may not have been allowed to ask, though.
            until = math.inf if told else self.clock() + LOOKED_UP_SECONDS
            self._owners[below.uid] = found, until
        return found

    def _allowed(self, path: str) -> dict[str, Any]:
        """What is there; nothing where it is not, or the service account may not ask."""
        try:
            return self._get(path)
        except KubeApiUnreachable as refused:
            if refused.status not in (403, 404):
                raise
            return {}

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


def _path_of(api: str, kind: str, namespace: str, name: str) -> str:
    """Where one of a kind is asked for; `api` is its group and version, as an owner reference has it."""
    root = "/apis" if "/" in api else "/api"
    return f"{root}/{api}/namespaces/{quote(namespace)}/{kind.lower()}s/{quote(name)}"


def _controllers(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [each for each in told.get("ownerReferences") or [] if each.get("controller")]


def _controller_of(told: Mapping[str, Any]) -> _Controller | None:
    """The one that an object's metadata names as its own."""
    for each in _controllers(told):
        return _Controller(each["apiVersion"], each["kind"], each["name"], each["uid"])
    return None


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
