"""The first day in a browser: from an empty installation, as `make run` starts it, to a first dollar.

With FIRST_DAY_PICTURES the steps of the small file that docs/guides/first-day.md shows are pictured there.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Desk
from tests.browser.fleet import PASSWORD
from tests.databases import wait_until
from tests.journeys.test_processes import Installation

pytestmark = [pytest.mark.browser, pytest.mark.proof, pytest.mark.xdist_group("first-day")]
SMALL = Path(__file__).resolve().parents[1] / "journeys" / "accounting.psv"
PUBLIC = Path(__file__).resolve().parents[3] / "shared" / "data" / "slurm" / "phillips.sacct.gz"
MOST_STEPS = 12
PICTURED = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "first-day.md").read_text()


class Walk:
    """Counts the steps of a person, and pictures each where a folder is named."""

    def __init__(self, page: Page, pictures: str) -> None:
        self.page, self.pictures, self.steps = page, pictures, 0

    def step(self, name: str) -> None:
        """What stands there now is what this step shows."""
        self.steps += 1
        picture = f"first-day-{self.steps:02}-{name}.png"
        if self.pictures and picture in PICTURED:
            self.page.screenshot(path=Path(self.pictures) / picture)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def follow(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def heading(self, words: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_contain_text(words)


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    running = Installation(tmp_path / "home")
    yield running
    running.stop()


@pytest.mark.parametrize(
    ("file", "account", "gpus", "dollars"),
    [
        # Two nodes of 8 GPUs for 3 and 4 March at 2 dollars a GPU-hour.
        (SMALL, "vision", "8", "$1,536"),
        # One node of 2 GPUs from 22 December 2016 to 1 January 2017.
        (PUBLIC, "chaff", "2", "$1,056"),
    ],
    ids=["small", "public"],
)
def test_nothing_becomes_a_dollar_without_a_shell(
    desk: Desk, installation, file, account, gpus, dollars
):
    if not file.exists():
        pytest.skip("public job data is not beside the checkout")
    page = desk.page(width=1000)
    walk = Walk(page, os.environ.get("FIRST_DAY_PICTURES", "") if file == SMALL else "")
    come_in(walk, installation)
    choose_organisation(walk)
    upload(walk, file)
    add_pool(walk, gpus)
    set_price(walk)
    choose_nodes(walk)
    own_jobs(walk, account)
    see_the_dollar(walk, dollars)
    assert walk.steps <= MOST_STEPS


def test_a_history_of_ones_own_is_imported_from_the_guide(
    desk: Desk, installation: Installation, tmp_path: Path
) -> None:
    file = tmp_path / "gpus-of-spring.csv"
    hours = [
        f"2026-03-{day:02}T{hour:02}:00;{40 + hour}" for day in range(2, 9) for hour in range(24)
    ]
    file.write_text("\n".join(["hour;gpus", *hours[:100], "2026-03-06T04:00;many", *hours[101:]]))
    page = desk.page(width=1000)
    walk = Walk(page, "")
    come_in(walk, installation)
    choose_organisation(walk)
    walk.follow("Import a series")
    page.get_by_label("File").set_input_files(file)
    walk.press("Send")
    page.get_by_label("It is the history of").select_option(label="GPU-hours of the organisation")
    page.get_by_label("A value is in").select_option(label="GPUs held at the moment")
    walk.press("Look again, read so")
    expect(page.locator("#finding")).to_contain_text("has 167 hours of GPU-hours", timeout=60_000)
    expect(page.locator("main")).to_contain_text("'many' is no number")
    walk.press("Import 167 hours")
    expect(page.locator("#finding")).to_contain_text("came from gpus-of-spring.csv; 1 row could")
    walk.follow("The first day, step by step")
    expect(page.locator("#step-history")).to_contain_text("1 series has an imported history.")


def come_in(walk: Walk, installation: Installation) -> None:
    """The address that `make run` printed, then a sign-in."""
    said = re.compile(r"http://\S+/invitation/first/\w+")
    address = wait_until(lambda: said.search(installation.home.with_suffix(".log").read_text()))
    wait_until(installation.answers)
    page = walk.page
    page.goto(address[0])
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("Password, eight letters or more").fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    walk.step("person")
    walk.press("Begin")
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    walk.press("Sign in")
    walk.heading("0 of the 7 steps")
    walk.step("guide")
    assert "manage.py" not in page.locator("main").inner_text()


def choose_organisation(walk: Walk) -> None:
    walk.follow("Choose them")
    walk.page.get_by_label("Name").fill("Example Labs")
    walk.press("See what is kept")
    walk.step("organisation")
    walk.press("Save this for good")
    walk.heading("1 of the 7 steps")


def upload(walk: Walk, file: Path) -> None:
    walk.follow("Import a file")
    walk.page.get_by_label("File").set_input_files(file)
    walk.press("Send")
    expect(walk.page.get_by_role("button", name="Import the whole file")).to_be_visible()
    walk.step("file")
    walk.press("Import the whole file")
    expect(walk.page.locator("#finding")).to_contain_text("came from", timeout=180_000)
    walk.step("imported")


def add_pool(walk: Walk, gpus: str) -> None:
    walk.page.locator("main").get_by_role("link", name="Setup", exact=True).first.click()
    walk.follow("Add a pool")
    walk.page.get_by_label("Name of the pool").fill("main")
    expect(walk.page.get_by_label("How many of them a node has")).to_have_value(gpus)
    walk.press("See what will change")
    walk.step("pool")
    walk.press("Add this pool")


def set_price(walk: Walk) -> None:
    walk.follow("The first day, step by step")
    walk.follow("Set the price of main")
    walk.page.get_by_label("Amount as quoted").fill("2")
    walk.page.get_by_label("It is the price of").select_option("gpu")
    walk.press("See what will change")
    walk.step("price")
    walk.press("Enter this price")
    expect(walk.page.locator("#step-price")).to_contain_text("Every pool has a price now.")


def choose_nodes(walk: Walk) -> None:
    walk.follow("Choose among those")
    expect(walk.page.locator("input[name=node]:checked")).to_have_count(0)
    question = walk.page.locator("#unknown-nodes")
    question.get_by_role("link", name="Tick all shown").click()
    question.get_by_role("button", name="See what they cost").click()
    expect(walk.page.locator("#effects")).to_contain_text("a day")
    walk.step("nodes")
    walk.press("They are in this pool")
    expect(walk.page.locator("#unknown-nodes")).to_have_count(0)


def own_jobs(walk: Walk, account: str) -> None:
    page = walk.page
    walk.follow("The first day, step by step")
    walk.follow("Teams and cost centres")
    page.get_by_label("Name", exact=True).fill("Research")
    page.get_by_label("Cost centre").fill("CC-1100")
    walk.press("Add the team")
    walk.step("team")
    walk.follow("The first day, step by step")
    asked = page.locator("#step-owner p", has_text=f"{account}: ")
    asked.get_by_role("link", name="Whose?").click()
    expect(page.get_by_label("Account", exact=True)).to_have_value(account)
    page.get_by_label("Belongs to").select_option(label="Research, no workload")
    walk.press("Show what would move")
    walk.step("rule")
    walk.press("Save this rule")
    walk.heading("The first day is done")


def see_the_dollar(walk: Walk, dollars: str) -> None:
    """Settled in the background: the page is looked at until the whole amount is there."""
    page = walk.page
    walk.follow("Overview")
    walk.follow("Show everything since")

    def is_there() -> bool:
        page.reload()
        said = page.locator("main").inner_text().replace("\N{NO-BREAK SPACE}", " ")
        return dollars in said and "Research" in said

    wait_until(is_there)
    walk.step("dollar")
