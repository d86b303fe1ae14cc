"""A saved view: kept beside the filters of a page, and opened from the menu."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import opened
from tests.browser.fleet import make_fleet, make_people

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.fixture(scope="module")
def _fleet(committed: None) -> None:
    make_fleet()
    make_people("Finn")


@pytest.mark.usefixtures("_fleet")
def test_a_view_is_saved_beside_the_filters_and_opened_from_the_menu(
    live_server: Any, page: Page
) -> None:
    opened(page, live_server.url, "finn")
    page.get_by_role("combobox", name="Period").select_option("lastmonth")
    expect(page.locator("#keep-view")).to_have_attribute("href", re.compile("window%3Dlastmonth"))
    page.get_by_role("link", name="Save view").click()
    page.get_by_label("Name").fill("The month before")
    page.get_by_role("button", name="Save this view").click()
    expect(page).to_have_url(re.compile(r"/\?window=lastmonth"))

    page.goto(f"{live_server.url}/costs")
    page.locator(".bar-end details.menu summary").click()
    page.locator("#menu-views").get_by_role("link", name="The month before").click()
    expect(page).to_have_url(re.compile(r"/\?window=lastmonth"))
