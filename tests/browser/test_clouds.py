"""Cloud accounts as people meet them: added, read at once, and found wanting, on a phone too."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.cache import cache
from django.utils import timezone
from playwright.sync_api import expect

from apps.fleet.actions import clouds
from apps.fleet.actions.cloud_machines import keep_machines
from apps.fleet.queries.clouds import CloudAccountFact, cloud_account_named
from apps.pricing.actions.quotas import QuotaPlace, record_quotas
from apps.providers.cloud import CloudFault
from apps.providers.reading import AccountLimit, ObservedMachine
from tests import make
from tests.browser.conftest import Desk, fits_in_both_schemes, opened
from tests.browser.fleet import make_people

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
DENIED = (
    "AWS denies savingsplans:DescribeSavingsPlans: the role or user that asks needs this "
    "permission (User: arn:aws:sts::123456789012:assumed-role/runrate/i-0abc is not authorized)"
)


@pytest.fixture
def site(live_server) -> str:
    """The address of a console over an organisation and Petra, who manages it."""
    cache.clear()
    make.make_organisation()
    make_people("Petra")
    return live_server.url


def account() -> CloudAccountFact:
    """One of AWS of which everything is read; of each kind of state one."""
    new = clouds.NewCloudAccount("main", "aws", "123456789012", ("us-east-1", "us-west-2"))
    account_id = clouds.add_cloud_account(account=new, at=make.NOON)
    at = timezone.now()
    for what in ("spot_prices", "quotas", "machines"):
        turn = clouds.begin_sync(account_id=account_id, what=what, at=at)
        clouds.keep_page(turn=turn, cursor={}, counts={what.split("_")[-1]: 12}, at=at)
        clouds.finish_sync(turn=turn, at=at)
    turn = clouds.begin_sync(account_id=account_id, what="savings_plans", at=at)
    clouds.fail_sync(turn=turn, error=DENIED, fault=CloudFault.DENIED, at=at)
    limit = AccountLimit(
        "L-417A185B", "Running On-Demand P instances", Decimal(384), "vCPUs", Decimal(384)
    )
    record_quotas(place=QuotaPlace("aws", "123456789012", "us-east-1"), quotas=[limit], at=at)
    machine = ObservedMachine(
        external_id="i-0a1b2c3d4e5f6a7b8",
        name="left-over-trainer",
        names=("left-over-trainer",),
        region="us-east-1",
        zone="us-east-1a",
        instance_type="p5.48xlarge",
        purchase_option="on_demand",
        cpus=192,
        launched_at=at - timedelta(days=9),
    )
    keep_machines(account_id=account_id, machines=[machine], at=at)
    make.make_node("gone-in-the-cloud", at=at - timedelta(days=2))
    return cloud_account_named("main")


def test_an_account_is_added_after_a_look_and_then_waits_for_the_worker(page, site):
    opened(page, f"{site}/clouds", "petra")
    expect(page.get_by_role("heading", level=1)).to_have_text("No cloud is read yet.")
    page.get_by_role("link", name="Add an account").first.click()
    page.get_by_label("Name").fill("main")
    page.get_by_label("Account").fill("123456789012")
    page.get_by_label("Regions").fill("us-east-1")
    page.get_by_label("What to read").fill("quotas machines")
    page.get_by_role("button", name="See what will change").click()
    expect(page.locator("#effects")).to_contain_text("needs servicequotas:ListServiceQuotas")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("status").first).to_contain_text("main is added")
    expect(page.get_by_role("region", name="What is read of main")).to_contain_text("not read yet")


def test_what_is_wanted_at_once_is_said_until_it_was_read(page, site):
    held = account()
    opened(page, f"{site}/clouds", "petra")
    page.get_by_role("button", name="Read now").click()
    reading = page.get_by_role("region", name="What is read of main")
    expect(reading).to_contain_text("about to be read")
    for what in ("spot_prices", "quotas", "machines", "savings_plans"):
        turn = clouds.begin_sync(account_id=held.id, what=what, at=timezone.now())
        clouds.finish_sync(turn=turn, at=timezone.now())
    expect(reading).not_to_contain_text("about to be read")


def test_nothing_of_clouds_scrolls_sideways_on_a_phone(desk: Desk, site):
    held = account()
    page = opened(desk.page(390), f"{site}/clouds", "petra")
    for address in ("/clouds", "/clouds/add", f"/clouds/{held.id}/change"):
        page.goto(f"{site}{address}")
        fits_in_both_schemes(page)
