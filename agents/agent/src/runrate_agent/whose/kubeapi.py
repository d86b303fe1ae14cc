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


class KubeApiUnreachable(Exception):
    """The API server is not there, or refuses."""


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


@dataclass(**SLOTS)
class KubeApi:
    """One server; who owns a ReplicaSet is asked once.

    The token lasts an hour or so and is renewed in its file: it is read each time.
    """

    address: str
    token_file: Path
    ca_file: str
    node: str
    _owners: dict[tuple[str, str], tuple[str, str, str]] = field(default_factory=dict)

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
        if kind == "ReplicaSet":
            kind, name, uid = self._above(told["namespace"], name, uid)
        return PodFact(
            uid=told["uid"],
            namespace=told["namespace"],
            name=told["name"],
            phase=item.get("status", {}).get("phase", ""),
            owner_kind=kind,
            owner_name=name,
            owner_uid=uid,
            labels=told.get("labels", {}),
        )

    def _above(self, namespace: str, name: str, uid: str) -> tuple[str, str, str]:
        """The Deployment that a ReplicaSet belongs to, which outlives it."""
        key = namespace, name
        if key not in self._owners:
            path = f"/apis/apps/v1/namespaces/{quote(namespace)}/replicasets/{quote(name)}"
            found = ("ReplicaSet", name, uid)
            for owner in self._get(path).get("metadata", {}).get("ownerReferences", []):
                if owner.get("controller"):
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
                f"{self.address}{path.partition('?')[0]} answers {answer.status}"
            )
        try:
            return dict(json.loads(body))
        except (ValueError, TypeError) as broken:
            raise KubeApiUnreachable(f"{self.address} answers no JSON object") from broken


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
