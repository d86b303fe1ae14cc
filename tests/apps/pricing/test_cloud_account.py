"""What an AWS account bought, holds, may have and runs is read, kept up, and matched with nodes."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import boto3
import pytest
from moto import mock_aws

from apps.fleet.actions import clouds
from apps.fleet.models import CloudMachine, CloudSync
from apps.fleet.queries.cloud_machines import strays
from apps.fleet.queries.clouds import cloud_account_named, sync_health
from apps.pricing.models import CloudQuota, Commitment
from apps.pricing.tasks.cloud_syncs import sync_cloud
from apps.providers.cloud import CloudFault, CloudRefused
from tests.apps.pricing.fake_aws import product
from tests.apps.pricing.fake_aws_account import (
    capacity,
    instance,
    plan,
    plan_price,
    quota,
    reserved,
)
from tests.make import NOON, make_node, make_organisation, make_pool

pytestmark = pytest.mark.django_db

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
ENDS = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
YEAR_END = datetime(2027, 1, 1, tzinfo=UTC)
ROLE = "arn:aws:ec2:us-east-1:123456789012"


@pytest.fixture
def p5(aws):
    """An organisation with one pool of p5.48xlarge, and the account's far end."""
    make_organisation()
    make_pool()
    return aws


def sync(what, at=NOON, **given):
    if not clouds.CloudAccount.objects.exists():
        values = {
            "name": "main",
            "provider": "aws",
            "account": "123456789012",
            "regions": ("us-east-1",),
        }
        clouds.add_cloud_account(account=clouds.NewCloudAccount(**values | given), at=NOON)
    sync_cloud(cloud_account_named("main"), what, lambda: at)
    return next(each for each in sync_health() if each.what == what)


def test_reserved_instances_become_commitments_for_all_of_them_together(p5):
    p5.account.reserved = [reserved(BEGAN, ENDS)]
    health = sync("reserved_instances")
    (row,) = Commitment.objects.all()
    assert (row.kind, row.units, row.unit, row.instance_type) == (
        "reserved", 2, "node", "p5.48xlarge"
    )  # fmt: skip
    assert (row.upfront, row.hourly, row.currency) == (Decimal(200_000), Decimal(20), "USD")
    assert (row.period.lower, row.period.upper) == (BEGAN, YEAR_END)
    assert row.external_id == f"{ROLE}:reserved-instances/f127bd27-edb7-44c9-a0eb-0d7e09259af0"
    assert health.counts["added"] == 1


def test_reading_the_same_again_changes_no_commitment(p5):
    p5.account.reserved = [reserved(BEGAN, ENDS)]
    sync("reserved_instances")
    health = sync("reserved_instances", at=NOON + DAY)
    assert (health.counts["added"], health.counts["unchanged"]) == (0, 1)
    assert Commitment.objects.count() == 1


def test_a_reservation_that_was_split_keeps_only_the_part_of_its_fee_that_it_lived(p5):
    quarter = BEGAN + 73 * DAY
    p5.account.reserved = [
        reserved(BEGAN, quarter - timedelta(seconds=1), end=quarter, state="retired")
    ]
    make_node(at=BEGAN)
    sync("reserved_instances")
    (row,) = Commitment.objects.all()
    # A fifth of the year: a fifth of 2 × 100,000 (and the second that AWS leaves off each end).
    assert 40_000 <= row.upfront < 40_001
    assert row.period.upper == quarter


def test_what_has_no_accelerator_or_was_over_before_anything_lived_is_left_out(p5):
    p5.account.reserved = [
        reserved(BEGAN, ENDS, instanceType="m5.large", reservedInstancesId="a"),
        reserved(BEGAN, BEGAN + DAY, reservedInstancesId="b", state="retired"),
        reserved(BEGAN, ENDS, productDescription="Windows", reservedInstancesId="c"),
        reserved(BEGAN, ENDS, state="payment-failed", reservedInstancesId="d"),
    ]
    assert sync("reserved_instances").counts["left_out"] == 4
    assert not Commitment.objects.exists()


def test_a_reservation_keeps_whether_it_is_of_a_zone_or_of_a_region(aws):
    make_organisation()
    make_pool(region="us-east-1d")
    aws.account.reserved = [
        reserved(BEGAN, ENDS, availabilityZone="us-east-1a"),
        reserved(BEGAN, ENDS, reservedInstancesId="b"),
    ]
    sync("reserved_instances")
    # Which of them covers pools that name the one or the other is for whoever applies them.
    assert sorted(Commitment.objects.values_list("region", flat=True)) == [
        "us-east-1",
        "us-east-1a",
    ]


def test_a_savings_plan_brings_its_own_prices_of_what_pools_use(p5):
    p5.account.plans = [plan(BEGAN, YEAR_END)]
    p5.account.plan_prices = {
        plan(BEGAN, YEAR_END)["savingsPlanId"]: [
            plan_price("44.5", "p5.48xlarge"),
            plan_price("46", "p5.48xlarge", "eu-west-1"),
            plan_price("1", "p5.48xlarge", usageType="UnusedBox:p5.48xlarge"),
            plan_price("0.1", "m5.large"),
        ]
    }
    sync("savings_plans")
    (row,) = Commitment.objects.all()
    assert (row.kind, row.spend, row.hourly) == ("savings_plan", Decimal(40), Decimal(40))
    assert row.prices == {"p5.48xlarge": "44.5"}
    assert (row.region, row.external_id) == (
        "", "arn:aws:savingsplans::123456789012:savingsplan/5c5d7a3b"
    )  # fmt: skip
    asked = [query for query in p5.asked if "savingsPlanId" in query]
    assert [query.get("nextToken") for query in asked] == [None, "2"]


def test_a_savings_plan_that_prices_no_pool_is_left_out_and_noted(p5):
    p5.account.plans = [plan(BEGAN, YEAR_END)]
    health = sync("savings_plans")
    assert health.counts["left_out"] == 1
    assert "has no price for any instance type of a pool" in health.note


def test_a_plan_that_was_returned_ends_with_the_hour_in_which_it_was_told(p5):
    p5.account.plans = [plan(BEGAN, YEAR_END)]
    p5.account.plan_prices = {
        plan(BEGAN, YEAR_END)["savingsPlanId"]: [plan_price("44.5", "p5.48xlarge")]
    }
    sync("savings_plans")
    p5.account.plans = [plan(BEGAN, YEAR_END, state="returned")]
    assert sync("savings_plans", at=NOON + HOUR / 2).counts["ended"] == 1
    assert Commitment.objects.get().ended_at == NOON + HOUR
    health = sync("savings_plans", at=NOON + DAY)
    assert (health.counts["ended"], health.counts["left_out"]) == (0, 1)


def test_savings_plans_are_read_page_by_page_and_go_on_after_the_last_done(p5):
    plans = [
        plan(BEGAN, YEAR_END, savingsPlanId=f"plan-{n}", savingsPlanArn=f"arn-{n}")
        for n in range(3)
    ]
    p5.account.plans = plans
    p5.account.plan_prices = {f"plan-{n}": [plan_price("44", "p5.48xlarge")] for n in range(3)}
    original = p5.account.rest

    def breaks_off_at_the_second(path, query):
        if query.get("savingsPlanId") == "plan-0":
            p5.refusals.append((403, "AccessDeniedException"))
        return original(path, query)

    p5.account.rest = breaks_off_at_the_second
    with pytest.raises(CloudRefused):
        sync("savings_plans")
    p5.account.rest, p5.refusals = original, []
    p5.asked.clear()
    sync("savings_plans", at=NOON + HOUR / 4)
    assert [query["savingsPlanId"] for query in p5.asked if "filters" in query] == [
        "plan-1", "plan-2"
    ]  # fmt: skip
    assert Commitment.objects.count() == 3


def test_a_capacity_block_costs_what_the_price_list_asked_when_it_was_first_read(p5):
    p5.account.capacity = [capacity(NOON, NOON + 2 * DAY)]
    p5.products = [product("31.464", "BLOCK", marketoption="CapacityBlock"), product("98")]
    sync("reservations")
    (row,) = Commitment.objects.all()
    # 31.464 dollars × 4 machines × 48 hours.
    assert (row.kind, row.units, row.upfront) == ("capacity_block", 4, Decimal("6041.088"))
    assert row.source == "AWS price list BLOCK"
    p5.products = [product("40", "BLOCK", marketoption="CapacityBlock")]
    assert sync("reservations", at=NOON + HOUR).counts["unchanged"] == 1
    assert Commitment.objects.get().upfront == Decimal("6041.088")


def test_a_capacity_block_without_a_price_is_noted_and_not_free(p5):
    p5.account.capacity = [capacity(NOON, NOON + 2 * DAY)]
    health = sync("reservations")
    assert not Commitment.objects.exists()
    assert "enter it by hand" in health.note
    assert health.counts["rejected"] == 1


def test_held_capacity_says_how_much_of_it_runs(p5):
    p5.account.capacity = [
        capacity(NOON, None, reservationType="default", capacityReservationId="cr-1"),
        capacity(NOON, None, reservationType="default", capacityReservationId="cr-2"),
        capacity(NOON, None, state="cancelled", capacityReservationId="cr-3"),
    ]
    sync("reservations")
    told = {row.code: (row.value, row.used, row.unit) for row in CloudQuota.objects.all()}
    assert told == {
        "reservation/cr-1": (4, 3, "machines"),
        "reservation/cr-2": (4, 3, "machines"),
    }
    p5.account.capacity = p5.account.capacity[:1]
    sync("reservations", at=NOON + HOUR)
    assert [row.code for row in CloudQuota.objects.all()] == ["reservation/cr-1"]


def test_limits_on_accelerators_are_kept_with_what_runs_against_them(p5):
    p5.account.quotas = [
        quota("L-417A185B", "Running On-Demand P instances", 1152.0),
        quota("L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", 64.0),
        quota("L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", 5),
        quota("L-DB2E81BA", "Running On-Demand G and VT instances", 0.0),
    ]
    p5.account.instances = [instance("i-1"), instance("i-2", instanceLifecycle="spot")]
    assert sync("quotas").counts == {"quotas": 3}
    assert set(CloudQuota.objects.values_list("used", flat=True)) == {None}
    sync("machines")
    sync("quotas", at=NOON + HOUR)
    told = {row.code: (row.value, row.used, row.unit) for row in CloudQuota.objects.all()}
    assert told == {
        "L-417A185B": (1152, 192, "vCPUs"),
        "L-7212CCBC": (64, None, "vCPUs"),
        "L-DB2E81BA": (0, 0, "vCPUs"),
    }


def test_machines_and_nodes_are_matched_by_any_name_and_the_rest_is_told(p5):
    pool_id = make_pool("more", region="us-east-1a")
    make_node("trainer-1", pool_id=pool_id, provider_id="aws:///us-east-1a/i-1", at=BEGAN)
    make_node("ip-2.ec2.internal", pool_id=pool_id, at=BEGAN)
    make_node("tagged", pool_id=pool_id, at=BEGAN)
    make_node("gone-in-the-cloud", pool_id=pool_id, at=BEGAN)
    make_node("elsewhere", pool_id=make_pool("eu", region="eu-west-1"), at=BEGAN)
    make_node("just-begun", pool_id=pool_id, at=NOON + timedelta(minutes=5))
    p5.account.instances = [
        instance("i-1"),
        instance("i-2"),
        instance("i-3", tagSet=[{"key": "Name", "value": "tagged"}]),
        instance("i-9", tagSet=[{"key": "Name", "value": "forgotten"}]),
        instance("i-8", instanceType="m5.large"),
    ]
    assert sync("machines").counts == {"machines": 4, "gone": 0}
    found = strays(NOON + timedelta(minutes=10))
    assert [machine.name for machine in found.machines] == ["forgotten"]
    assert [node.name for node in found.nodes] == ["gone-in-the-cloud"]
    assert (found.matched, found.unread) == (3, ())


def test_machines_that_are_gone_are_forgotten_only_when_all_was_read(p5):
    p5.account.instances = [instance("i-1"), instance("i-2"), instance("i-3")]
    sync("machines")
    p5.account.instances = [instance("i-1"), instance("i-4"), instance("i-5")]
    original = p5.account.ec2

    def breaks_off_after_a_page(query):
        p5.refusals.append((403, "UnauthorizedOperation"))
        return original(query)

    p5.account.ec2 = breaks_off_after_a_page
    with pytest.raises(CloudRefused):
        sync("machines", at=NOON + HOUR)
    assert CloudMachine.objects.filter(external_id="i-3").exists()
    p5.account.ec2, p5.refusals = original, []
    p5.asked.clear()
    assert sync("machines", at=NOON + 1.25 * HOUR).counts == {"machines": 1, "gone": 2}
    assert [query.get("NextToken") for query in p5.asked] == ["2"]
    assert sorted(CloudMachine.objects.values_list("external_id", flat=True)) == [
        "i-1", "i-4", "i-5"
    ]  # fmt: skip


def test_a_reading_that_broke_off_long_ago_begins_anew(p5):
    p5.account.instances = [instance("i-1"), instance("i-2"), instance("i-3")]
    sync("machines")
    stale = {"began": (NOON - DAY).isoformat(), "done": ["us-east-1"], "token": ""}
    CloudSync.objects.update(cursor=stale)
    assert sync("machines", at=NOON + HOUR).counts["machines"] == 3


def test_nodes_of_a_cloud_that_was_not_read_lately_are_not_judged(p5):
    make_node(at=BEGAN)
    sync("machines")
    assert [node.name for node in strays(NOON + HOUR).nodes] == ["gpu-01"]
    found = strays(NOON + DAY)
    assert (found.nodes, found.machines, found.unread) == ((), (), ("main",))


@pytest.mark.parametrize(
    ("what", "needed"),
    [
        ("reserved_instances", "ec2:DescribeReservedInstances"),
        ("savings_plans", "savingsplans:DescribeSavingsPlans"),
        ("reservations", "ec2:DescribeCapacityReservations"),
        ("quotas", "servicequotas:ListServiceQuotas"),
        ("machines", "ec2:DescribeInstances"),
    ],
)
def test_a_missing_permission_is_named_as_the_policy_names_it(p5, what, needed):
    p5.refusals = [(403, "AccessDeniedException")]
    with pytest.raises(CloudRefused):
        sync(what)
    (health,) = (each for each in sync_health() if each.what == what)
    assert health.error.startswith(f"AWS denies {needed}: ")
    assert health.fault == CloudFault.DENIED


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("RequestLimitExceeded", CloudFault.RATE_LIMITED),
        ("AuthFailure", CloudFault.CREDENTIALS),
        ("InternalError", CloudFault.OTHER),
    ],
)
def test_what_broke_a_reading_off_is_kept_as_a_code_until_it_is_read_again(p5, code, fault):
    p5.refusals = [(400, code)] * 9
    with pytest.raises(CloudRefused):
        sync("machines")
    assert CloudSync.objects.get(what="machines").fault == fault
    p5.refusals = []
    sync("machines", at=NOON + HOUR)
    assert CloudSync.objects.get(what="machines").fault == ""


def test_moto_answers_with_the_instances_that_are_read(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    make_organisation()
    with mock_aws():
        client = boto3.client("ec2", region_name="us-east-1")
        made = client.run_instances(
            ImageId="ami-12c6146b", InstanceType="p4d.24xlarge", MinCount=1, MaxCount=1
        )
        sync("machines")
    (machine,) = CloudMachine.objects.all()
    assert machine.external_id == made["Instances"][0]["InstanceId"]
    assert (machine.instance_type, machine.zone) == ("p4d.24xlarge", "us-east-1a")
