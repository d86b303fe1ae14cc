"""Setup as people meet it."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from apps.accounts.queries import token_of
from apps.fleet.actions import AgentHeartbeat, record_heartbeats
from apps.fleet.queries import agent_of_token
from tests import make
from tests.apps.ledger import scene
from tests.browser.conftest import Desk, fits, opened
from tests.browser.fleet import make_people

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.fixture
def site(live_server) -> str:
    """The address of a console that has a node with eight devices to confirm."""
    cache.clear()
    now = datetime.now(UTC)
    make.make_organisation()
    make_people("Petra")
    node_id = make.make_node("gpu-01", started_at=now - timedelta(hours=1), at=now)
    scene.make_gpus(node_id, seen_from=now - timedelta(hours=1))
    return live_server.url


@pytest.mark.parametrize("has_script", [True, False])
def test_devices_are_confirmed_by_a_form(desk: Desk, site, has_script):
    page = opened(desk.page(java_script_enabled=has_script), f"{site}/setup", "petra")
    question = page.locator("#unconfirmed-devices")
    expect(question).to_contain_text("8 × NVIDIA H100 80GB HBM3")
    question.locator("summary").click()
    expect(question.locator("code").first).to_be_visible()
    question.get_by_role("link", name="Confirm the devices of gpu-01").click()
    page.get_by_role("button", name="Confirm 8 devices").click()
    expect(page.get_by_role("status")).to_have_text("8 devices of gpu-01 confirmed.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing waits for an answer.")


def test_an_agents_first_report_is_noticed_without_a_click(desk: Desk, site):
    page = opened(desk.page(), f"{site}/setup/first-day", "petra")
    page.locator("#step-agent summary").click()
    page.get_by_role("button", name="Create the agent’s token").click()
    made = page.locator("#made")
    expect(made).to_contain_text("it is shown only now")
    made.get_by_role("button", name="Copy").first.click()
    expect(made.get_by_role("button").first).to_have_text(re.compile("Copied|Selected"))
    secret = made.locator("#new-token").inner_text()
    step = page.locator("#step-agent")
    expect(step).to_contain_text("Waiting")
    token = token_of(secret, datetime.now(UTC))
    agent = agent_of_token(token.id)
    record_heartbeats(agents=[AgentHeartbeat(agent.agent_id, "0.1", 0)], at=datetime.now(UTC))
    expect(step).to_contain_text("The agent was heard", timeout=10_000)
    expect(step).to_contain_text("Done")
    expect(made.locator("#new-token")).to_have_text(secret)


def test_setup_is_behind_the_account_menu_and_fits_a_phone(desk: Desk, site):
    page = opened(desk.page(width=390, color_scheme="dark"), site, "petra")
    page.locator("summary", has_text="Petra").click()
    page.get_by_role("link", name="Setup").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("1 question waits for an answer.")
    fits(page)


def test_before_the_first_node_the_page_teaches(page, live_server):
    cache.clear()
    make.make_organisation()
    make_people("Petra")
    opened(page, live_server.url, "petra")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing has cost anything yet.")
    page.get_by_role("link", name="Set Runrate up, step by step").click()
    expect(page).to_have_url(re.compile("/setup/first-day$"))
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "1 of the 7 steps to a first dollar are done."
    )
