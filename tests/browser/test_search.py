"""Search from the keyboard, in a browser: `/`, suggestions while typing, Escape, and without a script."""

import pytest
from playwright.sync_api import expect

from apps.accounts.models import User
from tests.browser.conftest import Desk, fits, opened_with
from tests.scope.world import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.fixture(scope="module")
def world(committed: None) -> World:
    return make_world()


def test_a_slash_a_few_letters_and_enter_lead_to_everything_found(
    live_server, desk: Desk, world: World
) -> None:
    page = opened_with(desk.page(), f"{live_server.url}/fleet", world.askers["petra"].cookie)
    page.keyboard.press("/")
    field = page.get_by_role("searchbox", name="Search")
    expect(field).to_be_focused()
    page.keyboard.type("windtunnel")
    suggested = page.get_by_role("region", name="Found so far")
    expect(suggested.get_by_role("link", name="windtunnel-larks")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(suggested.get_by_role("link", name="windtunnel-larks")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(suggested.get_by_role("link", name="Everything found")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(field).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(suggested.get_by_role("link", name="Everything found")).to_be_focused()
    page.keyboard.press("Escape")
    expect(suggested).to_be_hidden()
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("“windtunnel” finds 1 workload.")
    assert page.url.endswith("/search?q=windtunnel")


def test_the_search_page_finds_while_somebody_types_and_keeps_the_address(
    live_server, desk: Desk, world: World
) -> None:
    page = opened_with(desk.page(390), f"{live_server.url}/fleet", world.askers["petra"].cookie)
    page.keyboard.press("/")
    page.wait_for_url("**/search")
    page.get_by_role("searchbox", name="Search").type("8804")
    expect(page.get_by_role("link", name="880412771")).to_be_visible()
    page.wait_for_url("**/search?q=8804")
    fits(page)


def test_search_works_without_a_script(live_server, desk: Desk, world: World) -> None:
    page = opened_with(
        desk.page(java_script_enabled=False),
        f"{live_server.url}/fleet",
        world.askers["petra"].cookie,
    )
    field = page.get_by_role("searchbox", name="Search")
    field.fill("gpu-0")
    field.press("Enter")
    expect(page.get_by_role("link", name="gpu-01")).to_be_visible()


def test_a_question_mark_shows_the_shortcuts_and_escape_closes_them(
    live_server, desk: Desk, world: World
) -> None:
    page = opened_with(desk.page(), f"{live_server.url}/search", world.askers["petra"].cookie)
    page.locator("h1").click()
    page.keyboard.press("?")
    shortcuts = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(shortcuts).to_be_visible()
    page.keyboard.press("Escape")
    expect(shortcuts).to_be_hidden()


def test_a_long_name_is_cut_in_the_account_menu(live_server, desk: Desk, world: World) -> None:
    User.objects.filter(name="Finn").update(name="Finn " + "van der Maximiliane " * 4)
    for width in (1280, 390):
        page = opened_with(
            desk.page(width), f"{live_server.url}/fleet", world.askers["finn"].cookie
        )
        box = page.locator(".bar-end .menu > summary").bounding_box()
        assert box is not None
        assert box["height"] <= 36
        assert box["x"] + box["width"] <= width
