"""The console by keyboard alone, with the focus in sight, and without a script."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import make
from tests.browser.conftest import Desk, opened
from tests.browser.fleet import PASSWORD
from tests.browser.spending import make_spending

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
FOCUSED = """() => {
    const style = getComputedStyle(document.activeElement)
    return {
        outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
        shadowed: style.boxShadow !== "none",
        words: (document.activeElement.innerText || document.activeElement.name || "").trim(),
    }
}"""
ENOUGH_TABS = 80


@pytest.fixture(scope="module")
def _world(committed: None) -> None:
    """Last month's spending, which Finn of finance reads."""
    make_spending()
    make.make_person("finn@example.org", name="Finn", role="finance", password=PASSWORD)


@pytest.fixture
def site(live_server: Any, _world: None) -> str:
    """The address of a console."""
    return str(live_server.url)


def tabbed_to(page: Page, words: str) -> None:
    """Tab until the focus is on what says so; at every stop the focus is in sight."""
    passed = []
    for _ in range(ENOUGH_TABS):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        passed.append(focused["words"])
        assert focused["outlined"] or focused["shadowed"], f"no focus seen on {passed[-1]!r}"
        if focused["words"] == words:
            return
    pytest.fail(f"{words!r} is not reached by Tab, only {passed}")


def signed_in_by_keyboard(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_label("Email").focus()
    page.keyboard.type("finn@example.org")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Sign in")


def test_a_deep_link_survives_sign_in_and_leads_to_a_job_by_keyboard(page: Page, site: str) -> None:
    signed_in_by_keyboard(page, f"{site}/costs?window=lastmonth")
    assert page.url == f"{site}/costs?window=lastmonth"
    for name in ("Research", "Pretraining", "4711"):
        tabbed_to(page, name)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "/costs/" in url)
        expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Pretraining")


def test_the_first_stop_skips_the_navigation(page: Page, site: str) -> None:
    opened(page, f"{site}/costs")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)["words"].startswith("Skip")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_without_a_script_one_signs_in_drills_down_and_takes_the_table_away(
    desk: Desk, site: str
) -> None:
    page = desk.page(java_script_enabled=False)
    signed_in_by_keyboard(page, f"{site}/costs?window=lastmonth")
    page.get_by_role("link", name="Research", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Research")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").first.click()
    assert "98.320000,USD" in Path(download.value.path()).read_text()
