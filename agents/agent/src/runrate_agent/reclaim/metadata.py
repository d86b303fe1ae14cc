"""The metadata services of AWS and Google Cloud; https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/
spot-instance-termination-notices.html, https://cloud.google.com/compute/docs/instances/create-use-spot.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runrate_agent.compat import SLOTS
from runrate_agent.reclaim import Cloud, MetadataUnreachable, Notice

TIMEOUT_SECONDS = 1.0
LONGEST = 1 << 16
TOKEN_SECONDS = 21_600
STOPS = frozenset({"stop", "hibernate"})
"""What AWS does to an instance that it keeps, and starts again when there is capacity."""
AWS_ADDRESS = "169.254.169.254:80"
GCP_ADDRESS = "metadata.google.internal:80"


@dataclass(**SLOTS)
class Aws:
    """Instance metadata, version 2: a token first, then what it opens."""

    address: str = AWS_ADDRESS
    name: str = "aws"
    _token: str = ""
    _token_until: float = field(default=0.0)

    def facts(self) -> Mapping[str, str]:
        """By the paths of the service; what it does not have is left out."""
        life = self._get("instance-life-cycle")
        found = {
            "purchase_option": {"spot": "spot", "on-demand": "on_demand"}.get(life or "", ""),
            "instance_type": self._get("instance-type") or "",
            "region": self._get("placement/region") or "",
            "provider_id": self._get("instance-id") or "",
        }
        return {name: value for name, value in found.items() if value}

    def notice(self) -> Notice | None:
        """A spot interruption, two minutes ahead; 404 while none is announced."""
        text = self._get("spot/instance-action")
        if text is None:
            return None
        try:
            told = json.loads(text)
        except ValueError as broken:
            raise MetadataUnreachable("the notice is not JSON") from broken
        if not isinstance(told, dict):
            raise MetadataUnreachable("the notice is no object")
        action = str(told.get("action", "terminate"))
        return Notice(action, str(told.get("time", "")), is_end=action not in STOPS)

    def _get(self, path: str) -> str | None:
        if time.monotonic() >= self._token_until:
            header = {"X-aws-ec2-metadata-token-ttl-seconds": str(TOKEN_SECONDS)}
            status, self._token = asked(self.address, "PUT", "/latest/api/token", header)
            if status != 200:
                raise MetadataUnreachable(f"no token: {status}")
            self._token_until = time.monotonic() + TOKEN_SECONDS / 2
        header = {"X-aws-ec2-metadata-token": self._token}
        status, text = asked(self.address, "GET", f"/latest/meta-data/{path}", header)
        if status == 401:
            self._token_until = 0.0
        if status not in (200, 404):
            raise MetadataUnreachable(f"{path}: {status}")
        return text.strip() if status == 200 else None


@dataclass(**SLOTS)
class Gcp:
    """Google's metadata server; every request and answer carries its header."""

    address: str = GCP_ADDRESS
    name: str = "gcp"

    def facts(self) -> Mapping[str, str]:
        """By the paths of the service; what it does not have is left out."""
        model = (self._get("scheduling/provisioning-model") or "").lower()
        if not model:
            is_preemptible = (self._get("scheduling/preemptible") or "").upper() == "TRUE"
            model = "spot" if is_preemptible else "standard"
        zone = (self._get("zone") or "").rpartition("/")[2]
        kinds = {"spot": "spot", "preemptible": "spot", "standard": "on_demand"}
        found = {
            "purchase_option": kinds.get(model, ""),
            "instance_type": (self._get("machine-type") or "").rpartition("/")[2],
            "region": zone.rpartition("-")[0],
            "provider_id": self._get("id") or "",
        }
        return {name: value for name, value in found.items() if value}

    def notice(self) -> Notice | None:
        """A preemption, thirty seconds ahead."""
        if (self._get("preempted") or "").upper() == "TRUE":
            return Notice("preempt", "")
        event = (self._get("maintenance-event") or "NONE").upper()
        # The host is serviced: the machine stops, and is started again elsewhere.
        is_stop = event == "TERMINATE_ON_HOST_MAINTENANCE"
        return Notice("stop for maintenance", "", is_end=False) if is_stop else None

    def _get(self, path: str) -> str | None:
        where = f"/computeMetadata/v1/instance/{path}"
        status, text = asked(self.address, "GET", where, {"Metadata-Flavor": "Google"})
        if status not in (200, 404):
            raise MetadataUnreachable(f"{path}: {status}")
        return text.strip() if status == 200 else None


def cloud_here(chosen: str, root: Path = Path("/")) -> Cloud | None:
    """The cloud that was chosen, or with `auto` the one whose hardware this is; None: none."""
    if chosen == "auto":
        chosen = _by_hardware(root)
    return {"aws": Aws, "gcp": Gcp}[chosen]() if chosen in ("aws", "gcp") else None


def asked(address: str, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, str]:
    """Status and text; refuses MetadataUnreachable. Never goes through a proxy."""
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=TIMEOUT_SECONDS)
    try:
        connection.request(method, path, headers=dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read(LONGEST).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as away:
        raise MetadataUnreachable(f"{address}: {away}") from away
    finally:
        connection.close()


def _by_hardware(root: Path) -> str:
    said = ""
    for name in ("sys_vendor", "product_name", "bios_vendor"):
        try:
            said += (root / "sys/class/dmi/id" / name).read_text()
        except OSError:
            continue
    if "Amazon EC2" in said:
        return "aws"
    return "gcp" if "Google" in said else "none"
