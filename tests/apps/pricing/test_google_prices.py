"""Google's prices are sums of cores, memory and GPUs, read through its own client."""

import pytest

from apps.fleet.actions import clouds
from apps.fleet.queries.clouds import cloud_account_named, sync_health
from apps.pricing.models import Rate
from apps.pricing.tasks.cloud_syncs import sync_cloud
from apps.providers.cloud import CloudRefused
from tests.apps.pricing.fake_google import sku
from tests.make import NOON, make_organisation, make_pool

pytestmark = pytest.mark.django_db

MACHINE = {
    "name": "a3-highgpu-8g",
    "guestCpus": 208,
    "memoryMb": 1916928,
    "zone": "us-central1-a",
    "accelerators": [{"guestAcceleratorType": "nvidia-h100-80gb", "guestAcceleratorCount": 8}],
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
def google(google):
    """The far end with these SKUs and one machine type."""
    google.skus = [*PARTS, *ELSEWHERE]
    google.scoped = {"machineTypes": {"zones/us-central1-a": [MACHINE]}}
    return google


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
    google.skus = [PARTS[0], PARTS[1], *ELSEWHERE]
    sync()
    assert not Rate.objects.exists()
    assert "0 SKUs are 'Nvidia H100 80GB GPU' in us-central1" in sync_health()[0].note


def test_what_google_denies_is_told_in_words(google):
    google.status = 403
    with pytest.raises(CloudRefused):
        sync()
    assert sync_health()[0].error.startswith("Google Cloud denies cloudbilling")
