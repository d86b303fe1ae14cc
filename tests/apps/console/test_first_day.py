"""The guided first day, and answers that Setup takes right where it asks."""

import html
import re
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client

from apps.fleet import queries as fleet
from apps.workloads.models import Allocation
from apps.workloads.queries import unknown_nodes
from tests import make
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


def text_of(answer) -> str:
    words = html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode()))
    return re.sub(r"\s+", " ", words.replace("\N{NO-BREAK SPACE}", " "))


@pytest.fixture
def job_on_an_unknown_node() -> datetime:
    """A job of yesterday on gpu-07 of cluster atlas, which nobody put on record."""
    make.make_organisation()
    now = datetime.now(UTC)
    node_id = make.make_node("gpu-01", started_at=now - 3 * DAY, at=now)
    scene.make_job("1", node_id, from_=now - DAY, to=now - DAY / 2)
    Allocation.objects.update(node=None, node_name="gpu-07")
    return now


def test_an_empty_installation_is_led_through_five_steps():
    make.make_organisation()
    page = text_of(signed_in().get("/setup/first-day"))
    assert "0 of the 5 steps of the first day are done." in page
    assert "There is none yet." in page
    assert "No job is known." in page
    assert "Nothing has a price" in page
    assert "/setup/first-day" in signed_in().get("/setup").content.decode()


def test_what_is_done_is_said():
    make_fleet()
    page = text_of(signed_in().get("/setup/first-day"))
    assert "3 of the 5 steps of the first day are done." in page
    assert "1 rule say" not in page
    assert "There are prices." in page


def test_every_link_of_the_guide_leads_somewhere():
    make.make_organisation()
    client = signed_in()
    page = client.get("/setup/first-day").content.decode()
    guide = page[page.index('class="guide"') : page.index("</ol>", page.index('class="guide"'))]
    links = set(re.findall(r'href="([^"]+)"', guide))
    assert links == {"/people/tokens", "/setup", "/setup/imports", "/prices", "/ownership/unowned"}
    assert {client.get(link).status_code for link in links} == {200}


def test_names_of_schedulers_become_nodes_of_a_pool(job_on_an_unknown_node):
    pool_id = make.make_pool("h100")
    client = signed_in()
    assert "They are in this pool" in text_of(client.get("/setup"))
    (unknown,) = unknown_nodes()
    day = (job_on_an_unknown_node - 2 * DAY).date().isoformat()
    asked = {"pool": pool_id, "from": day, "node": f"{unknown.cluster_id}/gpu-07"}
    answer = client.post("/setup/nodes/name", asked, follow=True)
    assert "1 node of h100 added." in text_of(answer)
    names = fleet.nodes_named(unknown.cluster_id, ["gpu-07"])
    assert names["gpu-07"][0][1].date().isoformat() == day


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"pool": "0"}, "say which pool they are of"),
        ({"from": "2999-01-01"}, "out of reach"),
        ({"from": "soon"}, "say from which day on"),
        ({"from": "0001-01-01"}, "out of reach"),
        ({"node": "1/nobody"}, "tick the nodes that are meant"),
    ],
)
def test_what_cannot_be_followed_changes_nothing(job_on_an_unknown_node, wrong, said):
    (unknown,) = unknown_nodes()
    asked = {
        "pool": make.make_pool("h100"),
        "from": (job_on_an_unknown_node - DAY).date().isoformat(),
        "node": f"{unknown.cluster_id}/gpu-07",
    }
    answer = signed_in().post("/setup/nodes/name", asked | wrong, follow=True)
    assert f"Nothing was changed: {said}" in text_of(answer) or said in text_of(answer)
    assert len(unknown_nodes()) == 1


def test_only_the_platform_names_nodes(job_on_an_unknown_node):
    assert signed_in("finn").post("/setup/nodes/name").status_code == 403
    assert "They are in this pool" not in text_of(signed_in("finn").get("/setup"))
    assert signed_in("vera").get("/setup/first-day").status_code == 403


@pytest.mark.parametrize("path", ["/setup", "/setup/first-day", "/setup/imports"])
def test_a_page_asks_the_database_at_most_fifteen_questions(path, monkeypatch):
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
    assert 0 < len(asked) <= 15, "\n".join(asked)
