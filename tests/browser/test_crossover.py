"""A kept scenario as people meet it: sliders that answer while they are moved, and fit a phone."""

import re

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from apps.planning import actions
from tests import make
from tests.apps.planning.crossover_scene import DAY_AFTER, STATED
from tests.browser.conftest import Desk, fits_in_both_schemes, opened
from tests.browser.fleet import make_people

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.fixture
def stated() -> int:
    """A scenario that was run."""
    cache.clear()
    make.make_organisation()
    make_people("Finn")
    entry = actions.ScenarioEntry(STATED)
    kept = actions.keep_scenario(entry=entry, owner_id=None, at=DAY_AFTER)
    actions.run_scenario(scenario_id=kept, at=DAY_AFTER)
    return kept


def test_a_slider_answers_while_it_is_moved_and_keeps_the_focus(
    live_server, desk: Desk, stated: int
) -> None:
    page = opened(desk.page(), f"{live_server.url}/crossover/{stated}")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("serve it yourself")
    expect(page.locator("#picture .plot-container")).to_be_visible()
    expect(page.locator("#tornado .plot-container")).to_be_visible()
    slider = page.get_by_label("Price of a GPU-hour, of every pool")
    slider.focus()
    page.keyboard.press("End")
    expect(heading).to_contain_text("buy it from the API, with what you moved")
    expect(page.locator("#try-gpu_hour-said")).to_have_text("$10.0")
    expect(page.locator("#picture .plot-container")).to_be_visible()
    expect(page.locator("#tornado h2")).to_contain_text("more at all of its range")
    expect(page.locator("#tornado .plot-container")).to_be_visible()
    expect(page).to_have_url(re.compile("gpu_hour=10"))
    expect(slider).to_be_focused()
    expect(page.locator("#levers a[download]")).to_have_attribute("href", re.compile("gpu_hour=10"))
    page.reload()
    expect(heading).to_contain_text("with what you moved")


def test_without_javascript_a_button_answers_and_it_fits_a_phone(
    live_server, desk: Desk, stated: int
) -> None:
    page = opened(desk.page(390), f"{live_server.url}/crossover/{stated}")
    fits_in_both_schemes(page)
    plain = desk.page(java_script_enabled=False)
    page = opened(plain, f"{live_server.url}/crossover/{stated}?gpu_hour=9.5")
    expect(page.get_by_role("heading", level=1)).to_contain_text("with what you moved")
    page.get_by_role("button", name="Answer with these").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("with what you moved")
