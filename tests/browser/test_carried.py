"""A period of one's own and a team, chosen once, from page to page and back: address and figures keep."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from playwright.sync_api import Page, expect

from apps.ledger.actions.partitions import ensure_month
from tests import make
from tests.apps.unit_economics import service_scene as services
from tests.apps.unit_economics.service_scene import DOLLAR
from tests.browser.conftest import opened
from tests.browser.fleet import make_people

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
DAY = timedelta(days=1)
TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
FIRST, LAST = (TODAY - 9 * DAY).date(), (TODAY - 5 * DAY).date()


@pytest.fixture
def two_teams() -> None:
    """Twelve days of a service of each of two teams: one costs $1.00 a day, the other $3.00."""
    cache.clear()
    make.make_organisation()
    make_people("Finn")
    pool = make.make_pool()
    for name, dollars in (("Chat", 1), ("Search", 3)):
        team = make.make_team(name)
        one = services.make_service(team, f"{name.lower()} service")
        for back in range(12, 0, -1):
            day = TODAY - back * DAY
            ensure_month(month=day.date().replace(day=1))
            services.make_line(pool, team, one, hour=day, kind="service", micros=dollars * DOLLAR)
    for back in range(12, 0, -1):
        services.roll_up(pool, day=TODAY - back * DAY)


def shows_what_was_chosen(page: Page) -> None:
    """The address says the five days and the team, and so does the bar."""
    expect(page).to_have_url(re.compile(rf"window={FIRST}(%2F|/){LAST + DAY}"))
    expect(page).to_have_url(re.compile(r"team=Chat"))
    expect(page.get_by_role("combobox", name="Team")).to_have_value("Chat")
    expect(page.get_by_label("From")).to_have_value(FIRST.isoformat())
    expect(page.get_by_label("to", exact=True)).to_have_value(LAST.isoformat())


@pytest.mark.usefixtures("two_teams")
def test_what_was_chosen_on_the_overview_holds_on_every_page(live_server, page: Page) -> None:
    opened(page, f"{live_server.url}/")
    heading = page.get_by_role("heading", level=1)
    page.get_by_role("combobox", name="Period").select_option("own")
    page.get_by_label("From").fill(FIRST.isoformat())
    expect(page).to_have_url(re.compile(rf"window={FIRST}"))
    page.get_by_label("to", exact=True).fill(LAST.isoformat())
    expect(page).to_have_url(re.compile(rf"window={FIRST}(%2F|/){LAST + DAY}"))
    page.get_by_role("combobox", name="Team").select_option("Chat")
    expect(heading).to_contain_text("$5.00")
    shows_what_was_chosen(page)

    nav = page.get_by_role("navigation", name="Main")
    for entry, said in (("Cost explorer", "$5.00"), ("Runs", "run"), ("Services", "$5.00")):
        nav.get_by_role("link", name=entry, exact=True).click()
        expect(page).to_have_url(re.compile(r"/(costs|runs|services)\?"))
        expect(heading).to_contain_text(said)
        shows_what_was_chosen(page)

    nav.get_by_role("link", name="Bills", exact=True).click()
    expect(page.get_by_text("Kept for other pages, not used here")).to_contain_text("team Chat")
    nav.get_by_role("link", name="Overview", exact=True).click()
    expect(heading).to_contain_text("$5.00")
    shows_what_was_chosen(page)
