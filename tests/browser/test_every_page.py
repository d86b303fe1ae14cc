"""Every page that opens, held against axe: wide and light, then narrow and dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.core.cache import cache
from playwright.sync_api import Page

from tests.browser.conftest import Desk
from tests.scope.addresses import every_address
from tests.scope.world import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db, pytest.mark.xdist_group("browser")]
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
GRAVE = {"serious", "critical"}
RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations.map(
    each => [each.impact, each.id, each.nodes.slice(0, 3).map(node => node.target.join(" "))])"""


@pytest.mark.parametrize(
    "width_and_scheme", [(1280, "light"), (390, "dark")], ids=["wide", "narrow"]
)
def test_axe_finds_nothing_serious_on_any_page(
    live_server: Any, desk: Desk, width_and_scheme: tuple[int, str]
) -> None:
    cache.clear()
    world = make_world()
    width, scheme = width_and_scheme
    # The policy would not let axe in; what the pages themselves load is tried elsewhere.
    page = desk.page(width, bypass_csp=True, color_scheme=scheme, reduced_motion="reduce")

    found = {"/sign-in": grave(page, f"{live_server.url}/sign-in")}
    signed_in(page, live_server.url, world)
    found |= {path: grave(page, f"{live_server.url}{path}") for path in pages_of(world)}

    assert {path: faults for path, faults in found.items() if faults} == {}
    assert len(found) > 20


def pages_of(world: World) -> Iterator[str]:
    """The addresses that answer the platform with a page."""
    client = world.askers["petra"].client()
    for address in every_address():
        path = address.filled(world.planted)
        answer = client.get(path)
        kind = answer.headers.get("Content-Type", "")
        is_page = answer.status_code == 200 and kind.startswith("text/html")
        # A part of a page is looked at where it stands.
        if is_page and b"<html" in answer.content:
            yield path


def signed_in(page: Page, url: str, world: World) -> None:
    """The browser is the platform's from here on."""
    session = {"name": "sessionid", "value": world.askers["petra"].cookie, "url": url}
    page.context.add_cookies([session])


def grave(page: Page, address: str) -> list[tuple[str, str, list[str]]]:
    """What axe holds against a page: how bad, which rule, and the first elements."""
    page.goto(address)
    page.evaluate(AXE)
    return [tuple(fault) for fault in page.evaluate(RUN) if fault[0] in GRAVE]
