"""The inventory over the wire: everyone reads it, platform changes it, owners stay unnamed to others."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache

from apps.accounts.models import Team
from apps.fleet.models import ClusterToken
from apps.marks.models import ChangedRange
from apps.marks.queries import Pass
from tests import make
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _organisation() -> None:
    cache.clear()
    make.make_organisation()


@pytest.fixture
def ada() -> Caller:
    return with_token("manage")


def moment(hours: int) -> str:
    return (make.NOON + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")


def test_an_owner_who_is_none_of_the_callers_reads_another_team() -> None:
    owner, own = make.make_team("Secret project"), make.make_team("Research")
    make.make_pool("theirs", owner_team_id=owner)
    make.make_pool("ours", owner_team_id=own)
    dee, person_id = signed_in("dee@example.org", "lead", name="Dee")
    Team.objects.filter(pk=own).update(owner_id=person_id)

    pools = {row["name"]: row["owner_team"] for row in dee.get("pools").json()["results"]}

    assert pools == {
        "ours": {"id": own, "name": "Research"},
        "theirs": {"id": None, "name": "another team"},
    }
    for accept in ("application/json", "text/csv"):
        assert b"Secret" not in dee.get("pools", accept=accept).content


@pytest.mark.parametrize("role", ["finance", "lead", "viewer"])
def test_who_does_not_manage_reads_and_changes_nothing(role: str) -> None:
    node_id = make.make_node()
    caller, _ = signed_in("cy@example.org", role, name="Cy")

    assert caller.get(f"nodes/{node_id}").status_code == 200
    for path, body in (
        ("clusters", {"name": "x"}),
        (f"nodes/{node_id}/end", {"ended_at": moment(5), "reason": "x"}),
        (f"nodes/{node_id}/invitations", {"expires_at": "2099-01-01T00:00:00Z"}),
        ("outages", {"node_id": node_id, "kind": "down", "starts_at": moment(1)}),
    ):
        assert caller.post(path, body).status_code == 403


@pytest.mark.parametrize("scope", ["ingest", "jobs"])
def test_a_token_that_only_sends_reads_nothing(scope: str) -> None:
    assert with_token(scope).get("nodes").status_code == 403


def test_a_node_is_added_once_and_charged_from_its_start(ada: Caller) -> None:
    make.make_pool("h100")
    asked = {"name": "gpu-09", "pool": "h100", "units": 8, "started_at": moment(0)}

    made, again = ada.post("nodes", asked), ada.post("nodes", asked)

    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == again.json()
    assert (made.json()["units"], made.json()["started_at"]) == (8, moment(0))
    assert ada.post("nodes", asked | {"units": 4}).status_code == 409


def test_a_node_of_the_past_is_added_with_its_end(ada: Caller) -> None:
    make.make_pool("k80")
    asked = {"name": "gpu-09", "pool": "k80", "units": 4, "started_at": moment(-9)}
    ended = {"ended_at": moment(-3), "end_reason": "sold"}

    made, again = ada.post("nodes", asked | ended), ada.post("nodes", asked)

    assert (made.status_code, again.status_code) == (201, 200)
    assert (made.json()["ended_at"], made.json()["end_reason"]) == (moment(-3), "sold")
    assert ada.post("nodes", asked | {"started_at": moment(-3)}).status_code == 201
    wrong = ada.post("nodes", asked | {"name": "gpu-10", "ended_at": moment(-9)})
    assert (wrong.status_code, "gpu-10 would end" in wrong.text) == (400, True)


def test_a_node_is_ended_once_and_its_hours_are_settled_again(ada: Caller) -> None:
    node_id = make.make_node()
    end = {"ended_at": moment(5), "reason": "given back"}

    ended, again = (ada.post(f"nodes/{node_id}/end", end) for _ in range(2))

    assert ended.json() == again.json()
    assert (ended.json()["ended_at"], ended.json()["end_reason"]) == (moment(5), "given back")
    assert ada.post(f"nodes/{node_id}/end", end | {"ended_at": moment(6)}).status_code == 409


def test_nodes_are_found_by_pool_cluster_and_moment(ada: Caller) -> None:
    pool_id = make.make_pool("h100", cluster_id=make.make_cluster("atlas"))
    make.make_node("a", pool_id=pool_id, cluster_id=make.make_cluster("atlas"))
    gone = make.make_node("b")
    ada.post(f"nodes/{gone}/end", {"ended_at": moment(2), "reason": "x"})

    def found(**parameters: Any) -> list[str]:
        return [row["name"] for row in ada.get("nodes", **parameters).json()["results"]]

    assert found() == ["a", "b"]
    assert found(pool="h100") == found(cluster="atlas") == ["a"]
    assert found(alive_at=moment(1)) == ["a", "b"]
    assert found(alive_at=moment(3)) == ["a"]
    assert found(pool="no such pool") == []


def test_capacity_changes_from_a_moment_on(ada: Caller) -> None:
    node_id = make.make_node()

    answer = ada.post(f"nodes/{node_id}/capacity", {"units": 7, "from_at": moment(3)})

    assert answer.json()["units"] == 7
    before = ada.post(f"nodes/{node_id}/capacity", {"units": 7, "from_at": moment(-3)})
    assert before.status_code == 409


def test_an_invited_agent_enrols_once_with_what_was_shown(ada: Caller) -> None:
    node_id = make.make_node()
    invited = ada.post(f"nodes/{node_id}/invitations", {"expires_at": "2099-01-01T00:00:00Z"})
    enrolment = {"token": invited.json()["token"], "source": "nvml", "version": "0.1.0"}

    first, second = (Caller().post("enrolments", enrolment) for _ in range(2))

    assert (first.status_code, first.json()["node"]) == (201, "gpu-01")
    assert second.status_code == 409
    (agent,) = ada.get("agents", node_id=node_id).json()["results"]
    assert (agent["source"], agent["version"], agent["last_seen_at"]) == ("nvml", "0.1.0", None)


def test_a_clusters_token_states_only_its_jobs(ada: Caller) -> None:
    cluster_id = make.make_cluster("atlas")

    made = ada.post(f"clusters/{cluster_id}/tokens", {"name": "scheduler"}).json()

    assert ClusterToken.objects.get(token_id=made["id"]).cluster_id == cluster_id
    event = {"cluster": "borealis", "raw_id": "1", "event": "submit", "at": moment(0)}
    assert Caller(made["secret"]).post("jobs", event).status_code == 403


def test_devices_are_confirmed_and_found_by_it(ada: Caller) -> None:
    node_id = make.make_node()
    device_id = make.make_device("GPU-0", node_id=node_id)
    make.make_device("GPU-1", node_id=node_id)

    first, again = (ada.post(f"devices/{device_id}/confirm") for _ in range(2))

    assert first.json()["confirmed_at"] == again.json()["confirmed_at"] is not None
    for said, uuid in (("true", "GPU-0"), ("false", "GPU-1")):
        found = ada.get("devices", is_confirmed=said).json()["results"]
        assert [row["uuid"] for row in found] == [uuid]
    assert ada.get("devices", is_confirmed="").status_code == 400


def test_an_outage_is_recorded_once_and_ended(ada: Caller) -> None:
    node_id = make.make_node()
    asked = {"node_id": node_id, "kind": "drained", "starts_at": moment(1)}

    made, again = ada.post("outages", asked), ada.post("outages", asked)
    ended = ada.post(f"outages/{made.json()['id']}/end", {"ended_at": moment(3)})

    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json()["id"] == again.json()["id"]
    assert ended.json()["ends_at"] == moment(3)
    assert [row["id"] for row in ada.get("outages", during=moment(2)).json()["results"]]
    assert ada.get("outages", during=moment(4)).json()["results"] == []
    changed = ChangedRange.objects.filter(pass_id=Pass.SPLIT, unit=node_id)
    assert make.NOON + timedelta(hours=1) in changed.values_list("starts_at", flat=True)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("nodes", {"pool": "none"}, "pool"),
        ("nodes", {"cluster": "none"}, "cluster"),
        ("nodes", {"started_at": "2026-03-02T12:00:00"}, "started_at"),
        ("nodes", {"started_at": "0001-01-01T00:00:00Z"}, "started_at"),
        ("nodes", {"units": -1}, "units"),
        ("nodes", {"name": "a\x00b"}, "name"),
        ("nodes", {"colour": "green"}, "colour"),
        ("pools", {"owner_team": "none"}, "owner_team"),
    ],
)
def test_a_field_that_cannot_be_is_named(
    ada: Caller, path: str, body: dict[str, Any], field: str
) -> None:
    make.make_pool("h100")
    given = {
        "nodes": {"name": "n", "pool": "h100", "units": 8, "started_at": moment(0)},
        "pools": {"name": "p", "provider": "aws", "purchase_option": "spot"},
    }

    answer = ada.post(path, given[path] | body)

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_a_list_as_csv_has_a_row_for_each(ada: Caller) -> None:
    make.make_node("a")
    make.make_node("b")

    answer = ada.get("nodes", accept="text/csv", limit=1)

    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["name"], row["pool"]) for row in rows] == [("a", "pool of a")]
    assert 'rel="next"' in answer.headers["Link"]


def test_lists_are_a_few_queries_whatever_their_length(
    ada: Caller, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        make.make_node(f"n{number}")
    for path in ("clusters", "pools", "nodes", "devices", "agents", "outages"):
        with django_assert_max_num_queries(5):
            assert ada.get(path).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("clusters", {"name": "atlas", "kind": "kubernetes"}, 409, "name"),
        ("nodes/{node}/end", {"ended_at": moment(-1), "reason": "sold"}, 400, "ended_at"),
        ("nodes/{node}/capacity", {"units": 7, "from_at": moment(-1)}, 409, "from_at"),
        ("nodes/{node}/invitations", {"expires_at": moment(0)}, 400, "expires_at"),
        ("outages", {"ends_at": moment(0)}, 400, "ends_at"),
        ("outages", {"device_id": 2**31 - 1}, 400, "device_id"),
    ],
)
def test_what_an_action_refuses_names_its_field(
    ada: Caller, path: str, body: dict[str, Any], status: int, field: str
) -> None:
    make.make_cluster("atlas")
    node_id = make.make_node()
    outage = {"node_id": node_id, "kind": "drained", "starts_at": moment(1)}

    answer = ada.post(path.format(node=node_id), (outage if path == "outages" else {}) | body)

    assert answer.status_code == status
    assert [error["field"] for error in answer.json()["errors"]] == [field]
