"""The demo of all its weeks, served: it adds up, agents go on sending, and every page has something."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from playwright.sync_api import Page, expect

from bench.demo import sign_in as sign_in_by_http
from bench.page_content import content_of
from controlplane.demo.database import MANAGES, SIGN_IN
from tests.browser.conftest import Desk
from tests.browser.demo_pages import Walked, every_page, walk
from tests.browser.looks import LOOKING, SIGHTS
from tests.databases import wait_until
from tests.journeys.installations import manage
from tests.journeys.test_demo import last_line
from tests.journeys.test_processes import Installation

pytestmark = [pytest.mark.browser, pytest.mark.proof, pytest.mark.xdist_group("demo")]
FILLED_SECONDS = 3_600
"""Beside much other work; by itself a machine of two cores takes some nine minutes."""
IS_OVER = re.compile(r"All weeks are there|No more is filled in")
HAS_ALL_PAGES = re.compile(r"Every page has something|No more is filled in")
HOW_FAR = re.compile(r"\d+ of 13 weeks of this demo are there")
TOLD = """
import json
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT extract(epoch FROM now() - max(starts_at))::float8 FROM telemetry_window")
    (seconds,) = cursor.fetchone()
    cursor.execute("SELECT count(*) FROM ledger_charge WHERE corrects_id IS NOT NULL")
    print(json.dumps({"seconds": seconds, "corrections": cursor.fetchone()[0]}))
"""
OUTCOMES = """
import json
from apps.review.models import Recommendation, SavingMeasurement
done = Recommendation.objects.exclude(done_at=None).order_by("state")
newest = SavingMeasurement.objects.filter(recommendation__state="done").order_by("week").last()
print(json.dumps({"states": [row.state for row in done], "status": newest.status, "why": newest.why}))
"""
STAYS_BARE = {
    "/search": "nothing is asked for yet",
    "/clouds": "every machine of the cloud that was read is a node, and the other way round",
}
BY_A_BUTTON = {
    "accept-bill", "accept-rate", "ask-again", "ask-export", "call-off-bill", "cancel-export",
    "change-role", "close-month", "compare-runs", "confirm-devices", "confirm-node-devices",
    "discard-series-import", "start-series-import", "upload-series",
    "correct-month", "deactivate-person", "deliver-capacity-request", "discard-import",
    "exclude-nodes", "explorer",
    "first-agent", "first-invitation", "first-jobs-token", "invite-again", "invite-person",
    "make-join-token", "make-token", "name-nodes", "organisation", "place-in-teams",
    "read-bill-again", "read-cloud-account", "read-import", "read-series-import", "run-crossover", "refuse-rate", "reopen-month", "revoke-join-token",
    "search-suggested", "set-gpu-share", "set-price-approval", "start-import", "undo-bill", "upload-bill",
    "upload-jobs", "add-team", "add-workload", "downloads", "end-outage", "end-rate",
}  # fmt: skip
"""What a form on a page opens, or a link that only shows where there is something to do."""
SHOWN = (
    ("/months", "", r"(?s)closed\t.*closed\t"),
    ("/prices", "", r"1 price waits for a decision"),
    ("/prices", "", r"\$24\.016"),
    ("/commitments", "", r"(?s)Four g6\.12xlarge.*[-−]\d+ %.*Compute plan 2026.*\d\d %"),
    ("/owned", "", r"Lab, L40S"),
    ("/clouds", "", r"Northwind production"),
    ("/fleet/incidents", "", r"GPU fell off the bus"),
    ("/fleet/agents", "", r"\d of \d+ agents need attention"),
    ("/runs?window=90d", "vlm-pilot-4911", r"data wait \$"),
    ("/workloads/1/runs", "", r"\d\.\d+ × as fast"),
    ("/workloads/1/runs", "pretrain-7b-30031", r"Rank 11 on atlas-h100-02 holds every step up"),
    ("/services", "chat-serving", r"(?s)a second model reads every answer"),
    ("/services", "chat-serving", r"\d+ % left"),
    ("/services", "search-serving", r"spent, and \d+ % of it over"),
    ("/findings", "", r"chat-serving: the cost of 1,000 requests rose"),
    ("/crossover", "chat-serving or a hosted 8B model", r"Flipped .* to “buy it from the API”"),
    ("/plans", "", r"2 plans kept"),
    (
        "/forecasts",
        "GPU-hours of the organisation",
        r"Earlier forecasts against what came(?s:.*)\t\d{3}\t[\d.]+\t[\d.]+\t[\d.]+\t\d+ %",
    ),
    ("/capacity-requests", "", r"1 request waits for a decision, for 4 GPUs"),
    (
        "/capacity-requests",
        "4 GPUs in h100-on-demand for Vision (vlm-pilot)",
        r"A data-loader fix returns up to",
    ),
    ("/api-spend", "", r"(?s)Beside the vendors’ own reports.*openai"),
    ("/headroom/waiting?window=90d", "", r"(?s)\d of them for GPUs that were out.*\d redone"),
    ("/budgets", "Assistant", r"(?s)Approved requests, not delivered yet.*4 × l4-serving"),
    (
        "/placement/quotes",
        "",
        r"(?s)17 quoted jobs ended of 19 quotes.*On demand\t5\t\d\.\d+.*Spot\t4\t\d\.\d+",
    ),
)
"""What happened in the company: a page, a link on it (empty: none), and what it says."""


class FilledDemo(Installation):
    """A demo of all weeks, and what its pages showed when two of them were there."""

    early: dict[str, str]


def pages_without_content(running: Installation) -> dict[str, str]:
    """By address of the navigation: what a page says that has nothing, or not how far the demo is."""
    found = {}
    with httpx.Client(base_url=address_of(running), timeout=120) as person:
        for address in sign_in_by_http(person, running.log()):
            answer = person.get(address)
            shown = content_of(answer.text)
            if not shown.has_content or not HOW_FAR.search(answer.text):
                found[address] = f"{answer.status_code} {shown.finding}"
    return found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilledDemo]:
    """All weeks of it, served on."""
    running = FilledDemo(tmp_path_factory.mktemp("weeks") / "home", "demo")
    try:
        wait_until(
            lambda: running.process.poll() is not None or HAS_ALL_PAGES.search(running.log()),
            FILLED_SECONDS,
        )
        running.early = pages_without_content(running)
        wait_until(
            lambda: running.process.poll() is not None or IS_OVER.search(running.log()),
            FILLED_SECONDS,
        )
        assert "All weeks are there" in running.log(), running.log()[-3000:]
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


def test_every_page_of_the_navigation_has_content_when_two_weeks_are_there_and_says_so(
    filled: FilledDemo,
) -> None:
    assert filled.early == {}


def test_thirteen_weeks_add_up_months_are_closed_and_agents_go_on_sending(
    filled: Installation,
) -> None:
    proof = last_line(manage(filled.home, "audit_ledger", "--json"))
    assert (proof["residual_micros"], proof["missing"], proof["places"]) == (0, 0, [])
    assert len(proof["closed_months"]) >= 2

    told = last_line(manage(filled.home, "shell", "--no-imports", "-c", TOLD))
    assert told["seconds"] < 300
    assert told["corrections"]


def test_one_saving_is_verified_one_failed_and_one_cannot_be_told_yet(filled: Installation) -> None:
    found = last_line(manage(filled.home, "shell", "--no-imports", "-c", OUTCOMES))
    assert found["states"] == ["done", "failed", "verified"]
    assert found["status"] == "unknown"
    assert found["why"], "what it would take"


@pytest.mark.parametrize("weeks_ago", [2, 3, 4])
def test_a_review_made_again_now_is_the_one_of_its_moment(
    filled: Installation, weeks_ago: int
) -> None:
    monday = datetime.now(UTC).date() - timedelta(days=datetime.now(UTC).weekday())
    year, number, _ = (monday - timedelta(weeks=weeks_ago)).isocalendar()
    asked = ("weekly_review", "--week", f"{year}-W{number:02}", "--json")
    first = json.loads(manage(filled.home, *asked).stdout)
    again = json.loads(manage(filled.home, *asked, "--again", "made once more").stdout)
    assert again["edition"] == first["edition"] + 1
    of_its_making = {"made_at", "earlier"}
    moved = {
        name
        for name, value in first["content"].items()
        if name not in of_its_making and again["content"][name] != value
    }
    assert moved == set() or again["content"]["earlier"]["restated"], moved


@pytest.mark.parametrize("service", ["chat-serving", "search-serving"])
def test_the_model_of_a_service_costs_what_the_ledger_says(
    filled: Installation, service: str
) -> None:
    """Of any window; and of two weeks before a second model came the first explains the other."""
    today = datetime.now(UTC).date()
    alike = f"{today - timedelta(days=32)}/{today - timedelta(days=18)}"
    found = {
        window: last_line(
            manage(filled.home, "crossover", "--service", service, "--window", window, "--json")
        )["measured"]
        for window in ("7d", "14d", "28d", "90d", alike)
    }
    apart = {window: measured["difference_ratio"] for window, measured in found.items()}
    assert {window: ratio for window, ratio in apart.items() if abs(ratio) > 0.05} == {}
    assert abs(found[alike]["unseen_ratio"]) <= 0.05
    assert found[alike]["hours"] == 14 * 24
    changed = found["28d"]["fleet_changed_at"]
    assert (changed is not None) == (service == "chat-serving")


def test_every_page_has_something_and_fits_for_finance_and_for_the_platform(
    filled: Installation, desk: Desk
) -> None:
    walked = [
        walk_as(desk, filled, address, *sight) for address in (SIGN_IN, MANAGES) for sight in SIGHTS
    ]

    assert [each.refused for each in walked if each.refused] == []
    assert [each.faults for each in walked if each.faults] == []
    bare = {address: cards for each in walked for address, cards in each.bare.items()}
    assert {address: bare[address] for address in bare if address not in STAYS_BARE} == {}
    seen = {name for each in walked for name in each.addresses}
    assert every_page() - seen - BY_A_BUTTON == set()


def test_what_happened_in_the_company_stands_on_its_pages(filled: Installation, desk: Desk) -> None:
    page, url = desk.page(), address_of(filled)
    sign_in(page, filled, SIGN_IN)
    missing = []
    for path, link, said in SHOWN:
        page.goto(f"{url}{path}")
        if link:
            page.locator("main").get_by_role("link", name=link, exact=True).first.click()
            page.wait_for_load_state()
        text = page.locator("main").inner_text().replace("\N{NO-BREAK SPACE}", " ")
        if not re.search(said, text):
            missing.append((path, link, said))
    assert missing == []


def test_a_run_that_went_silently_wrong_is_in_the_waste_once_and_named(
    filled: Installation, desk: Desk
) -> None:
    said = "from tests.journeys.headline_figures import tell_diverged; tell_diverged()"
    figures = last_line(manage(filled.home, "shell", "--no-imports", "-c", said))
    assert figures["what diverged"][0] > 0
    wrong = {name: pair for name, pair in figures.items() if pair[0] != pytest.approx(pair[1])}
    assert wrong == {}

    page, url = desk.page(), address_of(filled)
    sign_in(page, filled, SIGN_IN)
    page.goto(f"{url}/workloads/4/runs")
    page.locator("main").get_by_role("link", name="ranker-train-31451", exact=True).first.click()
    expect(page.locator("main")).to_contain_text("diverged from ")
    page.goto(f"{url}/weekly-reviews")
    page.locator("main table").get_by_role("link").first.click()
    page.locator("main").get_by_role("link", name="ranker-train", exact=True).first.click()
    expect(page.locator("main")).to_contain_text(re.compile(r"Diverged, .*ranker-train-31451"))


def walk_as(desk: Desk, filled: Installation, address: str, width: int, scheme: str) -> Walked:
    """The console of finance or of the platform; a month that is closed before the open one."""
    page = desk.page(width, color_scheme=scheme, **LOOKING)
    sign_in(page, filled, address)
    closed = datetime.now(UTC).replace(day=1) - timedelta(days=1)
    platform = page.locator("main").get_by_role("link", name="Platform", exact=True).first
    team = platform.get_attribute("href") or ""
    return walk(page, address_of(filled), f"/months/{closed:%Y-%m}", team)


def sign_in(page: Page, filled: Installation, address: str) -> None:
    """With the password that the demo printed."""
    password = re.search(r"Password: (\S+)", filled.log())
    assert password is not None
    page.goto(address_of(filled))
    page.get_by_label("Email").fill(address)
    page.get_by_label("Password").fill(password[1])
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("main h1")).to_contain_text("cost")


def address_of(filled: Installation) -> str:
    """Where it listens."""
    return f"http://127.0.0.1:{filled.port}"
