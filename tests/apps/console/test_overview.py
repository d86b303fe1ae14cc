"""What the Overview says, in figures that can be added up by hand."""

import csv
import html
import io
import re
from datetime import datetime, timedelta

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.test import Client, override_settings

from apps.accounts.models import Organisation, Team
from apps.console.kit.filling import Filling, announce_filling
from tests import make
from tests.apps.console.people import words_of
from tests.browser.fleet import FINDING, make_fleet, make_people

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def now(of_module: None) -> datetime:
    """The fleet was settled then."""
    return make_fleet()


@pytest.fixture
def finance() -> Client:
    return signed_in()


def signed_in() -> Client:
    make_people("Finn")
    client = Client()
    client.force_login(get_user_model().objects.get())
    return client


def finding(answer) -> str:
    found = re.search(r"<h1>(.*?)</h1>", answer.content.decode())
    assert found
    return html.unescape(found[1]).replace("\N{NO-BREAK SPACE}", " ")


def test_the_title_is_the_finding(finance):
    assert finding(finance.get("/")) == FINDING


def test_the_figures_say_what_worked_and_where_the_rest_went(finance):
    page = words_of(finance.get("/"))
    assert "Spend $197" in page
    assert len(re.findall(r"\bestimated\b", page.partition("Spend $197")[0], re.IGNORECASE)) == 1
    assert "Active share of spend 25 %" in page
    assert "Waste $147 unallocated $98.32 and otherwise idle while allocated $49.16" in page
    assert "Not priced, observed or owned 16.0 GPU-hours without a price" in page


def test_what_has_no_price_is_said_and_not_counted_as_nothing(finance):
    page = words_of(finance.get("/"))
    assert "16.0 GPU-hours of lab have no price" in page
    only_the_lab = finance.get("/", {"pool": "lab"})
    assert "is not known: no price covers it." in finding(only_the_lab)
    assert "$0" not in words_of(only_the_lab)


def test_each_team_has_its_part_and_they_add_up(finance):
    page = words_of(finance.get("/"))
    assert re.search(r"Research \$98\.32 .* 50 % active \$49\.16 8\.00 \$12\.3", page)
    assert re.search(
        r"Platform what no job held, and what is no other team’s, 16\.0 GPU-hours unpriced \$98\.32",
        page,
    )
    assert re.search(
        r"Total 16\.0 GPU-hours unpriced \$196\.64 .* 25 % active \$147\.48 32\.0 ≥ \$6\.1", page
    )


def test_a_filter_narrows_the_finding(finance):
    answer = finance.get("/", {"team": "Research", "window": "yesterday"})
    assert finding(answer) == "Research cost $98.32 yesterday, and 50 % of it was waste."


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"window": "someday"}, "Window: 'someday' is none of today"),
        ({"window": "9999-12-31"}, "Window: '9999-12-31' is"),
        ({"window": "0001-01"}, "not within the years 1970 to 2999"),
        ({"team": "Nobody"}, "Team: there is no team named 'Nobody'. Shown instead: all of them."),
        ({"pool": "\x00"}, "there is no pool named"),
        ({"basis": "blended"}, "Basis: 'blended' is none of list, contracted, effective, billed."),
        ({"sort": "-colour"}, "There is no column 'colour' to order by."),
    ],
)
def test_what_is_not_understood_is_said_and_the_default_shown(finance, given, problem):
    answer = finance.get("/", given)
    assert finding(answer) == FINDING
    assert problem in words_of(answer)


def test_what_waste_is_not_told_of_narrows_nothing(finance):
    with override_settings(TAG_KEYS=("project",)):
        answer = finance.get("/", {"tag.project": "llm", "cost": "loaded", "sort": "-waste"})
    assert finding(answer) == FINDING


def test_a_basis_nobody_knows_yet_is_unknown_and_not_zero(finance):
    answer = finance.get("/", {"basis": "billed"})
    assert finding(answer) == (
        "What was billed for everything in the last 30 days is not known: no bill was read."
    )
    assert "$0" not in words_of(answer)


def test_a_period_without_charges_says_where_there_are_some(finance):
    answer = finance.get("/", {"window": "2020-01"})
    assert finding(answer) == "Nothing was charged in January 2020."
    assert "Show everything since" in words_of(answer)


def test_rows_follow_the_column_asked_for(finance):
    def order(sort: str) -> list[str]:
        page = finance.get("/", {"sort": sort}).content.decode()
        table = page[page.index('id="by-team"') :]
        return re.findall(r'<th scope="row"><a[^>]*>([^<]+)</a>', table)

    assert order("team") == ["Platform", "Research"]
    assert order("-team") == ["Research", "Platform"]
    assert order("-bought") == ["Research", "Platform"]


def test_there_is_no_change_without_a_whole_span_before(finance):
    assert "no whole span before to compare with" in words_of(finance.get("/"))


def test_whole_days_are_compared_with_whole_days(now):
    # Known since long before, and then it cost nothing.
    make.make_node("old", started_at=now - timedelta(days=40), at=now - timedelta(days=39))
    page = words_of(signed_in().get("/", {"window": "yesterday"}))
    assert "Spend $197 new on" in page
    assert "change is from" in page


def test_the_tables_are_there_as_csv_with_every_micro_unit(finance):
    answer = finance.get("/overview.csv?table=by-team")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    rows = {row["team"]: row for row in csv.DictReader(io.StringIO(answer.content.decode()))}
    assert rows["Research"]["cost"] == "98.320000"
    assert rows["Research"]["held_idle"] == "49.160000"
    assert rows["Research"]["unallocated"] == ""
    assert rows["Platform"]["unpriced_gpu_hours"] == "16.000000"
    (day,) = csv.DictReader(io.StringIO(finance.get("/overview.csv?table=by-day").content.decode()))
    assert (day["cost"], day["currency"], day["basis"]) == ("196.640000", "USD", "effective")


def test_a_name_that_a_spreadsheet_would_run_is_quoted():
    Team.objects.filter(name="Research").update(name="=1+1")
    answer = signed_in().get("/overview.csv?table=by-team")
    assert "'=1+1" in answer.content.decode()


def test_a_page_asks_the_database_at_most_fifteen_questions(finance, monkeypatch):
    asked: list[str] = []
    execute = psycopg.Cursor.execute

    def counted(self, query, *args, **kwargs):
        asked.append(str(query))
        return execute(self, query, *args, **kwargs)

    finance.get("/")  # what waits in Setup is counted once a minute
    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    finance.get("/")
    assert 0 < len(asked) <= 15, "\n".join(asked)


def test_the_scripts_of_the_page_are_half_a_megabyte_at_most(finance):
    page = finance.get("/").content.decode()
    scripts = re.findall(r'<script[^>]* src="([^"]+)"', page)
    assert len(scripts) == 4
    sizes = []
    for script in scripts:
        answer = finance.get(script, headers={"Accept-Encoding": "gzip"})
        sizes.append(len(b"".join(answer.streaming_content)))
    assert sum(sizes) <= 500_000


def test_every_figure_leads_to_its_rows_and_every_day_to_its_page(finance):
    page = finance.get("/").content.decode()
    assert 'href="/?sort=-waste#by-team">Waste</a>' in page
    days = re.findall(r'<th scope="row"><a href="(/\?window=[\d-]+)">', page)
    assert days
    assert finance.get(days[-1]).status_code == 200


def test_a_demo_says_how_far_its_history_is_filled_in(finance):
    announce_filling(Filling(3, 13, "the week from 2 November 2026"))
    said = "3 of 13 weeks of this demo are there; the week from 2 November 2026 is being filled in."
    assert said not in words_of(finance.get("/")), "this is nobody's demo"

    Organisation.objects.update(is_demo=True)
    answer = finance.get("/")
    assert said in words_of(answer)
    assert 'hx-trigger="every 20s"' in answer.content.decode()
    assert said in words_of(finance.get("/fleet"))

    announce_filling(None)
    assert "weeks of this demo" not in words_of(finance.get("/"))
