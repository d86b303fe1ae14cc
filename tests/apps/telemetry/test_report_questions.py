"""Incidents and agents by REST."""

from datetime import timedelta

import pytest
from django.core.cache import cache

from apps.fleet import actions as fleet
from apps.telemetry.models import Incident
from tests import make
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _organisation() -> None:
    cache.clear()
    make.make_organisation()


def make_incident(node_id: int, kind: str = "xid", hours: int = 0, **given: object) -> int:
    at = make.NOON + hours * HOUR
    values = {"started_at": at, "last_at": at, "ended_at": at} | given
    return Incident.objects.create(node_id=node_id, kind=kind, **values).id


def test_incidents_are_found_by_node_kind_time_and_whether_they_last():
    first, second = make.make_node("a"), make.make_node("b")
    early = make_incident(first)
    lasting = make_incident(first, "gpu_missing", 1, ended_at=None)
    late = make_incident(second, hours=5)
    caller = with_token("read")

    def found(**parameters: object) -> list[int]:
        answer = caller.get("incidents", **parameters)
        assert answer.status_code == 200, answer.content
        return [row["id"] for row in answer.json()["results"]]

    assert found() == [late, lasting, early]
    assert found(node_id=first) == [lasting, early]
    assert found(kind="xid") == [late, early]
    assert (found(open="true"), found(open="false")) == ([lasting], [late, early])
    assert found(since="2026-03-02T13:30:00Z") == [late, lasting]
    assert found(until="2026-03-02T13:00:00Z") == [early]


def test_incidents_are_read_page_by_page_and_as_csv():
    node_id = make.make_node("a")
    ids = [make_incident(node_id, hours=hour) for hour in range(3)]
    caller = with_token("read")
    first = caller.get("incidents", limit=2).json()
    rest = caller.client.get(first["next"], headers=caller.headers).json()
    assert [row["id"] for row in first["results"] + rest["results"]] == ids[::-1]
    text = caller.get("incidents", accept="text/csv").content.decode()
    assert len(text.splitlines()) == 4


def test_a_lead_reads_incidents_as_they_read_nodes():
    make_incident(make.make_node("a"))
    lead, _ = signed_in("dee@example.org", "lead")
    assert [row["node"]["name"] for row in lead.get("incidents").json()["results"]] == ["a"]
    assert Caller().get("incidents").status_code == 401


def test_agents_are_listed_with_their_last_own_word():
    node_id = make.make_node()
    silent, speaking = make.make_agent(node_id=node_id), make.make_agent(node_id=node_id)
    problem = {"code": "no_pod_resources", "detail": "not mounted"}
    said = fleet.ToldStatus(boot=1, sequence=1, state="ok", spool_batches=2, problems=(problem,))
    fleet.note_status(agent_id=speaking, status=said, at=make.NOON)
    told = {row["id"]: row for row in with_token("read").get("agents").json()["results"]}
    assert (told[silent]["state"], told[silent]["spool"]) == (None, None)
    assert (told[speaking]["state"], told[speaking]["problems"]) == ("ok", [problem])
    assert told[speaking]["spool"] == {"batches": 2, "bytes": None, "oldest_at": None}
