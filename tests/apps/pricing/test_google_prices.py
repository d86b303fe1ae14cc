"""Google's prices are sums of cores, memory and GPUs, read through its own client."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from google.auth.credentials import AnonymousCredentials

from apps.fleet.actions import clouds
from apps.fleet.providers.aws import CloudRefused
from apps.fleet.queries.clouds import cloud_account_named, sync_health
from apps.pricing.models import Rate
from apps.pricing.providers import gcp
from apps.pricing.tasks.cloud_syncs import sync_cloud
from tests.make import NOON, make_organisation, make_pool

pytestmark = pytest.mark.django_db

MACHINE = {
    "name": "a3-highgpu-8g",
    "guestCpus": 208,
    "memoryMb": 1916928,
    "zone": "us-central1-a",
    "accelerators": [{"guestAcceleratorType": "nvidia-h100-80gb", "guestAcceleratorCount": 8}],
}


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


PARTS = [
    sku("CORE", "A3 Instance Core running in Americas", "CPU", 29_000_000),
    sku("RAM", "A3 Instance Ram running in Americas", "RAM", 2_500_000),
    sku("GPU", "Nvidia H100 80GB GPU running in Americas", "GPU", 9_800_000_000),
]
ELSEWHERE = [
    sku("A2", "A2 Instance Core running in Americas", "CPU", 1),
    sku("EU", "A3 Instance Core running in Europe", "CPU", 1, region="europe-west4"),
    sku(
        "P", "Spot Preemptible A3 Instance Core running in Americas", "CPU", 1, usage="Preemptible"
    ),
]


@pytest.fixture
def google(monkeypatch):
    """The far end: SKUs one a page, and one machine type; `status` other than 200 refuses."""
    state = {"skus": [*PARTS, *ELSEWHERE], "status": 200, "asked": []}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            """Quiet."""

        def do_GET(self):
            state["asked"].append(self.path)
            self.answer(catalogue(self.path) if "/skus" in self.path else machines())

        def answer(self, told):
            if state["status"] != 200:
                told = {"error": {"code": state["status"], "message": "not for you"}}
            body = json.dumps(told).encode()
            self.send_response(state["status"])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def catalogue(path):
        first = int(path.partition("pageToken=")[2].partition("&")[0] or 0)
        more = {"nextPageToken": str(first + 1)} if first + 1 < len(state["skus"]) else {}
        return {"skus": state["skus"][first : first + 1], **more}

    def machines():
        return {"items": {"zones/us-central1-a": {"machineTypes": [MACHINE]}}}

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    access = gcp.Access(AnonymousCredentials(), f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(gcp, "access", lambda: access)
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def sync():
    make_organisation()
    make_pool(provider="gcp", region="us-central1", instance_type="a3-highgpu-8g")
    account = clouds.NewCloudAccount(
        name="main",
        provider="gcp",
        account="acme",
        regions=("us-central1",),
        syncs=("on_demand_prices",),
    )
    clouds.add_cloud_account(account=account, at=NOON)
    sync_cloud(cloud_account_named("main"), "on_demand_prices", lambda: NOON)


def test_a_machine_costs_what_its_cores_memory_and_gpus_cost(google):
    sync()
    (rate,) = Rate.objects.all()
    # 208 cores × 0.029 + 1872 GiB × 0.0025 + 8 GPUs × 9.80
    assert f"{rate.amount.normalize():f}" == "89.112"
    assert (rate.provider, rate.region, rate.instance_type) == (
        "gcp", "us-central1", "a3-highgpu-8g"
    )  # fmt: skip
    assert rate.source == "Google Cloud SKUs CORE, RAM, GPU"


def test_a_part_without_a_price_leaves_the_machine_unpriced_and_says_which(google):
    google["skus"] = [PARTS[0], PARTS[1], *ELSEWHERE]
    sync()
    assert not Rate.objects.exists()
    assert "0 SKUs are 'Nvidia H100 80GB GPU' in us-central1" in sync_health()[0].note


def test_what_google_denies_is_told_in_words(google):
    google["status"] = 403
    with pytest.raises(CloudRefused):
        sync()
    assert sync_health()[0].error.startswith("Google Cloud denies cloudbilling")
