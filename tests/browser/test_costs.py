"""What a team spent on a workload, and how much of it worked: three clicks from the Overview."""

import pytest
from playwright.sync_api import expect

from apps.accounts.models import Team
from tests import make
from tests.browser.conftest import Desk, fits, opened
from tests.browser.spending import make_spending

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.fixture(scope="module")
def _world(committed) -> None:
    """Last month's spending; Finn is of finance, Ada leads."""
    spending = make_spending()
    make.make_person("finn@example.org", name="Finn", role="finance")
    ada = make.make_person("ada@example.org", name="Ada", role="lead")
    Team.objects.filter(id=spending.research).update(owner_id=ada)


@pytest.fixture
def site(live_server, _world) -> str:
    """The address of a console."""
    return live_server.url


@pytest.mark.parametrize("name", ["finn", "ada"])
def test_what_a_team_spent_on_a_workload_is_two_clicks_and_a_choice_away(page, site, name):
    opened(page, site, name)
    page.get_by_role("combobox", name="Period").select_option("lastmonth")
    page.get_by_role("link", name="Research").first.click()
    page.get_by_role("link", name="Pretraining").first.click()
    title = page.get_by_role("heading", level=1)
    expect(title).to_contain_text("Pretraining cost $98.32 in")
    expect(title).to_contain_text("50 % of it was active.")


def test_a_job_leads_to_the_minutes_behind_one_number(page, site):
    opened(page, f"{site}/costs?window=lastmonth", "finn")
    for name in ("Research", "Pretraining", "4711"):
        page.get_by_role("link", name=name, exact=True).first.click()
    page.get_by_role("region", name="Lines").get_by_role("link", name="$49.16").last.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("4.00 GPU-hours active, $49.16")
    expect(page.get_by_role("region", name="The hour, minute by minute")).to_contain_text(
        "active 60 of 60"
    )
    expect(page.get_by_role("region", name="Its rate")).to_contain_text("$98.32")


def test_every_level_shows_its_picture_and_sorts_from_the_keyboard(page, site):
    opened(page, f"{site}/costs?window=lastmonth", "finn")
    for name in ("Research", "Pretraining", "4711"):
        expect(page.locator(".chart .plot-container")).to_be_visible()
        expect(page.get_by_role("img", name="Highest day:")).to_be_visible()
        page.get_by_role("link", name=name, exact=True).first.click()
    lines = page.get_by_role("region", name="Lines")
    expect(lines.locator("th[aria-sort=descending]")).to_contain_text("Hour from")
    lines.get_by_role("link", name="State").focus()
    page.keyboard.press("Enter")
    expect(lines.locator("th[aria-sort=ascending]")).to_contain_text("State")
    expect(lines.locator("tbody tr").first).to_contain_text("Active")


def test_without_a_script_the_days_stand_where_the_picture_would(desk: Desk, site):
    page = opened(desk.page(java_script_enabled=False), f"{site}/costs?window=lastmonth", "ada")
    expect(page.get_by_role("region", name="What each day cost, as a table")).to_be_visible()
    by_team = page.get_by_role("region", name="By team")
    by_team.get_by_role("link", name="GPU-hours").click()
    expect(by_team.locator("th[aria-sort=descending]")).to_contain_text("GPU-hours")


def test_on_a_phone_tables_scroll_inside_their_card(desk: Desk, site):
    page = opened(desk.page(width=390), f"{site}/costs?window=lastmonth", "finn")
    for name in ("Research", "Pretraining", "4711"):
        fits(page)
        page.get_by_role("link", name=name, exact=True).first.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    fits(page)
