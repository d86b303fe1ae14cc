"""Search: one field finds whatever bears a name, each viewer within what they may know."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import Job, Run, RunSpan
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
MOST_QUERIES = 15


class World:
    """Zebras and Koalas run jobs on gpu-01; each has a workload, and the Zebras a run."""

    def __init__(self) -> None:
        make.make_organisation()
        self.zebras, self.koalas = make.make_team("Zebras"), make.make_team("Koalas")
        scene.make_rule("zebra", self.zebras)
        scene.make_rule("koala", self.koalas)
        self.workload_id = add_workload(name="llm-pretrain", team_id=self.zebras, kind="training")
        add_workload(name="llm-serving", team_id=self.koalas, kind="serving")
        pool_id = make.make_pool("h100-east")
        make.make_rate()
        node_id = make.make_node("gpu-01", pool_id=pool_id)
        make.make_device("GPU-7f3aee00", node_id=node_id)
        self.job_id = self.job("471100", node_id, "zebra", "stripes")
        self.other_id = self.job("471199", node_id, "koala", "stripeless")
        run = Run.objects.create(key="llm-7b-v3")
        span = (make.NOON, make.NOON + timedelta(hours=1))
        RunSpan.objects.create(run=run, job_id=self.job_id, period=span)

    def job(self, raw_id: str, node_id: int, account: str, name: str) -> int:
        job_id = scene.make_job(raw_id, node_id)
        Job.objects.filter(id=job_id).update(account=account, name=name)
        return job_id


@pytest.fixture(scope="module")
def world(of_module: None) -> World:
    return World()


def found(client, text, **given):
    answer = client.get("/search", {"q": text, **given})
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("zeb", "/costs/teams/"),
        ("pretrain", "/costs/workloads/"),
        ("4711", "/costs/jobs/"),
        ("STRIPES", "/costs/jobs/"),
        ("llm-7b", "/runs/"),
        ("gpu-0", "/fleet/nodes/"),
        ("7f3aee", "/fleet/devices/"),
        ("GPU-7F3", "/fleet/devices/"),
        ("east", "/fleet?pool=h100-east"),
        ("p5.48", "/prices/"),
        ("finance@", "/people/"),
    ],
)
def test_a_part_of_a_name_finds_the_page_of_the_thing(world, text, href):
    assert f'href="{href}' in found(signed_in("finance"), text).partition('id="found"')[2]


def test_a_lead_finds_the_own_jobs_and_never_learns_of_another(world):
    lead = signed_in("lead", world.zebras)
    page = found(lead, "4711")
    assert "“4711” finds 1 job." in page
    assert "471100" in page
    assert "471199" not in page
    of_taken, of_free = (found(lead, text).partition("<main") for text in ("471199", "471198"))
    assert of_taken[2].replace("471199", "471198") == of_free[2]
    for text, others in (("koal", "Koalas"), ("llm", "llm-serving"), ("p5.48", "on demand")):
        assert others not in found(lead, text)


def test_a_run_belongs_to_whom_its_first_job_belongs(world):
    assert "llm-7b-v3" in found(signed_in("lead", world.zebras), "llm-7")
    assert "llm-7b-v3" not in found(signed_in("viewer", world.koalas), "llm-7")


def test_who_belongs_nowhere_finds_the_fleet_alone(world):
    nobody = signed_in("viewer")
    assert "gpu-01" in found(nobody, "gpu-0")
    assert "Nothing is called “4711”" in found(nobody, "4711")


def test_more_than_fits_is_told_as_more_and_leads_to_all_of_the_kind(world):
    for number in range(12):
        make.make_team(f"herd {number:02}")
    client = signed_in("platform")
    page = found(client, "herd")
    assert "finds more than 8 teams" in page
    assert 'href="/search?q=herd&amp;kind=team"' in page
    assert "finds 12 teams" in found(client, "herd", kind="team")


def test_the_very_id_comes_before_those_that_begin_with_it(world):
    node_id = make.make_node("gpu-02")
    world.job("4711001", node_id, "zebra", "later")
    page = found(signed_in("platform"), "471100").partition('id="found"')[2]
    assert page.index(f"/costs/jobs/{world.job_id}") < page.index("4711001")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "What can be found"),
        ("z", "One letter would find nearly everything"),
        ("zz%", "Nothing bears this name"),
        ("zz\x00", "Nothing bears this name"),
        ("_____", "Nothing bears this name"),
    ],
)
def test_a_search_that_finds_nothing_says_what_can_be_found(world, text, said):
    page = found(signed_in("lead", world.zebras), text)
    assert said in page
    assert "by the beginning of its id or name" in page


def test_suggestions_are_a_part_of_a_page(world):
    answer = signed_in("platform").get("/search/suggested", {"q": "stripe"})
    text = answer.content.decode()
    assert "<html" not in text
    assert text.count('href="/costs/jobs/') == 2
    assert 'href="/search?q=stripe"' in text


@pytest.mark.parametrize("role", ["finance", "lead"])
def test_a_search_asks_the_database_no_more_than_other_pages_do(world, role):
    client = signed_in(role, world.zebras)
    found(client, "llm")
    with CaptureQueriesContext(connection) as asked:
        found(client, "llm")
    assert len(asked) <= MOST_QUERIES


def test_programs_search_within_what_their_token_sees(world):
    token = make.make_token("read", team_id=world.zebras)
    asked = {"q": "4711"}
    theirs = get(asked, token.secret).json()
    everything = get(asked, make.make_token("read").secret).json()
    assert [(each["kind"], each["id"]) for each in theirs["results"]] == [("job", world.job_id)]
    assert {each["id"] for each in everything["results"]} == {world.job_id, world.other_id}
    assert theirs["more"] == []


@pytest.mark.parametrize("asked", [{}, {"q": "x"}, {"q": "xx", "kind": "galaxy"}, {"q": "x" * 101}])
def test_programs_are_told_what_is_wrong_with_their_question(world, asked):
    answer = get(asked, make.make_token("read").secret)
    assert answer.status_code == 400
    assert answer.json()["errors"]


def get(asked, secret):
    return Client(headers={"Authorization": f"Bearer {secret}"}).get("/api/v1/search", asked)
