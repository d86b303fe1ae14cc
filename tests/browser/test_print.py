"""On paper: no navigation, black on white in either theme, links that read, tables that are not cut."""

import re
from itertools import product
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk, sign_in_with
from tests.scope.world import World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
PAPER_PX = 700
"""An A4 page between its margins."""
CLOSED = "/months/2020-03"
SCREEN_ONLY = (".nav", ".bar", ".skip")
WIDER = """() => [...document.querySelectorAll("main table, main .card, main .figures")]
    .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
    .map(each => each.closest("section")?.id ?? each.className)"""
INK = """() => [document.body, ...document.querySelectorAll("main a, main h1, main td")]
    .map(each => getComputedStyle(each).color)"""
GROUND = """() => [document.documentElement, document.body, ...document.querySelectorAll(".card")]
    .map(each => getComputedStyle(each).backgroundColor)"""
WIDTH = "each => each.getBoundingClientRect().width"
NOTED = """<style>{sheet}</style><ul class="messages"><li>done</li></ul>
<ul class="messages notes"><li>72 h have no price</li></ul>
<div class="actions">Change</div><p class="tabs">Others</p>"""
WHITE = {"rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"}


@pytest.fixture(scope="module")
def world(committed: None) -> World:
    return make_world()


@pytest.fixture
def paper(live_server, world: World, desk: Desk) -> tuple[Page, list[str]]:
    """A page that prints from the dark theme, and the addresses of what people print."""
    page = desk.page(PAPER_PX, color_scheme="dark")
    sign_in_with(page, live_server.url, world.askers["petra"].cookie)
    page.emulate_media(media="print", color_scheme="dark")
    return page, [f"{live_server.url}{path}" for path in printed(world)]


def printed(world: World) -> list[str]:
    ids = world.planted
    return [
        "/",
        "/costs",
        f"/costs/teams/{ids['team_id']}",
        f"/costs/jobs/{ids['job_id']}",
        f"/costs/lines/{ids['month']}/{ids['line_id']}",
        "/prices",
        "/commitments",
        f"/owned/{ids['owned_plan_id']}",
        "/ownership",
        "/runs",
        f"/runs/{ids['run_id']}",
        f"/workloads/{ids['workload_id']}/runs",
        "/services",
        "/api-spend",
        f"/services/{ids['service_id']}",
        "/team-work",
        f"/findings/{ids['finding_id']}",
        f"/weekly-reviews/{ids['week']}",
        "/recommendations",
        "/months",
        f"/months/{ids['month']}",
        CLOSED,
        f"/closes/{ids['close_id']}/teams/{ids['team_id']}",
    ]


def test_a_page_prints_without_navigation_and_nothing_is_cut(paper) -> None:
    page, addresses = paper
    cut = {}
    for address in addresses:
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        for part in SCREEN_ONLY:
            expect(page.locator(part).first).to_be_hidden()
        cut[address] = page.evaluate(WIDER)
    assert {address: parts for address, parts in cut.items() if parts} == {}


def test_the_dark_theme_prints_dark_on_white(paper) -> None:
    page, addresses = paper
    for address, theme in product(addresses[:5], ("system", "dark")):
        page.goto(address)
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        assert set(page.evaluate(GROUND)) <= WHITE
        assert [ink for ink in page.evaluate(INK) if brightness(ink) > 120] == []


def test_links_are_underlined_and_a_header_stands_on_every_sheet(paper) -> None:
    page, addresses = paper
    page.goto(addresses[4])
    link = page.locator("main .details a").first
    assert "underline" in link.evaluate("each => getComputedStyle(each).textDecorationLine")
    head = page.locator("main thead").first.evaluate("each => getComputedStyle(each).display")
    assert head == "table-header-group"


def test_the_digest_of_a_closed_month_is_printed_whole(paper) -> None:
    page, addresses = paper
    page.goto(next(each for each in addresses if each.endswith(CLOSED)))
    digest = page.locator("main .digest").first
    assert digest.evaluate("each => each.scrollWidth <= each.clientWidth + 1")
    expect(digest).to_have_text("0" * 64)


def test_what_a_page_warns_of_is_printed_and_where_it_leads_to_is_not(paper) -> None:
    page, _ = paper
    page.set_content(NOTED.format(sheet=_sheets()))
    expect(page.locator(".notes")).to_be_visible()
    for part in (".messages:not(.notes)", ".actions", ".tabs"):
        expect(page.locator(part)).to_be_hidden()


def test_a_chart_is_drawn_as_wide_as_the_paper_and_afterwards_as_the_screen(
    live_server, world: World, desk: Desk
) -> None:
    page = desk.page(1280)
    sign_in_with(page, live_server.url, world.askers["petra"].cookie)
    page.goto(f"{live_server.url}/costs")
    drawing = page.locator(".chart .main-svg").first
    expect(drawing).to_be_visible()
    wide = drawing.evaluate(WIDTH)

    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed_wide = drawing.evaluate(WIDTH)
    page.evaluate("dispatchEvent(new Event('afterprint'))")

    assert wide > PAPER_PX > printed_wide > PAPER_PX / 2
    assert drawing.evaluate(WIDTH) == wide


def test_a_line_with_everything_behind_it_is_a_document_of_few_sheets(paper) -> None:
    page, addresses = paper
    page.goto(addresses[4])
    document = page.pdf(format="A4")
    assert document.startswith(b"%PDF-")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", document)) <= 3


def _sheets() -> str:
    styles = Path(settings.STATICFILES_DIRS[0]) / "css"
    return "".join((styles / name).read_text() for name in ("console.css", "fleet.css"))


def brightness(colour: str) -> float:
    """Of `rgb(…)`, from 0 for black to 255."""
    red, green, blue = (float(part) for part in re.findall(r"[\d.]+", colour)[:3])
    return 0.299 * red + 0.587 * green + 0.114 * blue
