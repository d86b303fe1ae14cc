"""What each page of Costs draws, sorts and hands out, and that filters hold on every level."""

import html
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client, override_settings

from apps.accounts.models import Team, User
from apps.fleet.models import Node
from apps.ledger.models import Line
from apps.workloads.models import OwnershipRule
from tests import make
from tests.apps.console.people import csv_rows
from tests.apps.ledger import scene
from tests.browser.spending import Spending, make_spending

pytestmark = pytest.mark.django_db
LAST_MONTH = {"window": "lastmonth"}


@pytest.fixture(scope="module")
def spending(of_module: None) -> Iterator[Spending]:
    with override_settings(TAG_KEYS=("project",)):
        yield make_spending()


@pytest.fixture
def finance(spending) -> Client:
    return signed_in("finn", "finance")


@pytest.fixture
def ada(spending) -> Client:
    """Leads Research."""
    client = signed_in("ada", "lead")
    Team.objects.filter(id=spending.research).update(owner=User.objects.get(name="Ada"))
    return client


def signed_in(name: str, role: str) -> Client:
    make.make_person(f"{name}@example.org", name=name.title(), role=role)
    client = Client()
    client.force_login(User.objects.get(email=f"{name}@example.org"))
    return client


def page_of(client: Client, path: str, **given: str) -> str:
    answer = client.get(path, LAST_MONTH | given)
    assert answer.status_code == 200, (path, answer.status_code)
    return answer.content.decode()


def words(page: str) -> str:
    text = html.unescape(re.sub(r"<[^>]+>", " ", page)).replace("\N{NO-BREAK SPACE}", " ")
    return re.sub(r"\s+", " ", text)


def levels(spending: Spending) -> list[str]:
    return [
        "/costs",
        f"/costs/teams/{spending.research}",
        f"/costs/workloads/{spending.workload}",
        f"/costs/jobs/{spending.job}",
    ]


def rows(client: Client, path: str, **given: str) -> list[dict[str, str]]:
    answer = client.get(path, LAST_MONTH | given)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    return csv_rows(answer)


def line_of(job_id: int, state: int) -> str:
    line = Line.objects.filter(job_id=job_id, state=state).get()
    return f"/costs/lines/{line.posting_month:%Y-%m}/{line.id}"


def test_every_level_draws_its_days_under_four_figures_at_most(finance, spending):
    for path in levels(spending):
        page = page_of(finance, path)
        drawn = json.loads(re.search(r'<script id="daily-figure"[^>]*>(.*?)</script>', page)[1])
        assert drawn["data"][0]["name"] == "Active"
        assert 49.16 in drawn["data"][0]["y"]
        assert "Highest day: " in words(page)
        assert "each day by state of its GPU time, in USD, effective cost" in words(page)
        assert page.count('class="figure"') == 4


def test_the_days_behind_the_picture_add_up_and_are_there_as_csv(finance, ada, spending):
    for path, cost in zip(levels(spending), ("196.64", "98.32", "98.32", "98.32"), strict=True):
        (day,) = rows(finance, f"{path}.csv", table="by-day")
        assert (day["cost"], day["active"]) == (f"{cost}0000", "49.160000")
        assert day["day"] == str(spending.began_at.date())
        assert rows(ada, f"{path}.csv", table="by-day")[0]["cost"] == "98.320000"
    for other in (f"teams/{spending.vision}", f"jobs/{spending.other_job}"):
        assert ada.get(f"/costs/{other}.csv", LAST_MONTH | {"table": "by-day"}).status_code == 404


def test_a_figure_says_how_it_moved_and_leads_to_its_rows(finance, spending):
    page = page_of(finance, "/costs", window="7d")
    assert "Nothing was charged" in words(page)
    day = str(spending.began_at.date())
    page = page_of(finance, f"/costs/teams/{spending.research}", window=day)
    assert "no whole span before to compare with" in words(page)
    assert 'sort=-not_worked#by-workload">Idle or not held by a job</a>' in page


def test_lines_come_in_the_order_asked_for_over_their_total(finance, spending):
    def costs_in(order: str) -> list[str]:
        page = page_of(finance, f"/costs/jobs/{spending.job}", lines=order)
        lines = page[page.index('id="lines"') :]
        direction = "descending" if order.startswith("-") else "ascending"
        assert f'aria-sort="{direction}"' in lines
        assert re.search(r"Total 8\.00 \$98\.32", words(lines))
        return re.findall(r"(Active|Idle while allocated)</span>", lines)

    assert costs_in("state") == ["Active", "Idle while allocated"]
    assert costs_in("-state") == ["Idle while allocated", "Active"]
    assert costs_in("hour") == ["Active", "Idle while allocated"]
    assert costs_in("-cost") == costs_in("-gpu_hours")
    page = page_of(finance, f"/costs/jobs/{spending.job}", lines="colour")
    assert "There is no column 'colour' to order by." in html.unescape(page)


def test_a_tag_narrows_every_level_and_is_kept_on_the_way_down(finance, spending):
    for path in levels(spending):
        page = page_of(finance, path, **{"tag.project": "llm"})
        assert "$98.32" in page
        assert "$196.64" not in page
        assert "tag.project=llm" in page
    assert "Vision" not in re.sub(
        r"<option[^>]*>[^<]*", "", page_of(finance, "/costs", **{"tag.project": "llm"})
    )
    assert "Nothing was charged" in words(
        page_of(finance, f"/costs/teams/{spending.vision}", **{"tag.project": "llm"})
    )


def test_a_basis_holds_on_every_level_and_what_it_does_not_know_is_said(finance, spending):
    for path in levels(spending):
        assert "List cost in USD" in words(page_of(finance, path, basis="list"))
        assert "basis=list" in page_of(finance, path, basis="list")
        assert "is not known" in words(page_of(finance, path, basis="billed"))
    line = page_of(finance, line_of(spending.job, 1), basis="billed")
    assert "its cost is not known" in words(line)
    assert f"/costs/jobs/{spending.job}?window=lastmonth&amp;basis=billed" in line


def test_one_team_may_be_asked_for_at_the_top(finance, ada, spending):
    page = words(page_of(finance, "/costs", team="Vision"))
    assert "Vision cost $49.16" in page
    assert "$98.32" not in page
    assert "there is no team named 'Vision'" in words(page_of(ada, "/costs", team="Vision"))


def test_a_line_says_which_rule_policy_and_settlement_made_it(finance, ada, spending):
    for client in (finance, ada):
        page = words(page_of(client, line_of(spending.job, 1)))
        assert "Research The job’s ownership rule names it." in page
        assert "Workload Pretraining training" in page
        assert "Priority 10: account research in force since ever, open-ended" in page
        assert "version 1 of the pool A whole GPU counts as 1, a slice as the larger" in page
        assert "The charge covers its hour up to then." in page
        assert re.search(r"settled \d+ \w+ \d{4}, \d\d:\d\d UTC", page)


def test_the_tables_of_a_line_sort_and_are_there_as_csv(finance, ada, spending):
    line = line_of(spending.job, 1)
    page = page_of(finance, line, sort="team")
    assert 'aria-sort="ascending"' in page
    assert re.search(r"Total 8\.00 \$98\.32", words(page[page.index('id="siblings"') :]))
    parts = rows(finance, f"{line}.csv", table="siblings")
    assert {part["holder"]: part["cost"] for part in parts}["job 4711"] == "49.160000"
    assert len(rows(finance, f"{line}.csv", table="minutes")) == 4
    assert rows(finance, f"{line}.csv", table="pieces")[0]["rate"] == "$98.32 an hour per node"
    theirs = {part["holder"]: part["cost"] for part in rows(ada, f"{line}.csv", table="siblings")}
    assert theirs == {"job 4711": "49.160000", "another team": ""}
    assert ada.get(f"{line}.csv?table=pieces").status_code == 404


def test_what_no_job_held_has_a_table_and_a_picture_of_its_own(finance, spending):
    platform = f"/costs/teams/{Team.objects.get(kind='platform').id}"
    (pool,) = rows(finance, f"{platform}.csv", table="no-job")
    assert (pool["pool"], pool["state"], pool["cost"]) == ("h100", "unallocated", "49.160000")
    page = page_of(finance, f"{platform}/no-job", state="unallocated")
    assert 'data-figure="daily-figure"' in page
    (day,) = rows(finance, f"{platform}/no-job.csv", table="by-day", state="unallocated")
    assert day["unallocated"] == "49.160000"
    assert (
        finance.get(f"{platform}/no-job.csv", {"table": "by-day", "state": "active"}).status_code
        == 404
    )


def test_what_nobody_owns_is_said_on_the_overview_and_leads_to_its_rows(finance, spending):
    OwnershipRule.objects.filter(account="vision").delete()
    until = spending.began_at + timedelta(hours=2)
    scene.remark(Node.objects.get(name="gpu-01").id, spending.began_at, until)
    scene.settle(datetime.now(UTC), starts_at=spending.began_at, ends_at=until)
    page = page_of(finance, "/")
    href = f"/costs/teams/{Team.objects.get(kind='unowned').id}?window=lastmonth"
    assert f'<strong class="amount"><a href="{href}">$49.16</a></strong>' in page
    assert "Unowned cost $49.16" in words(finance.get(href).content.decode())
