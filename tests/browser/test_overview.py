"""The Overview as people meet it: signing in, filtering, by keyboard, on a phone, in the dark."""

import re

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk, fits, opened
from tests.browser.fleet import FINDING, PASSWORD, make_fleet, make_people

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.fixture(scope="module")
def _world(committed) -> None:
    """The small fleet."""
    make_fleet()
    make_people()


@pytest.fixture
def site(live_server, _world) -> str:
    """The address of a console."""
    return live_server.url


def sign_in(page: Page) -> None:
    """On the sign-in page, where the browser is."""
    page.get_by_label("Email").fill("finn@example.org")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_deep_link_survives_the_sign_in(page, site):
    page.goto(f"{site}/?window=yesterday&team=Research")
    sign_in(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Research cost $98.32 yesterday, and 50 % of it was waste."
    )
    expect(page).to_have_url(re.compile(r"\?window=yesterday&team=Research$"))


def test_the_finding_its_figures_its_chart_and_its_table_are_there(page, site):
    opened(page, site)
    expect(page.get_by_role("heading", level=1)).to_have_text(FINDING)
    expect(page).to_have_title(f"{FINDING} · Runrate")
    expect(page.get_by_role("region", name="Key figures")).to_contain_text("$197")
    expect(page.locator(".chart .plot-container")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("Highest day:"))).to_be_visible()
    expect(page.get_by_role("region", name="By team")).to_contain_text("$98.32")
    expect(page.locator("#not-known")).to_contain_text("16.0 GPU-hours of lab have no price")


def test_choosing_a_filter_changes_the_page_in_place(page, site):
    opened(page, site)
    page.evaluate("window.stillHere = true")
    page.get_by_role("combobox", name="Team").select_option("Research")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Research cost $98.32")
    expect(page).to_have_url(re.compile(r"[?&]team=Research"))
    expect(page.locator(".chart .plot-container")).to_be_visible()
    assert page.evaluate("window.stillHere")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(FINDING)


def test_sorting_a_column_moves_its_rows_and_nothing_else(page, site):
    opened(page, site)
    page.evaluate("window.stillHere = true")
    table = page.get_by_role("region", name="By team")
    table.get_by_role("link", name="Team", exact=True).click()
    expect(table.locator("th[aria-sort=ascending]")).to_have_text(re.compile("Team"))
    expect(table.locator("tbody th").first).to_contain_text("Platform")
    assert page.evaluate("window.stillHere")


def test_everything_works_without_a_script(desk: Desk, site):
    page = opened(desk.page(java_script_enabled=False), site)
    expect(page.get_by_role("heading", level=1)).to_have_text(FINDING)
    page.get_by_role("combobox", name="Team").select_option("Research")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Research cost $98.32")
    table = page.get_by_role("region", name="What each day cost, as a table")
    expect(table).to_be_visible()
    expect(table).to_contain_text("$98.32")


def test_the_keyboard_reaches_the_content_and_the_filters(page, site):
    opened(page, site)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("f")
    expect(page.get_by_role("combobox", name="Period")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def test_on_a_phone_tables_scroll_and_the_page_does_not(desk: Desk, site):
    page = opened(desk.page(width=390), site)
    expect(page.locator(".chart .plot-container")).to_be_visible()
    fits(page)
    team = page.get_by_role("combobox", name="Team")
    expect(team).not_to_be_visible()
    page.locator("summary", has_text="Filters").click()
    team.select_option("Research")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Research cost $98.32")
    expect(page.locator("#filters-chosen")).to_contain_text("Research")
    fits(page)


def test_the_dark_theme_is_the_systems_or_the_readers(desk: Desk, site):
    page = opened(desk.page(color_scheme="dark"), site)
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.locator("summary", has_text="Finn").click()
    page.get_by_role("button", name="Light").click()
    light = page.evaluate(ground)
    assert (
        sum(map(int, re.findall(r"\d+", dark)))
        < 150
        < 600
        < sum(map(int, re.findall(r"\d+", light)))
    )
    page.reload()
    assert page.evaluate(ground) == light


def test_signing_out_ends_it(page, site):
    opened(page, site)
    page.locator("summary", has_text="Finn").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.goto(site)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_when_the_session_has_ended_a_filter_leads_to_the_sign_in(page, site):
    opened(page, site)
    page.context.clear_cookies()
    page.get_by_role("combobox", name="Team").select_option("Research")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    sign_in(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Research cost $98.32")


def test_what_a_part_of_a_page_cannot_say_the_whole_page_says(desk: Desk, site):
    page = opened(desk.page(), site, "petra")
    get_user_model().objects.filter(email="petra@example.org").update(role="viewer")
    page.get_by_role("combobox", name="Team").select_option("Research")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing here is yours to see yet.")


def test_who_is_in_no_team_reads_who_can_put_them_in_one(desk: Desk, site):
    page = opened(desk.page(), site, "vera")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing here is yours to see yet.")
