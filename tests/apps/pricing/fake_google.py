"""Google Cloud's far end on loopback: SKUs, machine types and what a project has of Compute."""

import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

COMPUTE = re.compile(r"/compute/v1/projects/[\w-]+/aggregated/(\w+)")
REGION = re.compile(r"/compute/v1/projects/[\w-]+/regions/([\w-]+)$")


@dataclass
class FakeGoogle:
    """What it knows: SKUs one a page; scoped rows by kind (machineTypes, instances …) and scope.

    `status` other than 200 refuses everything.
    """

    skus: list[dict] = field(default_factory=list)
    scoped: dict[str, dict[str, list[dict]]] = field(default_factory=dict)
    quotas: dict[str, list[dict]] = field(default_factory=dict)
    status: int = 200
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, address: str) -> dict:
        """What is said to a GET."""
        parts = urlsplit(address)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if "/skus" in parts.path:
            return self.page("skus", self.skus, query)
        region = REGION.match(parts.path)
        if region:
            return {"name": region[1], "quotas": self.quotas.get(region[1], [])}
        found = COMPUTE.match(parts.path)
        kind = found[1] if found else ""
        scopes = sorted(self.scoped.get(kind, {}).items())
        first = int(query.get("pageToken") or 0)
        shown = {scope: {kind: rows} for scope, rows in scopes[first : first + 1]}
        more = {"nextPageToken": str(first + 1)} if first + 1 < len(scopes) else {}
        return {"items": shown, **more}

    def page(self, name: str, rows: list[dict], query: dict) -> dict:
        """One row, and where the next is."""
        first = int(query.get("pageToken") or 0)
        more = {"nextPageToken": str(first + 1)} if first + 1 < len(rows) else {}
        return {name: rows[first : first + 1], **more}


@contextmanager
def serving(fake: FakeGoogle):
    """`fake` behind an address of its own."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            """Quiet."""

        def do_GET(self):
            fake.asked.append(self.path)
            told = fake.answer(self.path)
            if fake.status != 200:
                told = {"error": {"code": fake.status, "message": "not for you"}}
            body = json.dumps(told).encode()
            self.send_response(fake.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sku(name, description, group, nanos, **given):
    """So many billionths of a dollar an hour, on demand in us-central1."""
    unit = "GiBy.h" if group == "RAM" else "h"
    price = {"currencyCode": "USD", "units": str(nanos // 10**9), "nanos": nanos % 10**9}
    return {
        "skuId": name,
        "description": description,
        "category": {"resourceGroup": group, "usageType": given.get("usage", "OnDemand")},
        "serviceRegions": [given.get("region", "us-central1")],
        "pricingInfo": [
            {
                "effectiveTime": "2026-02-01T00:00:00Z",
                "pricingExpression": {
                    "usageUnit": unit,
                    "tieredRates": [{"startUsageAmount": 0, "unitPrice": price}],
                },
            }
        ],
    }


def commitment(**given):
    """Sixteen H100 of two a3-highgpu-8g, for a year."""
    return {
        "id": "6410087164529837000",
        "name": "h100-year",
        "region": "https://www.googleapis.com/compute/v1/projects/acme/regions/us-central1",
        "type": "ACCELERATOR_OPTIMIZED_A3",
        "plan": "TWELVE_MONTH",
        "status": "ACTIVE",
        "category": "MACHINE",
        "startTimestamp": "2026-02-01T00:00:00.000-08:00",
        "endTimestamp": "2027-02-01T00:00:00.000-08:00",
        "resources": [
            {"type": "VCPU", "amount": "416"},
            {"type": "MEMORY", "amount": str(2 * 1872 * 1024)},
            {"type": "ACCELERATOR", "amount": "16", "acceleratorType": "nvidia-h100-80gb"},
        ],
        **given,
    }


def instance(name, number, zone="us-central1-a", **given):
    """An a3-highgpu-8g that runs."""
    base = f"https://www.googleapis.com/compute/v1/projects/acme/zones/{zone}"
    return {
        "id": str(number),
        "name": name,
        "status": "RUNNING",
        "zone": base,
        "machineType": f"{base}/machineTypes/a3-highgpu-8g",
        "guestAccelerators": [
            {
                "acceleratorType": f"{base}/acceleratorTypes/nvidia-h100-80gb",
                "acceleratorCount": 8,
            }
        ],
        "scheduling": {"preemptible": False, "provisioningModel": "STANDARD"},
        "creationTimestamp": "2026-02-20T03:00:00.000-08:00",
        **given,
    }
