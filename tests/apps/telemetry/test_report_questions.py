"""Incidents and agents by REST."""

from datetime import timedelta

import pytest
from django.core.cache import cache

from apps.fleet import actions as fleet
from apps.fleet.models import JoinToken, TrustDecision, TrustIncident, TrustKind
from apps.telemetry.models import Incident
from tests import make
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def join_token(name: str) -> None:
    token = fleet.NewJoinToken(name, make.make_cluster("atlas"), ("gpu-*",), make.NOON + DAY)
    fleet.make_join_token(token=token, at=make.NOON)


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


def raise_matters(node_id: int, token_id: int) -> None:
    """One of a node, which came up twice, and one of the machines that come with a token."""
    for hour in (1, 3):
        matter = fleet.TrustMatter(TrustKind.JOB, "job 7 of another node", node_id)
        fleet.raise_trust_incident(matter=matter, at=make.NOON + hour * HOUR)
    waits = fleet.TrustMatter(TrustKind.NODES, "gpu-7 waits", join_token_id=token_id, reported=3)
    fleet.raise_trust_incident(matter=waits, at=make.NOON + 2 * HOUR)


def test_matters_of_trust_are_incidents_once_each():
    node_id = make.make_node("a")
    join_token("the DaemonSet")
    token = JoinToken.objects.get()
    early, late = make_incident(node_id), make_incident(node_id, hours=5)
    raise_matters(node_id, token.id)
    of_job, of_nodes = TrustIncident.objects.order_by("first_at")
    caller = with_token("read")

    def found(**parameters: object) -> list[int]:
        answer = caller.get("incidents", **parameters)
        assert answer.status_code == 200, answer.content
        return [row["id"] for row in answer.json()["results"]]

    assert found() == [late, -of_nodes.id, -of_job.id, early]
    assert found(node_id=node_id) == [late, -of_job.id, early]
    assert found(kind="nodes_waiting") == [-of_nodes.id]
    assert found(open="true") == [-of_nodes.id, -of_job.id]
    assert found(since="2026-03-02T16:00:00Z") == [late, -of_nodes.id, -of_job.id]
    assert found(until="2026-03-02T13:30:00Z") == [-of_job.id, early]
    assert found(device_id=1) == []
    _, waiting, of_others, _ = caller.get("incidents").json()["results"]
    assert (waiting["node"], waiting["join_token"]) == (
        None, {"id": token.id, "name": "the DaemonSet"},
    )  # fmt: skip
    assert (of_others["node"]["name"], of_others["count"], of_others["kind"]) == (
        "a", 2, "job_of_others",
    )  # fmt: skip
    assert of_others["trust_incident_id"] == of_job.id
    fleet.decide_trust_incident(
        trust_incident_id=of_job.id, decision=TrustDecision.REFUSED, by="Ada", at=make.NOON + DAY
    )
    assert found(open="true") == [-of_nodes.id]
    assert len(caller.get("incidents", accept="text/csv").content.decode().splitlines()) == 5


def test_incidents_and_matters_of_trust_are_read_page_by_page_both_ways():
    node_id = make.make_node("a")
    join_token("the DaemonSet")
    raise_matters(node_id, JoinToken.objects.get().id)
    for hour in (1, 1, 2, 5):
        make_incident(node_id, hours=hour)
    caller = with_token("read")
    whole = [row["id"] for row in caller.get("incidents").json()["results"]]
    assert len(whole) == 6
    page, forward = caller.get("incidents", limit=2).json(), []
    while True:
        forward.append([row["id"] for row in page["results"]])
        if page["next"] is None:
            break
        page = caller.client.get(page["next"], headers=caller.headers).json()
    assert [each for ids in forward for each in ids] == whole
    backward = [forward[-1]]
    while page["previous"] is not None:
        page = caller.client.get(page["previous"], headers=caller.headers).json()
        backward.append([row["id"] for row in page["results"]])
    assert backward[::-1] == forward


def test_whoever_sees_their_own_alone_reads_no_matter_of_trust():
    node_id = make.make_node("a")
    join_token("the DaemonSet")
    raise_matters(node_id, JoinToken.objects.get().id)
    lead, _ = signed_in("dee@example.org", "lead")
    assert lead.get("incidents").json()["results"] == []


def test_a_lead_reads_incidents_as_they_read_nodes():
    make_incident(make.make_node("a"))
    lead, _ = signed_in("dee@example.org", "lead")
    assert [row["node"]["name"] for row in lead.get("incidents").json()["results"]] == ["a"]
    assert Caller().get("incidents").status_code == 401


def test_agents_are_listed_with_their_last_own_word():
    node_id = make.make_node()
    silent, speaking = make.make_agent(node_id=node_id), make.make_agent(node_id=node_id)
    problem = {"code": "no_pod_resources", "detail": "not mounted"}
    said = fleet.ReportedStatus(
        boot=1, sequence=1, state="ok", spool_batches=2, problems=(problem,)
    )
    fleet.note_status(agent_id=speaking, status=said, at=make.NOON)
    told = {row["id"]: row for row in with_token("read").get("agents").json()["results"]}
    assert (told[silent]["state"], told[silent]["spool"]) == (None, None)
    assert (told[speaking]["state"], told[speaking]["problems"]) == ("ok", [problem])
    assert told[speaking]["spool"] == {"batches": 2, "bytes": None, "oldest_at": None}
