"""What a Google Cloud project bought, holds, may have and runs is read by Google's own client."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from apps.fleet.actions import clouds
from apps.fleet.models import CloudAccount, CloudMachine
from apps.fleet.queries.cloud_machines import strays
from apps.fleet.queries.clouds import cloud_account_named, sync_health
from apps.pricing.models import CloudQuota, Commitment
from apps.pricing.tasks.cloud_syncs import sync_cloud
from apps.providers.cloud import CloudFault, CloudRefused
from tests.apps.pricing.fake_google import commitment, instance, sku
from tests.make import NOON, make_node, make_organisation, make_pool

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
YEAR = {"usage": "Commit1Yr"}
COMMITTED = [
    sku("CPU", "Commitment v1: A3 Cpu in Americas for 1 Year", "CPU", 20_000_000, **YEAR),
    sku("RAM", "Commitment v1: A3 Ram in Americas for 1 Year", "RAM", 2_000_000, **YEAR),
    sku(
        "GPU",
        "Commitment v1: Nvidia H100 80GB GPU in Americas for 1 Year",
        "GPU",
        7 * 10**9,
        **YEAR,
    ),
    sku("A2", "Commitment v1: A2 Cpu in Americas for 1 Year", "CPU", 1, **YEAR),
    sku("MEGA", "Commitment v1: A3Plus Cpu in Americas for 1 Year", "CPU", 1, **YEAR),
    sku("3Y", "Commitment v1: A3 Cpu in Americas for 3 Years", "CPU", 1, usage="Commit3Yr"),
    sku("OD", "A3 Instance Core running in Americas", "CPU", 29_000_000),
]


@pytest.fixture
def a3(google):
    """An organisation with one pool of a3-highgpu-8g, and the project's far end."""
    make_organisation()
    make_pool(provider="gcp", region="us-central1-a", instance_type="a3-highgpu-8g")
    google.skus = COMMITTED
    return google


def sync(what, at=NOON):
    if not CloudAccount.objects.exists():
        account = clouds.NewCloudAccount("research", "gcp", "acme", ("us-central1",))
        clouds.add_cloud_account(account=account, at=NOON)
    sync_cloud(cloud_account_named("research"), what, lambda: at)
    return next(each for each in sync_health() if each.what == what)


def test_committed_use_of_gpus_costs_the_sum_of_its_parts(a3):
    a3.scoped = {"commitments": {"regions/us-central1": [commitment()]}}
    assert sync("committed_use").counts["added"] == 1
    (row,) = Commitment.objects.all()
    assert (row.kind, row.units, row.unit) == ("committed_use", 16, "gpu")
    # 416 cores × 0.02 + 3744 GiB × 0.002 + 16 GPUs × 7
    assert row.hourly == Decimal("127.808")
    assert (row.region, row.gpu_model) == ("us-central1-a", "NVIDIA H100 80GB HBM3")
    assert (row.period.lower, row.period.upper) == (
        datetime(2026, 2, 1, 8, tzinfo=UTC), datetime(2027, 2, 1, 8, tzinfo=UTC)
    )  # fmt: skip
    assert row.external_id == "projects/acme/regions/us-central1/commitments/h100-year"
    assert sync("committed_use", at=NOON + HOUR).counts["unchanged"] == 1


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"type": "ACCELERATOR_OPTIMIZED_A4"}, "0 Commit1Yr SKUs are ('A4', 'cpu')"),
        ({"plan": "SIXTY_MONTH"}, "a term of SIXTY_MONTH has no SKU"),
        (
            {"resources": [*commitment()["resources"], {"type": "LOCAL_SSD", "amount": "6000"}]},
            "LOCAL_SSD has no price here",
        ),
    ],
)
def test_a_commitment_of_which_a_part_has_no_price_is_noted_and_not_kept(a3, given, reason):
    a3.scoped = {"commitments": {"regions/us-central1": [commitment(**given)]}}
    health = sync("committed_use")
    assert reason in health.note
    assert health.counts["rejected"] == 1
    assert not Commitment.objects.exists()


def test_commitments_without_gpus_or_that_were_cancelled_are_left_out(a3):
    only_cores = [{"type": "VCPU", "amount": "64"}]
    a3.scoped = {
        "commitments": {
            "regions/us-central1": [commitment(resources=only_cores, name="cores")],
            "regions/us-east4": [commitment(status="CANCELLED")],
        }
    }
    assert sync("committed_use").counts["left_out"] == 2
    assert not any("/skus" in path for path in a3.asked)


def test_a_commitment_that_was_cancelled_ends(a3):
    a3.scoped = {"commitments": {"regions/us-central1": [commitment()]}}
    sync("committed_use")
    a3.scoped = {"commitments": {"regions/us-central1": [commitment(status="CANCELLED")]}}
    assert sync("committed_use", at=NOON + HOUR).counts["ended"] == 1
    assert Commitment.objects.get().ended_at == NOON + 2 * HOUR


def test_limits_on_gpus_come_with_what_is_used(a3):
    a3.quotas = {
        "us-central1": [
            {"metric": "NVIDIA_H100_GPUS", "limit": 64.0, "usage": 24.0},
            {"metric": "CPUS", "limit": 2400.0, "usage": 100.0},
        ]
    }
    sync("quotas")
    (row,) = CloudQuota.objects.all()
    assert (row.account, row.region, row.name) == ("acme", "us-central1", "NVIDIA H100 GPUs")
    assert (row.value, row.used, row.unit) == (64, 24, "GPUs")


def test_reservations_of_the_regions_say_how_many_machines_run_in_them(a3):
    held = {
        "name": "training",
        "specificReservation": {
            "count": "8",
            "inUseCount": "5",
            "instanceProperties": {"machineType": "a3-highgpu-8g"},
        },
    }
    a3.scoped = {"reservations": {"zones/us-central1-a": [held], "zones/europe-west4-b": [held]}}
    assert sync("reservations").counts == {"reservations": 1}
    (row,) = CloudQuota.objects.all()
    assert (row.code, row.value, row.used) == ("reservation/us-central1-a/training", 8, 5)


def test_instances_are_matched_with_nodes_by_name_host_or_cluster_id(a3):
    pool_id = make_pool("more", provider="gcp", region="us-central1")
    begun = NOON - HOUR
    make_node("gke-1", pool_id=pool_id, at=begun)
    make_node("other", pool_id=pool_id, provider_id="gce://acme/us-central1-b/gke-2", at=begun)
    make_node("nowhere", pool_id=pool_id, at=begun)
    a3.scoped = {
        "instances": {
            "zones/us-central1-a": [
                instance("gke-1", 11),
                instance("web", 12, guestAccelerators=[], machineType="x/e2-small"),
                instance("off", 13, status="TERMINATED"),
            ],
            "zones/us-central1-b": [
                instance("gke-2", 21, "us-central1-b"),
                instance(
                    "left-over",
                    22,
                    "us-central1-b",
                    scheduling={"preemptible": True, "provisioningModel": "SPOT"},
                ),
            ],
            "zones/europe-west4-b": [instance("far", 31, "europe-west4-b")],
        }
    }
    assert sync("machines").counts == {"machines": 3, "gone": 0}
    found = strays(NOON + HOUR)
    assert [(each.name, each.purchase_option) for each in found.machines] == [("left-over", "spot")]
    assert [node.name for node in found.nodes] == ["nowhere"]
    assert found.matched == 2
    assert CloudMachine.objects.get(name="gke-1").launched_at == datetime(
        2026, 2, 20, 11, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("what", "needed"),
    [
        ("committed_use", "compute.commitments.list"),
        ("reservations", "compute.reservations.list"),
        ("quotas", "compute.regions.get"),
        ("machines", "compute.instances.list"),
    ],
)
def test_a_missing_permission_is_named(a3, what, needed):
    a3.status = 403
    with pytest.raises(CloudRefused, match=f"^Google Cloud denies {needed}") as refused:
        sync(what)
    assert refused.value.fault == CloudFault.DENIED
