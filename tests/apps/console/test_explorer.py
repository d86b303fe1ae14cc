"""The Cost explorer: any two dimensions, another period and why, and an address that says it all."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client, override_settings

from apps.accounts.models import Team
from apps.economics.variance import CAUSES
from apps.fleet.models import Pool
from apps.ledger.models import LedgerDay, LedgerPoolDay
from apps.show.words import CAUSE_WORDS
from tests.apps.console.people import csv_rows, signed_in
from tests.apps.ledger.explored import DAY, make_explored

pytestmark = pytest.mark.django_db

ADDRESS = "/costs"


@pytest.fixture(scope="module", autouse=True)
def _settled(of_module: None) -> None:
    make_explored()


@pytest.fixture
def finn() -> Client:
    return signed_in("finance")


def page_of(client: Client, path: str = ADDRESS, **given: str) -> str:
    answer = client.get(path, {"window": DAY} | given)
    assert answer.status_code == 200
    return answer.content.decode()


def rows_of(client: Client, path: str, accept: str = "*/*", **given: str) -> list[dict[str, Any]]:
    answer = client.get(path, {"window": DAY} | given, headers={"Accept": accept})
    assert answer["Content-Type"].startswith("text/csv")
    rows: list[dict[str, Any]] = csv_rows(answer)
    return rows


def links_in(html: str) -> list[str]:
    """Every address of the page's own questions."""
    found = re.findall(r'href="(/costs\?[^"]*)"', html)
    return [href.replace("&amp;", "&") for href in found]


def test_it_opens_with_what_each_team_cost(finn: Client) -> None:
    html = page_of(finn)

    assert "Platform cost the most on 3 March 2026: $627 of $688" in text_of_html(html)
    assert {"=Research", "Secret project", "Platform"} <= set(cells_of(html))


def test_addresses_of_before_lead_here_with_what_they_asked(finn: Client) -> None:
    answer = finn.get("/costs/explore", {"window": DAY, "group_by": "pool", "team": "=Research"})
    assert answer["Location"] == f"/costs?window={DAY}&group_by=pool&team=%3DResearch"
    with override_settings(TAG_KEYS=("project",)):
        html = page_of(finn, tag="project=llm", cost="own")
    assert "tag.project=llm" in html
    assert "cost=direct" in html


def test_two_dimensions_filters_and_a_comparison(finn: Client) -> None:
    html = page_of(finn, group_by="user,cluster", team="=Research", compare="2026-03-02")
    told = text_of_html(html)

    assert "Costs were $49.16 on 3 March 2026, +100 % against 2 March" in told
    assert "cluster as of today, in closed months too" in told
    assert "ada atlas $49.16 $24.58 +$24.58" in told
    assert "What made the difference" in told
    assert "Capacity +$24.58 hours paid for" in told


def test_key_figures_are_held_against_the_days_that_the_title_names(finn: Client) -> None:
    told = text_of_html(page_of(finn, group_by="team", compare="2026-03-02/2026-03-04"))

    assert "on 3 March 2026, −67 % against 2 to 3 March" in told
    assert "Cost $688 −67 % on 2 to 3 March" in told


@pytest.mark.parametrize(
    "given",
    [
        {"group_by": "team"},
        {"group_by": "user,state", "compare": "2026-03-02"},
        {"group_by": "day,team", "window": "2026-03-02/2026-03-04"},
        {"group_by": "cost_centre,region", "basis": "list", "cost": "direct"},
        {"group_by": "node,job", "team": "=Research"},
    ],
)
def test_the_file_of_the_page_is_the_file_of_its_address_in_rest(
    finn: Client, given: dict[str, str]
) -> None:
    if given["group_by"] == "node,job":
        assert finn.get("/costs.csv", {"table": "groups", "window": DAY} | given).status_code == 400
        return
    of_page = rows_of(finn, "/costs.csv", table="groups", **given)
    of_rest = rows_of(finn, "/api/v1/costs/explore", accept="text/csv", **given)

    assert sorted(map(plain, of_page)) == sorted(map(plain, of_rest))
    assert list(of_page[0]) == list(of_rest[0])


def plain(row: dict[str, Any]) -> list[tuple[str, str]]:
    """A row, its hours as numbers."""
    return [
        (name, str(float(text)) if text and ("hours" in name or name == "coverage") else text)
        for name, text in row.items()
    ]


def test_what_has_no_workload_is_two_rows_that_lead_on(finn: Client) -> None:
    html = page_of(finn, group_by="workload,state")
    told = text_of_html(html)
    assert "No workload Unobserved" in told
    assert "Not held by a job Unallocated" in told
    (by_job,) = {href for href in links_in(html) if "group_by=job" in href and "state" in href}
    assert "workload=none" in by_job
    assert finn.get(by_job).status_code == 200


def test_every_figure_leads_to_its_rows(finn: Client) -> None:
    """Each way down is answered, and narrows to what the row says."""
    html = page_of(finn, group_by="user,pool")
    (narrowed,) = {href for href in links_in(html) if "user=eve&" in href and "pool=h100" in href}

    assert "cost $12.29 on 3 March 2026" in text_of_html(finn.get(narrowed).content.decode())
    for href in {*links_in(html), *re.findall(r'href="(/costs/teams/\d+[^"]*)"', page_of(finn))}:
        assert finn.get(href.replace("&amp;", "&")).status_code == 200


def test_what_cannot_be_told_leads_to_the_nearest_question(finn: Client) -> None:
    html = page_of(finn, window="2025-12-10/2026-04-20", group_by="pool,team")
    (nearest,) = {href for href in links_in(html) if "2025-12-01" in href}

    assert "By pool and team costs can be asked for 100 days at once" in text_of_html(html)
    assert "groups" in text_of_html(finn.get(nearest).content.decode())


@pytest.mark.parametrize("given", [{"group_by": "colour"}, {"team": "x"}, {"compare": "x" * 300}])
def test_nonsense_is_said_and_left_out(finn: Client, given: dict[str, str]) -> None:
    told = text_of_html(page_of(finn, **given))

    assert "is none of" in told or "there is no team named" in told
    assert "$688" in told


@pytest.mark.parametrize(
    "path", ["/costs.csv", "/costs.csv?table=by-day", "/costs.csv?table=groups"]
)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"team": "Reserch"}, "there is no team named"),
        ({"node": "none", "job": "1"}, "no sums are kept by team and job and node together"),
        (
            {"group_by": "job", "user": "ada", "tag.env": "prod"},
            "no sums are kept by job and user and tag env together",
        ),
    ],
)
def test_a_file_of_what_is_not_understood_is_refused(
    finn: Client, path: str, given: dict[str, str], told: str
) -> None:
    with override_settings(TAG_KEYS=("env",)):
        answer = finn.get(path, {"window": DAY} | given)

    assert answer.status_code == 400
    assert told in answer.content.decode()


def test_what_no_table_has_the_rest_of_leads_to_the_nearest_question(finn: Client) -> None:
    with override_settings(TAG_KEYS=("env",)):
        html = page_of(finn, group_by="job", user="ada", **{"tag.env": "prod"})
        (nearest,) = {href for href in links_in(html) if "tag" not in href and "user=ada" in href}

        assert "This is more than can be shown at once" in text_of_html(html)
        assert "This is more" not in text_of_html(finn.get(nearest).content.decode())


def test_nothing_says_where_there_may_be_more(finn: Client) -> None:
    told = text_of_html(page_of(finn, window="2026-03-10", team="=Research"))

    assert "Nothing was charged to anybody on 10 March 2026" in told
    assert "Show the last 90 days" in told
    assert "Show everything" in told


def test_idle_that_was_moved_is_no_price(finn: Client) -> None:
    """Loaded cost of a team has idle of others in it, which has no time of its own."""
    team = Team.objects.get(name="Platform")
    day = {"day": DAY, "posting_month": "2026-03-01", "status": "estimated", "kind": "node_hour"}
    for table in (LedgerDay, LedgerPoolDay):
        table.objects.create(
            **day, team_id=team.id, pool_id=Pool.objects.get(name="h100").id, unit="gpu", state=6,
            flags=64, effective_micros=-5_000_000, contracted_micros=-5_000_000, unit_milliseconds=0,
            held_milliseconds=0, observed_milliseconds=0, unpriced_milliseconds=0,
        )  # fmt: skip
    given = {"compare": "2026-03-02", "team": "Platform", "pool": "h100"}
    moved, still = (
        {
            row["cause"]: float(row["change"])
            for row in rows_of(finn, "/costs.csv", table="causes", **given, cost=cost)
        }
        for cost in ("loaded", "charged")
    )
    assert moved["Price"] == still["Price"]
    assert moved["Other charges"] == still["Other charges"] - 5


def test_the_causes_are_a_file_too(finn: Client) -> None:
    rows = rows_of(finn, "/costs.csv", table="causes", compare="2026-03-02", user="ada,eve")

    assert set(CAUSE_WORDS) == set(CAUSES)
    assert sum(float(row["change"]) for row in rows) == pytest.approx(61.45 - 24.58)
    assert rows_of(finn, "/costs.csv", table="causes") == []


def test_a_lead_sees_no_name_of_others() -> None:
    dee = signed_in("lead")
    Team.objects.filter(name="=Research").update(owner_id=dee.session["_auth_user_id"])
    for names in ("team,user", "user", "job", "node,state"):
        html = page_of(dee, group_by=names, compare="2026-03-02")
        assert "Secret" not in html
        assert "eve" not in html.replace("everything", "").replace("every", "").replace("never", "")
        assert "$49" in text_of_html(html)


def cells_of(html: str) -> list[str]:
    return [text.strip() for text in re.findall(r">([^<>]+)<", html)]


def text_of_html(html: str) -> str:
    """What is read, in one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_more_than_a_hundred_days_are_drawn_by_week(finn: Client) -> None:
    html = page_of(finn, window="2026-03-01/2026-07-01")

    assert "each week by state of its GPU time" in html
    behind = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', html)
    weeks = {re.sub("<.*?>", "", label): cells for label, cells in behind if "week from" in label}
    (total,) = [cells for label, cells in behind if label == "Total" and "%" not in cells][:1]
    assert weeks["week from 2 Mar 2026"] == total
    assert "2026-03-02%2F2026-03-09" in behind[0][0]
