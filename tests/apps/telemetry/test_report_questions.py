"""Incidents and agents by REST; how hard a fleet worked, hour by hour."""

import math
from datetime import timedelta

import pytest
from django.core.cache import cache

from apps.fleet import actions as fleet
from apps.telemetry.models import Incident
from apps.telemetry.queries import heat
from tests import make
from tests.apps.ledger import scene
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


def test_heat_is_the_share_worked_of_what_was_observed():
    node_id = make.make_node(at=scene.TEN - HOUR)
    (uuid, idle, *_) = scene.make_gpus(node_id, seen_from=scene.TEN - HOUR)
    device_id, idle_id = scene.device_ids([uuid, idle])
    scene.make_usage(device_id, [60] * 60, hour=scene.TEN)
    scene.make_usage(idle_id, [0] * 60, hour=scene.TEN)
    found = heat(scene.TEN - HOUR, scene.TEN + HOUR, [node_id])
    rows = dict(zip(found.device_ids, found.worked_ratio.tolist(), strict=True))
    assert found.hours == (scene.TEN - HOUR, scene.TEN)
    assert len(rows) == 8
    assert math.isnan(rows[device_id][0])
    assert (rows[device_id][1], rows[idle_id][1]) == (0.25, 0.0)


def test_heat_counts_a_shared_device_once():
    node_id = make.make_node(at=scene.TEN)
    device_id = scene.device_ids(scene.make_gpus(node_id, seen_from=scene.TEN))[0]
    scene.make_usage(device_id, [120] * 60, hour=scene.TEN, key="")
    scene.make_usage(device_id, [120] * 60, hour=scene.TEN, key="slurm/atlas/1")
    scene.make_usage(device_id, [60] * 60, hour=scene.TEN, key="slurm/atlas/2")
    found = heat(scene.TEN, scene.TEN + HOUR, [node_id])
    assert found.worked_ratio[found.device_ids.index(device_id)].tolist() == [0.5]


def test_a_fleet_too_large_to_draw_by_device_is_told_by_node(monkeypatch):
    monkeypatch.setattr("apps.telemetry.queries.heat_map.MOST_DEVICES", 8)
    ids = [make.make_node(name, at=scene.TEN) for name in ("a", "b")]
    for node_id in ids:
        device_ids = scene.device_ids(scene.make_gpus(node_id, seen_from=scene.TEN))
        for place, device_id in enumerate(device_ids[:2]):
            scene.make_usage(device_id, [120 * place] * 60, hour=scene.TEN)
    found = heat(scene.TEN, scene.TEN + HOUR, ids)
    assert (found.node_ids, found.device_ids) == (tuple(ids), ())
    assert found.worked_ratio.tolist() == [[0.25], [0.25]]
