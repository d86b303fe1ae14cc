"""Workloads and ownership: what each sees of it, and rules that show what they move first."""

import csv
import html
import io
import re

import psycopg
import pytest

from apps.accounts.models import Membership, Team
from apps.workloads import queries as workloads
from apps.workloads.actions.workloads import add_workload
from tests import make
from tests.apps.console.people import client_of, confirmed, words_of
from tests.apps.ledger import scene
from tests.browser.fleet import HOUR, make_fleet, make_people

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def fleet(of_module: None) -> None:
    """The hand-made fleet; eight GPUs of account `nlp` of user `ida` on it, that nobody owns."""
    now = make_fleet()
    began_at = now.replace(hour=10, minute=0, second=0, microsecond=0) - 24 * HOUR
    node_id = scene.make_priced_node("gpu-02", started_at=began_at, at=now)
    scene.make_job("2", node_id, from_=began_at, to=began_at + HOUR, account="nlp")
    scene.settle(now, starts_at=began_at, ends_at=began_at + 2 * HOUR)
    make_people()
    lead = make.make_person("dee@example.org", name="Dee", role="lead")
    Membership.objects.create(team_id=make.make_team("Vision"), user_id=lead)
    lead = make.make_person("ada@example.org", name="Ada", role="lead")
    Membership.objects.create(team=Team.objects.get(name="Research"), user_id=lead)


def team_id(name: str) -> int:
    return Team.objects.get(name=name).id


def test_finance_sees_what_each_workload_cost_and_what_nobody_owns():
    add_workload(name="llm", team_id=team_id("Research"), kind="training")
    page = words_of(client_of("finn").get("/ownership"))
    assert "Research llm training $0.00" in page
    assert "Research Not held by a job, or no workload $98.32" in page
    assert "nlp – – atlas 1 $98.32 8.00" in page
    assert "has no owner." in page
    assert "Assign" not in page


def test_a_lead_sees_only_what_is_theirs():
    page = words_of(client_of("ada").get("/ownership"))
    assert "Research Not held by a job, or no workload $98.32" in page
    assert "account research" in page
    dee = client_of("dee")
    for path in ("/ownership", "/ownership.csv?table=workloads", "/ownership.csv?table=rules"):
        said = dee.get(path).content.decode()
        assert "esearch" not in said
        assert "98.32" not in said
    (rule,) = workloads.rules()
    assert dee.get(f"/ownership/rules/{rule.rule.id}").status_code == 404
    assert dee.get("/ownership/unowned").status_code == 403


@pytest.mark.parametrize("name", ["finn", "ada", "vera"])
def test_only_the_platform_changes_rules(name):
    client = client_of(name)
    (rule,) = workloads.rules()
    asked = {"owner": team_id("Vision"), "account": "nlp"}
    assert client.get("/ownership/rules/new").status_code == 403
    assert client.post("/ownership/rules/new", asked).status_code == 403
    assert client.post(f"/ownership/rules/{rule.rule.id}/end").status_code == 403
    assert client.post("/ownership/workloads", {"name": "x"}).status_code == 403
    assert len(workloads.rules()) == 1


def test_the_unowned_list_leads_to_a_rule_that_shows_what_it_moves_and_then_moves_it():
    platform = client_of("petra")
    listed = platform.get("/ownership/unowned").content.decode()
    (link,) = re.findall(r'href="(/ownership/rules/new[^"]*)"', listed)
    form = platform.get(html.unescape(link))
    assert 'value="nlp"' in form.content.decode()

    asked = {"owner": team_id("Vision"), "cluster": "atlas", "account": "nlp"}
    shown = words_of(platform.get("/ownership/rules/new", asked))
    assert "1 job with 8.00 GPU-hours, $98.32, would move to Vision." in shown
    assert "Unowned Vision 1 8.00 $98.32" in shown
    assert len(workloads.rules()) == 1

    answer = confirmed(platform, "/ownership/rules/new", asked, follow=True)
    assert "Saved." in words_of(answer)
    assert "Added" in words_of(answer)
    assert "Petra" in words_of(answer)
    assert [rule.rule.account for rule in workloads.rules()] == ["research", "nlp"]


def test_ending_a_rule_shows_what_goes_to_whom():
    platform = client_of("petra")
    (rule,) = workloads.rules()
    path = f"/ownership/rules/{rule.rule.id}/end"
    assert "Nothing that was held so far changes hands." in words_of(
        platform.get(path, {"end": ""})
    )
    shown = words_of(platform.get(path, {"end": "2026-01-01"}))
    assert "Research Unowned 1 8.00 $98.32" in shown
    assert "What ending it would move" in shown
    answer = confirmed(platform, path, {"end": "2026-01-01"}, follow=True)
    assert "The rule is ended." in words_of(answer)
    assert not workloads.rules()[0].is_in_force(make.NOON)
    again = confirmed(platform, path, {"end": "2026-06-01"})
    assert again.status_code == 400
    assert "ended at" in words_of(again)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"owner": "999999"}, "Choose one of the list."),
        ({"cluster": "nowhere"}, "Choose one of the list."),
        ({"label": "project"}, "It is not key=value."),
        ({"priority": "-1"}, "Say a whole number"),
        ({"priority": "1000001"}, "This is more than 1,000,000."),
        ({"from": "yesterday"}, "Say a day, as in"),
        ({"account": ""}, "Say which jobs"),
        ({"account": "a\0b"}, "Null characters are not allowed."),
    ],
)
def test_what_is_wrong_with_a_rule_is_said_by_field(wrong, problem):
    asked = {"owner": team_id("Vision"), "account": "nlp"} | wrong
    platform = client_of("petra")
    assert problem in words_of(platform.get("/ownership/rules/new", asked))
    answer = platform.post("/ownership/rules/new", asked)
    assert answer.status_code == 400
    assert problem in words_of(answer)
    assert len(workloads.rules()) == 1


def test_a_rule_that_is_there_already_is_refused_with_the_form_kept():
    asked = {"owner": team_id("Vision"), "account": "research", "priority": "10"}
    answer = confirmed(client_of("petra"), "/ownership/rules/new", asked)
    assert answer.status_code == 400
    assert "asks exactly that already" in words_of(answer)
    assert 'value="research"' in answer.content.decode()


def test_a_workload_is_added_once():
    platform = client_of("petra")
    asked = {"name": "llm", "team": team_id("Research"), "kind": "training"}
    assert "llm is a workload of Research." in words_of(
        platform.post("/ownership/workloads", asked, follow=True)
    )
    assert "has a workload llm already" in words_of(
        platform.post("/ownership/workloads", asked, follow=True)
    )
    chosen = f"{team_id('Research')}/{next(iter(workloads.workloads()))}"
    asked = {"owner": chosen, "account": "nlp"}
    assert "would move to Research: llm." in words_of(platform.get("/ownership/rules/new", asked))


def test_the_tables_are_there_as_csv():
    client = client_of("finn")
    (row,) = csv.DictReader(io.StringIO(client.get("/ownership/unowned.csv").content.decode()))
    assert (row["account"], row["jobs"], row["cost"]) == ("nlp", "1", "98.320000")
    rows = csv.DictReader(
        io.StringIO(client.get("/ownership.csv?table=workloads").content.decode())
    )
    assert {row["team"]: row["cost"] for row in rows}["Research"] == "98.320000"
    (rule,) = csv.DictReader(io.StringIO(client.get("/ownership.csv?table=rules").content.decode()))
    assert rule["asks"] == "account research"


@pytest.mark.parametrize("path", ["/ownership", "/ownership/unowned", "/ownership/rules/{rule}"])
def test_a_page_asks_the_database_at_most_fifteen_questions(path, monkeypatch):
    client = client_of("petra")
    path = path.format(rule=workloads.rules()[0].rule.id)
    asked: list[str] = []
    execute = psycopg.Cursor.execute

    def counted(self, query, *args, **kwargs):
        asked.append(str(query))
        return execute(self, query, *args, **kwargs)

    client.get(path)
    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    client.get(path)
    assert 0 < len(asked) <= 15, "\n".join(asked)


def test_each_table_of_ownership_is_ordered_by_the_address_and_leads_to_costs():
    add_workload(name="llm", team_id=team_id("Research"), kind="training")
    finn = client_of("finn")
    page = finn.get("/ownership?sort=cost&unowned=-jobs&rules=-priority").content.decode()
    assert page.count('aria-sort="') == 3
    research = f"/costs/teams/{team_id('Research')}"
    unowned = Team.objects.get(kind="unowned").id
    for address in (research, f"/costs/teams/{unowned}/jobs?window=30d"):
        assert f'href="{address}"' in page
        assert finn.get(address).status_code == 200
    turned = words_of(finn.get("/ownership?sort=-cost"))
    assert turned.index("Research Not held by a job, or no workload") < turned.index(
        "Research llm training"
    )


def test_what_a_rule_would_move_and_who_said_it_are_sheets():
    platform = client_of("petra")
    asked = {"owner": str(team_id("Vision")), "account": "nlp", "priority": "100"}
    page = html.unescape(platform.get("/ownership/rules/new", asked).content.decode())
    (address,) = re.findall(r'href="(/ownership/rules/new\.csv\?[^"]+)"', page)
    (row,) = csv.DictReader(io.StringIO(platform.get(address).content.decode()))
    assert (row["from"], row["to"], row["jobs"], row["cost"]) == (
        "Unowned",
        "Vision",
        "1",
        "98.320000",
    )
    assert platform.get("/ownership/rules/new.csv?table=preview").status_code == 404
    assert client_of("finn").get(address).status_code == 403

    confirmed(platform, "/ownership/rules/new", asked)
    rule_id = max(fact.rule.id for fact in workloads.rules())
    changes = f"/ownership/rules/{rule_id}.csv?table=changes"
    assert changes in platform.get(f"/ownership/rules/{rule_id}").content.decode()
    (row,) = csv.DictReader(io.StringIO(platform.get(changes).content.decode()))
    assert (row["what"], row["who"]) == ("added", "Petra")
    (row,) = csv.DictReader(
        io.StringIO(
            platform.get(
                f"/ownership/rules/{rule_id}/end.csv?table=preview&end=2020-01-01"
            ).content.decode()
        )
    )
    assert (row["from"], row["to"]) == ("Vision", "Unowned")
    assert (
        platform.get(f"/ownership/rules/{rule_id}/end.csv?table=preview&end=x").status_code == 404
    )
    # Without a row, and at the former address without a day, it is a file with its header.
    header = ",".join(row) + "\r\n"
    for address in (
        f"/ownership/rules/{rule_id}/end.csv?table=preview&end=2199-01-01",
        f"/ownership/rules/{rule_id}/moves.csv?end=2199-01-01",
    ):
        assert platform.get(address, follow=True).content.decode() == header
    moved_now = platform.get(f"/ownership/rules/{rule_id}/moves.csv", follow=True)
    assert moved_now.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert moved_now.content.decode().startswith(header)
    assert client_of("ada").get(changes).status_code == 404
