"""Prices come from AWS as it changes them, go on where they broke off, and refusals are words."""

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count

import pytest
from moto import mock_aws

from apps.fleet.actions import clouds
from apps.fleet.models import CloudSync
from apps.fleet.queries.clouds import cloud_account_named, sync_health, syncs_due
from apps.pricing import tasks
from apps.pricing.models import Rate
from apps.pricing.tasks.cloud_syncs import sync_cloud
from apps.providers.aws.access import NO_KEYS
from apps.providers.cloud import CloudRefused
from tests.apps.pricing.fake_aws import product
from tests.make import NOON, make_organisation, make_pool

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
PRICES = frozenset({"spot_prices", "on_demand_prices"})


def account(**given):
    values = {
        "name": "main",
        "provider": "aws",
        "account": "123456789012",
        "regions": ("us-east-1",),
        "syncs": ("spot_prices", "on_demand_prices"),
    }
    clouds.add_cloud_account(account=clouds.NewCloudAccount(**values | given), at=NOON)
    return cloud_account_named("main")


def spot_pool(**given):
    return make_pool(**{"name": "spot", "purchase_option": "spot"} | given)


def sync(what="spot_prices", at: datetime = NOON, **given):
    found = account(**given) if not sync_health() else cloud_account_named("main")
    sync_cloud(found, what, lambda: at)
    return found


def prices(region="us-east-1a"):
    rates = Rate.objects.filter(region=region).order_by("period")
    return [
        (f"{rate.amount.normalize():f}", rate.period.lower, rate.period.upper) for rate in rates
    ]


def point(zone, amount, at, kind="p5.48xlarge"):
    return (f"us-east-1{zone}", kind, amount, at)


def test_a_spot_price_holds_from_its_moment_until_the_next(aws):
    make_organisation()
    spot_pool(region="us-east-1a")
    first, second, third = NOON - 50 * HOUR, NOON - 20 * HOUR, NOON - HOUR
    aws.spot = [point("a", "30.1", first), point("a", "29.5", second), point("a", "31", third)]
    sync()
    assert prices() == [
        ("30.1", first, second), ("29.5", second, third), ("31", third, None)
    ]  # fmt: skip


def test_a_pool_that_names_no_zone_is_priced_by_the_dearest_of_its_region(aws):
    make_organisation()
    spot_pool(region="us-east-1")
    aws.spot = [
        point("a", "30", NOON - 30 * HOUR),
        point("b", "40", NOON - 20 * HOUR),
        point("b", "35", NOON - 10 * HOUR),
        point("b", "20", NOON - 5 * HOUR),
    ]
    sync()
    assert [row[0] for row in prices("us-east-1")] == ["30", "40", "35", "30"]


def test_the_next_sync_asks_only_for_what_came_since(aws):
    make_organisation()
    spot_pool(region="us-east-1a")
    aws.spot = [point("a", "30", NOON - 5 * HOUR)]
    sync()
    aws.asked.clear()
    aws.spot.append(point("a", "33", NOON + HOUR))
    sync(at=NOON + 2 * HOUR)
    assert [query["StartTime"] for query in aws.asked] == ["2026-03-02T12:00:00Z"]
    assert [row[0] for row in prices()] == ["30", "33"]
    assert sync_health()[0].counts == {"prices": 1, "unchanged": 1, "rejected": 0}


def test_reading_the_same_again_changes_nothing(aws):
    make_organisation()
    spot_pool(region="us-east-1a")
    aws.spot = [point("a", "30", NOON - 5 * HOUR), point("a", "31", NOON - HOUR)]
    sync()
    before = prices()
    CloudSync.objects.update(cursor={})
    sync()
    assert prices() == before


def test_a_sync_that_breaks_off_goes_on_from_its_last_page(aws):
    make_organisation()
    spot_pool(region="us-east-1a")
    spot_pool(name="other", region="us-east-1a", instance_type="p4d.24xlarge")
    at = NOON - 5 * HOUR
    aws.spot = [point("a", "10", at, "p4d.24xlarge"), point("a", "30", at)]
    weeks = 13
    original = aws.spot_page

    def breaks_off_after_the_first_type(query):
        if query["InstanceType.1"] == "p5.48xlarge":
            aws.refusals.append((403, "UnauthorizedOperation"))
        return original(query)

    aws.spot_page = breaks_off_after_the_first_type
    with pytest.raises(CloudRefused):
        sync()
    aws.spot_page, aws.refusals = original, []
    aws.asked.clear()
    sync()
    assert {query["InstanceType.1"] for query in aws.asked} == {"p5.48xlarge"}
    assert len(aws.asked) == weeks - 1
    assert [row[0] for row in prices()] == ["10", "30"]


def test_on_demand_prices_come_from_the_price_list_page_by_page(aws):
    make_organisation()
    make_pool()
    aws.products = [
        product("98.32"),
        product("31.464", "BLOCK", marketoption="CapacityBlock"),
        product("120", "WINDOWS", operatingSystem="Windows"),
    ]
    sync("on_demand_prices")
    (rate,) = Rate.objects.all()
    assert (rate.amount, rate.kind, rate.unit) == (Decimal("98.32"), "list", "node")
    assert rate.source == "AWS price list SKU1"
    assert [query.get("NextToken") for query in aws.asked] == [None, "1"]


def test_an_on_demand_price_that_is_the_same_again_is_left_as_it_is(aws):
    make_organisation()
    make_pool()
    aws.products = [product("98.32")]
    sync("on_demand_prices")
    aws.products[0]["terms"]["OnDemand"]["SKU1.JRTCKXETXF"]["effectiveDate"] = (
        "2026-04-01T00:00:00Z"
    )
    sync("on_demand_prices", at=NOON + timedelta(days=40))
    assert Rate.objects.count() == 1
    assert sync_health()[1].counts == {"prices": 0, "unchanged": 1, "rejected": 0}


def test_a_price_list_that_contradicts_itself_prices_nothing_and_is_noted(aws):
    make_organisation()
    make_pool()
    aws.products = [product("98.32"), product("9.8", "SKU2")]
    sync("on_demand_prices")
    assert not Rate.objects.exists()
    assert "has 2 prices for us-east-1/p5.48xlarge" in sync_health()[1].note


def test_a_price_list_without_its_prices_is_told_in_words(aws, monkeypatch):
    """An answer that lacks what was asked says nothing; it neither breaks the sync nor is no price."""
    make_organisation()
    make_pool()
    aws.products = [product("98.32")]
    monkeypatch.setattr(aws, "price_list_page", lambda query: {"FormatVersion": "aws_v1"})
    with pytest.raises(CloudRefused):
        sync("on_demand_prices")
    health = sync_health()[1]
    assert health.state == "failed"
    assert health.error == "AWS answered without 'PriceList': nothing is known by it"


def test_haste_that_is_refused_is_tried_again_and_then_told(aws):
    make_organisation()
    make_pool()
    aws.products = [product("98.32")]
    aws.refusals = [(400, "ThrottlingException")]
    sync("on_demand_prices")
    assert Rate.objects.count() == 1
    assert len(aws.asked) == 2


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("UnauthorizedOperation", "AWS denies ec2:DescribeSpotPriceHistory"),
        ("AuthFailure", "AWS does not accept the keys"),
        ("RequestLimitExceeded", "AWS asks to slow down"),
        ("InvalidParameterValue", "AWS refuses DescribeSpotPriceHistory: InvalidParameterValue"),
    ],
)
def test_what_aws_refuses_is_told_in_words(aws, monkeypatch, code, words):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    seconds = count(step=10)
    monkeypatch.setattr("botocore.retries.bucket.Clock.current_time", lambda clock: next(seconds))
    make_organisation()
    spot_pool()
    aws.refusals = [(400, code)] * 5
    with pytest.raises(CloudRefused):
        sync()
    health = sync_health()[0]
    assert health.state == "failed"
    assert words in health.error
    assert health.succeeded_at is None


def test_without_credentials_it_says_how_they_are_found(aws, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    make_organisation()
    spot_pool()
    with pytest.raises(CloudRefused):
        sync()
    assert sync_health()[0].error == NO_KEYS
    assert aws.asked == []


def test_a_role_is_taken_on_before_anything_is_asked(aws):
    make_organisation()
    spot_pool(region="us-east-1a")
    aws.spot = [point("a", "30", NOON - HOUR)]
    sync(role_arn="arn:aws:iam::123456789012:role/runrate")
    assert aws.asked[0]["RoleArn"] == "arn:aws:iam::123456789012:role/runrate"
    assert "ExternalId" not in aws.asked[0]
    assert [row[0] for row in prices()] == ["30"]


def test_a_role_is_taken_on_with_the_external_id_that_its_policy_asks_for(aws, settings):
    settings.AWS_EXTERNAL_ID = "runrate-4711"
    make_organisation()
    spot_pool(region="us-east-1a")
    sync(role_arn="arn:aws:iam::123456789012:role/runrate")
    assert aws.asked[0]["ExternalId"] == "runrate-4711"


def test_the_sweep_reads_what_is_due_and_what_breaks_off_stops_nothing_else(aws):
    make_organisation()
    make_pool()
    spot_pool(region="us-east-1a")
    account()
    aws.products = [product("98.32")]
    aws.refusals = [(403, "UnauthorizedOperation")]
    tasks.sync_clouds()
    assert {each.what: each.state for each in sync_health()} == {
        "spot_prices": "failed",
        "on_demand_prices": "done",
    }
    (done,) = CloudSync.objects.filter(state="done")
    assert syncs_due(done.ended_at, PRICES) == []
    due = syncs_due(done.ended_at + HOUR, PRICES)
    assert [what for _, what in due] == ["spot_prices"]


def test_moto_answers_with_the_shapes_that_are_read(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    make_organisation()
    spot_pool(region="us-east-1a")
    with mock_aws():
        sync()
    assert [row[0] for row in prices()] == ["0.00001"]
