"""Every page that opens, held against axe and the screen: wide and narrow, light and dark."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from playwright.sync_api import Page

from tests import make
from tests.browser.conftest import Desk, opened, sign_in_with
from tests.browser.looks import LOOKING, SIGHTS, Fault, faults_of
from tests.scope.addresses import every_address
from tests.scope.world import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
NOT_THERE = ("/costs/teams/987654321", "/no-such-page")
MAIN = (
    "/recommendations?kind=moves", "/recommendations/fleet-looks", "/", "/costs", "/fleet", "/prices", "/clouds", "/commitments", "/ownership", "/setup", "/owned",
    "/people", "/people/retention", "/runs", "/runs/compare", "/services", "/api-spend", "/team-work", "/findings",
    "/alerts", "/recommendations", "/weekly-reviews", "/setup/first-day", "/placement", "/placement/quotes", "/placement/admissions",
    "/placement/spot", "/plan/methods", "/views", "/annotations", "/glossary",
)  # fmt: skip
OTHERS_SIGHTS = (("finn", 1280, "dark"), ("ada", 390, "light"))


def test_axe_finds_nothing_on_the_main_pages_of_a_small_screen(
    live_server: Any, desk: Desk
) -> None:
    cache.clear()
    world = make_world()
    page = desk.page(390, color_scheme="dark", **LOOKING)
    sign_in_with(page, live_server.url, world.askers["petra"].cookie)

    found = faults_on(page, live_server.url, MAIN)

    assert {path: faults for path, faults in found.items() if faults} == {}


@pytest.mark.proof
@pytest.mark.parametrize(
    ("name", "width", "scheme"), [*(("petra", *sight) for sight in SIGHTS), *OTHERS_SIGHTS]
)
def test_axe_finds_nothing_on_any_page_and_all_of_it_fits(
    live_server: Any, desk: Desk, name: str, width: int, scheme: str
) -> None:
    cache.clear()
    world = make_world()
    page = desk.page(width, color_scheme=scheme, **LOOKING)

    desk.expected += ["404", "403"]
    found = faults_on(page, live_server.url, ["/sign-in"])
    sign_in_with(page, live_server.url, world.askers[name].cookie)
    found |= faults_on(page, live_server.url, [*pages_of(world, name), *NOT_THERE])

    assert {path: faults for path, faults in found.items() if faults} == {}
    assert len(found) > 20


@pytest.mark.proof
@pytest.mark.parametrize(("width", "scheme"), SIGHTS)
def test_axe_finds_nothing_where_there_is_nothing_yet(
    live_server: Any, desk: Desk, width: int, scheme: str
) -> None:
    cache.clear()
    make.make_organisation()
    make.make_person("petra@example.org", name="Petra", role="platform")
    page = opened(desk.page(width, color_scheme=scheme, **LOOKING), live_server.url, "petra")

    found = faults_on(page, live_server.url, MAIN)

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


def faults_on(page: Page, url: str, paths: Iterable[str]) -> dict[str, list[Fault]]:
    """What is held against each of these pages, by its path."""
    found = {}
    for path in paths:
        page.goto(f"{url}{path}")
        found[path] = faults_of(page)
    return found
