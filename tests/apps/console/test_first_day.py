"""The guided first day, and answers that Setup takes right where it asks."""

import re
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.accounts.models import AccessToken
from apps.accounts.queries import token_of
from apps.fleet import queries as fleet
from apps.fleet.actions import AgentHeartbeat, record_heartbeats
from apps.fleet.models import Pool
from apps.ledger.models import BillImport
from apps.review.queries.weekly.shown_sections import sections_left_out
from apps.workloads.models import Allocation
from apps.workloads.queries import unknown_nodes
from tests import make
from tests.apps.console.people import confirmed, words_of
from tests.apps.console.people import text_of as text_of_html
from tests.apps.ledger import scene
from tests.browser.fleet import make_fleet, make_people

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _nothing_counted() -> None:
    cache.clear()


def signed_in(name: str = "petra") -> Client:
    if not get_user_model().objects.exists():
        make_people()
    client = Client()
    client.force_login(get_user_model().objects.get(email=f"{name}@example.org"))
    return client


@pytest.fixture
def job_on_an_unknown_node() -> datetime:
    """A job of yesterday on gpu-07 of cluster atlas, which nobody put on record."""
    make.make_organisation()
    now = datetime.now(UTC)
    node_id = make.make_node("gpu-01", started_at=now - 3 * DAY, at=now)
    scene.make_job("1", node_id, from_=now - DAY, to=now - DAY / 2)
    Allocation.objects.update(node=None, node_name="gpu-07")
    return now


def test_an_empty_installation_is_led_without_a_shell():
    make.make_organisation()
    answer = signed_in().get("/setup/first-day")
    page = words_of(answer)
    assert "1 of the 7 steps to a first dollar are done." in page
    assert page.count("To do") == 6
    assert "manage.py" not in page
    assert "No node is on record, so nothing costs anything." in page
    assert "No job is known, so nobody holds anything." in page
    assert "Nothing has a price" in page
    for path in ("/setup", "/"):
        empty = signed_in().get(path)
        assert "/setup/first-day" in empty.content.decode()
        assert "manage.py" not in words_of(empty)
    overview = words_of(signed_in("finn").get("/"))
    assert "Nothing has cost anything yet." in overview
    assert "Set Runrate up, step by step" in overview


def test_what_is_done_is_said():
    make_fleet()
    page = words_of(signed_in().get("/setup/first-day"))
    assert "6 of the 7 steps to a first dollar are done." in page
    assert "lab has no price now." in page
    missing = "lab: no price of p5.48xlarge of aws, on demand, is on record. Set the price of lab"
    assert missing in page
    scene.make_rate(Pool.objects.get(name="lab").id)
    page = words_of(signed_in().get("/setup/first-day"))
    assert "The first day is done: work has a price and an owner." in page
    assert "Every pool has a price now." in page
    assert "1 rule in force." in page


def test_a_bill_is_waited_for_and_then_done():
    make.make_organisation()
    delivery = BillImport.objects.create(name="focus.csv", digest="1", started_at=timezone.now())

    def bill_step() -> str:
        page = signed_in().get("/setup/first-day").content.decode()
        return text_of_html(page.partition('id="step-bill"')[2].partition("</li>")[0])

    assert "Upload a bill Waiting A file is being taken in." in bill_step()
    for state, said in {
        "held": "Waiting A file is held: rows of it could not be read.",
        "failed": "Later Until then costs are estimates by prices.",
        "done": "Done 1 file of a bill is taken in; each bill’s page compares it",
    }.items():
        BillImport.objects.filter(id=delivery.id).update(state=state)
        assert said in bill_step()


@pytest.fixture
def lone_node() -> int:
    """gpu-01, which nothing reports for."""
    make.make_organisation()
    now = datetime.now(UTC)
    return make.make_node("gpu-01", started_at=now - DAY, at=now)


def test_an_agents_token_is_made_in_place_and_its_first_report_is_waited_for(lone_node):
    client = signed_in()
    assert "every 5s" not in client.get("/setup/first-day").content.decode()
    answer = client.post("/setup/first-day/agent", {"node": lone_node, "source": "nvml"})
    page = words_of(answer)
    (secret,) = set(re.findall(r"rr_[\w-]{40,}", page))
    assert f"printf '%s\\n' {secret} > /etc/runrate/agent.token" in page
    assert "1 agent is enrolled; none has reported yet." in page
    assert "every 5s" in answer.content.decode()
    assert secret not in client.get("/setup/first-day").content.decode()

    token = token_of(secret, datetime.now(UTC))
    assert token is not None
    agent = fleet.agent_of_token(token.id)
    assert (agent.node_id, agent.source, token.scopes) == (lone_node, "nvml", {"ingest"})
    seen = AgentHeartbeat(agent.agent_id, "0.1", 0)
    record_heartbeats(agents=[seen], at=datetime.now(UTC))
    page = client.get("/setup/first-day").content.decode()
    assert "The agent was heard" in page
    assert "every 5s" not in page


def test_an_agent_is_invited_in_place_and_its_one_time_token_is_shown_once(lone_node):
    client = signed_in()
    page = words_of(client.post("/setup/first-day/invitation", {"node": lone_node}))
    (secret,) = set(re.findall(r"rre_[\w-]{40,}", page))
    assert f"printf '%s\\n' {secret} | runrate-agent enrol" in page
    assert "pip install 'http://testserver/downloads/runrate_agent-" in page
    assert 'url = "http://testserver"' in page
    assert secret not in client.get("/setup/first-day").content.decode()
    wrong = client.post("/setup/first-day/invitation", {"node": "0"})
    assert (wrong.status_code, "Choose one of the list." in words_of(wrong)) == (
        400,
        True,
    )


def test_a_token_for_jobs_is_let_in_as_the_command_says_and_states_no_job(lone_node):
    cluster_id = make.make_cluster("borealis")
    page = words_of(signed_in().post("/setup/first-day/jobs", {"cluster": cluster_id}))
    assert "The token for the jobs of borealis" in page
    (secret,) = set(re.findall(r"rr_[\w-]{40,}", page))
    (body,) = re.findall(r"-d '([^']+)'", page)
    answer = Client(headers={"Authorization": f"Bearer {secret}"}).post(
        "/api/v1/jobs/bulk", body, content_type="application/json"
    )
    assert answer.status_code == 200, answer.content
    assert "A token for jobs is out; no job has come yet." in page


@pytest.mark.parametrize(
    ("path", "wrong", "said"),
    [
        ("agent", {"node": "0", "source": "nvml"}, "Choose one of the list."),
        ("agent", {"source": "guess"}, "Choose one of the list."),
        ("jobs", {"cluster": "999"}, "Choose one of the list."),
    ],
)
def test_a_first_token_that_cannot_be_made_is_not(lone_node, path, wrong, said):
    answer = signed_in().post(f"/setup/first-day/{path}", {"node": lone_node} | wrong)
    assert answer.status_code == 400
    assert said in words_of(answer)
    assert not AccessToken.objects.exists()


def test_only_the_platform_makes_first_tokens(lone_node):
    finn = signed_in("finn")
    page = words_of(finn.get("/setup/first-day"))
    assert "Create the agent’s token" not in page
    assert "Invite its agent" not in page
    for path in ("invitation", "agent", "jobs"):
        assert finn.post(f"/setup/first-day/{path}", {"node": lone_node}).status_code == 403


def test_every_link_of_the_guide_leads_somewhere():
    make.make_organisation()
    client = signed_in()
    page = client.get("/setup/first-day").content.decode()
    guide = page[page.index('class="guide"') : page.index("</ol>", page.index('class="guide"'))]
    links = set(re.findall(r'href="([^"]+)"', guide))
    assert {
        "/setup/imports",
        "/prices",
        "/ownership/rules/new?back_to=first-day",
        "/people/teams",
    } <= links
    assert {"/fleet/pools/new?back_to=first-day", "/people/join-tokens", "/bills"} <= links
    assert {client.get(link).status_code for link in links} == {200}


def test_finance_is_led_to_nothing_that_it_may_not_open():
    make.make_organisation()
    finn = signed_in("finn")
    page = finn.get("/setup/first-day").content.decode()
    links = set(re.findall(r'href="(/[^"#]+)', page[page.index('class="guide"') :]))
    assert "/prices" in links
    assert {finn.get(link).status_code for link in links} == {200}


def test_names_of_schedulers_become_nodes_of_a_pool(job_on_an_unknown_node):
    pool_id = make.make_pool("h100")
    client = signed_in()
    assert "See what they cost" in words_of(client.get("/setup"))
    (unknown,) = unknown_nodes()
    day = (job_on_an_unknown_node - 2 * DAY).date().isoformat()
    asked = {"pool": pool_id, "from": day, "until": "", "node": f"{unknown.cluster_id}/gpu-07"}
    looked = words_of(client.get("/setup/nodes/name", asked))
    assert "1 node of h100 with 8 GPUs each: gpu-07." in looked
    assert "node-hours of theirs have no price yet." in looked
    scene.make_rate(pool_id)
    looked = words_of(client.get("/setup/nodes/name", asked))
    hours = (datetime.now(UTC) - (job_on_an_unknown_node - 2 * DAY)).total_seconds() / 3600
    (cost,) = re.findall(r"up to now they cost \$([\d,]+)", looked)
    assert abs(int(cost.replace(",", "")) / 98.32 - hours) <= 24, "from the first hour of its day"
    assert unknown_nodes() == [unknown]
    answer = confirmed(client, "/setup/nodes/name", asked, follow=True)
    assert "1 node of h100 added." in words_of(answer)
    names = fleet.nodes_named(unknown.cluster_id, ["gpu-07"])
    assert names["gpu-07"][0][1].date().isoformat() == day


def test_nodes_whose_jobs_still_run_are_named_a_minute_after_the_look(
    job_on_an_unknown_node, monkeypatch
):
    (held,) = Allocation.objects.all()
    held.period = (held.period.lower, None)
    held.save()
    pool_id, client = make.make_pool("h100"), signed_in()
    scene.make_rate(pool_id)
    (unknown,) = unknown_nodes()
    day = job_on_an_unknown_node.date() - DAY
    asked = {"pool": pool_id, "from": day, "until": "", "node": f"{unknown.cluster_id}/gpu-07"}
    hour = job_on_an_unknown_node.replace(minute=0, second=0, microsecond=0)
    monkeypatch.setattr(timezone, "now", lambda: hour + timedelta(minutes=5))
    looked = words_of(client.get("/setup/nodes/name", asked))
    whole, part = (
        int(re.findall(said, looked)[0].replace(",", ""))
        for said in (r"they cost \$([\d,]+) by", r"Of that \$([\d,]+)")
    )
    assert part <= whole
    (seen,) = re.findall(
        r'name="seen" value="(\w+)"', client.get("/setup/nodes/name", asked).content.decode()
    )
    monkeypatch.setattr(timezone, "now", lambda: hour + timedelta(minutes=55))
    answer = client.post("/setup/nodes/name", asked | {"seen": seen}, follow=True)
    assert "1 node of h100 added." in words_of(answer)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"pool": "0"}, "Choose one of the list."),
        ({"from": "2999-01-01"}, "A node costs money from a day that was."),
        ({"from": "soon"}, "Say a day, as in"),
        ({"from": "0001-01-01"}, "out of reach"),
        ({"node": "1/nobody"}, "Tick some of the list."),
    ],
)
def test_what_cannot_be_followed_changes_nothing(job_on_an_unknown_node, wrong, said):
    (unknown,) = unknown_nodes()
    asked = {
        "pool": make.make_pool("h100"),
        "from": (job_on_an_unknown_node - DAY).date().isoformat(),
        "node": f"{unknown.cluster_id}/gpu-07",
    }
    answer = signed_in().post("/setup/nodes/name", asked | wrong)
    assert answer.status_code == 400
    assert said in words_of(answer)
    assert len(unknown_nodes()) == 1


def test_only_the_platform_names_nodes(job_on_an_unknown_node):
    assert signed_in("finn").post("/setup/nodes/name").status_code == 403
    assert "See what they cost" not in words_of(signed_in("finn").get("/setup"))
    assert signed_in("vera").get("/setup/first-day").status_code == 403


@pytest.mark.parametrize("path", ["/setup", "/setup/first-day", "/setup/imports"])
def test_a_page_asks_the_database_at_most_sixteen_questions(path, monkeypatch):
    make_fleet()
    client = signed_in()
    asked: list[str] = []
    execute = psycopg.Cursor.execute

    def counted(self, query, *args, **kwargs):
        asked.append(str(query))
        return execute(self, query, *args, **kwargs)

    client.get(path)
    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    client.get(path)
    assert 0 < len(asked) <= 16, "\n".join(asked)


@pytest.mark.parametrize(
    ("starting_point", "first", "needed", "left_out"),
    [
        ("", "/", 7, frozenset()),
        ("buys_apis", "/api-spend", 4, {"idle", "commitments"}),
        ("rents_clouds", "/", 8, frozenset()),
        ("owns_hardware", "/fleet", 8, {"commitments"}),
    ],
)
def test_a_starting_point_sets_what_is_first_and_asked(starting_point, first, needed, left_out):
    make.make_organisation()
    client = signed_in()
    if starting_point:
        confirmed(client, "/setup/starting-point", {"starting_point": starting_point})
    assert client.get("/home")["Location"] == first
    page = words_of(client.get("/setup/first-day"))
    assert f"1 of the {needed} steps to a first dollar are done." in page
    assert page.count("To do") == needed - 1
    assert sections_left_out(starting_point) == left_out


def test_a_starting_point_can_be_taken_back_and_others_may_not_choose():
    make.make_organisation()
    client = signed_in()
    confirmed(client, "/setup/starting-point", {"starting_point": "buys_apis"})
    confirmed(client, "/setup/starting-point", {"starting_point": ""})
    assert client.get("/home")["Location"] == "/"
    assert signed_in("finn").get("/setup/starting-point").status_code == 403


def test_the_environment_says_sections_before_a_starting_point(settings):
    settings.REVIEW_WITHOUT = ("alerts",)
    assert sections_left_out("buys_apis") == {"alerts"}
