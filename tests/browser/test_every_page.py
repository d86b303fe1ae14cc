"""Every page that opens, held against axe: wide and narrow, light and dark, by three people."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client
from playwright.sync_api import Page

from tests import make
from tests.browser.conftest import Desk
from tests.scope.addresses import every_address
from tests.scope.world import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
GRAVE = {"serious", "critical"}
NOT_THERE = ("/costs/teams/987654321", "/no-such-page")
EMPTY = (
    *("/", "/costs", "/fleet", "/prices", "/clouds", "/commitments", "/ownership", "/setup"),
    *(
        "/owned",
        "/people",
        "/runs",
        "/runs/compare",
        "/services",
        "/api-spend",
        "/team-work",
        "/findings",
    ),
)
RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations.map(
    each => [each.impact, each.id, each.nodes.slice(0, 3).map(node => node.target.join(" "))])"""


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        ("petra", 1280, "light"),
        pytest.param("finn", 390, "dark", marks=pytest.mark.proof),
        pytest.param("petra", 390, "dark", marks=pytest.mark.proof),
        pytest.param("finn", 1280, "dark", marks=pytest.mark.proof),
        pytest.param("ada", 390, "light", marks=pytest.mark.proof),
    ],
)
def test_axe_finds_nothing_serious_on_any_page(
    live_server: Any, desk: Desk, name: str, width: int, scheme: str
) -> None:
    cache.clear()
    world = make_world()
    # The policy would not let axe in; what the pages themselves load is tried elsewhere.
    page = desk.page(width, bypass_csp=True, color_scheme=scheme, reduced_motion="reduce")

    desk.expected += ["404", "403"]
    found = {"/sign-in": grave(page, f"{live_server.url}/sign-in")}
    signed_in(page, live_server.url, world, name)
    found |= {path: grave(page, f"{live_server.url}{path}") for path in pages_of(world, name)}
    found |= {path: grave(page, f"{live_server.url}{path}") for path in NOT_THERE}

    assert {path: faults for path, faults in found.items() if faults} == {}
    assert len(found) > 20


def test_axe_finds_nothing_serious_where_there_is_nothing_yet(live_server: Any, desk: Desk) -> None:
    cache.clear()
    make.make_organisation()
    make.make_person("petra@example.org", name="Petra", role="platform")
    client = Client()
    client.force_login(get_user_model().objects.get(email="petra@example.org"))
    page = desk.page(bypass_csp=True, reduced_motion="reduce")
    cookie = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])

    found = {path: grave(page, f"{live_server.url}{path}") for path in EMPTY}

    assert {path: faults for path, faults in found.items() if faults} == {}


def pages_of(world: World, name: str) -> Iterator[str]:
    """The addresses that answer this person with a page."""
    client = world.askers[name].client()
    for address in every_address():
        path = address.filled(world.planted)
        answer = client.get(path)
        kind = answer.headers.get("Content-Type", "")
        is_page = answer.status_code == 200 and kind.startswith("text/html")
        # A part of a page is looked at where it stands.
        if is_page and b"<html" in answer.content:
            yield path


def signed_in(page: Page, url: str, world: World, name: str) -> None:
    """The browser is theirs from here on."""
    session = {"name": "sessionid", "value": world.askers[name].cookie, "url": url}
    page.context.add_cookies([session])


def grave(page: Page, address: str) -> list[tuple[str, str, list[str]]]:
    """What axe holds against a page: how bad, which rule, and the first elements."""
    page.goto(address)
    page.evaluate(AXE)
    return [tuple(fault) for fault in page.evaluate(RUN) if fault[0] in GRAVE]
