"""Nodes and prices as people meet them: by mouse, without script, on a phone."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from apps.fleet.queries import pools
from apps.pricing.actions import EnteredRate, propose_rate
from apps.pricing.queries.listing import rates_in_force
from tests.browser.conftest import Desk, fits_in_both_schemes, opened
from tests.browser.fleet import make_fleet, make_people

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.fixture
def site(live_server) -> str:
    """The address of a console over the small fleet; both its nodes have ended."""
    cache.clear()
    make_fleet()
    make_people("Petra")
    return live_server.url


def test_a_pool_without_a_price_gets_one_after_a_look_at_what_moves(page, site):
    opened(page, f"{site}/prices", "petra")
    expect(page.get_by_role("heading", level=1)).to_contain_text("16.0 GPU-hours")
    page.locator("#unpriced").get_by_role("link", name="Set its price").click()
    page.get_by_label(re.compile("^Amount as quoted")).fill("10")
    page.get_by_role("button", name="See what will change").click()
    expect(page.locator("#effects")).to_contain_text("(+$20.00)")
    page.get_by_role("button", name="Enter this price").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "$10.00 per node and hour for pool lab"
    )
    expect(page.get_by_role("status")).to_contain_text("The price is entered")


def test_from_the_list_to_a_node_to_a_gpu_without_script(desk: Desk, site):
    page = opened(desk.page(java_script_enabled=False), f"{site}/fleet", "petra")
    page.get_by_label("Nodes").select_option("ended")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name="gpu-01").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("gpu-01 has ended")
    page.locator("#devices").get_by_role("link", name="GPU 0", exact=True).click()
    expect(page.locator("#hours")).to_contain_text("The last 48 hours")


def test_nothing_scrolls_sideways_on_a_phone(desk: Desk, site):
    page = opened(desk.page(390), f"{site}/fleet?show=ended", "petra")
    node = page.get_by_role("link", name="gpu-01").get_attribute("href")
    for address in ("/fleet?show=ended", node, "/prices", "/prices/new"):
        page.goto(f"{site}{address}")
        fits_in_both_schemes(page)


def halved() -> int:
    """Half the price of the pool h100 since a month ago, entered by a machine: it waits."""
    held = rates_in_force(datetime.now(UTC))[0]
    now = datetime.now(UTC)
    rate = EnteredRate(
        kind="list",
        amount=held["amount"] / 2,
        currency="USD",
        starts_at=now - timedelta(days=30),
        purchase_option="on_demand",
        pool_id=next(pool.id for pool in pools().values() if pool.name == "h100"),
    )
    return propose_rate(rate=rate, by=None, at=now).id


def test_finance_looks_at_a_price_that_waits_accepts_it_and_sees_how_it_moved(page, site):
    make_people("Finn")
    halved()
    opened(page, f"{site}/prices", "finn")
    expect(page.get_by_role("heading", level=1)).to_contain_text("1 price waits for a decision.")
    page.locator("#waiting").get_by_role("link", name="Decide").click()
    expect(page.locator("#effects")).to_contain_text("(−$98.32)")
    page.get_by_role("button", name="Accept this price").click()
    expect(page.get_by_role("status")).to_contain_text("is accepted")
    expect(page.locator("#moved")).to_contain_text("Pool h100 fell 50 % on")
    expect(page.locator("#moved .chart path.js-line")).to_have_count(2)


def test_a_price_that_waits_fits_on_a_phone_and_can_be_refused_there(desk: Desk, site):
    make_people("Finn")
    rate_id = halved()
    page = opened(desk.page(390), f"{site}/prices", "finn")
    for address in ("/prices", f"/prices/{rate_id}", f"/prices/{rate_id}/decide"):
        page.goto(f"{site}{address}")
        fits_in_both_schemes(page)
    page.get_by_label("Because").fill("the offer is over")
    page.get_by_role("button", name="See what rejecting it leaves").click()
    fits_in_both_schemes(page)
    page.get_by_role("button", name="Reject this price").click()
    expect(page.locator(".facts")).to_contain_text("refused: the offer is over")
