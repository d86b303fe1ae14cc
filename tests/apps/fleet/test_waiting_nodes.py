"""Nodes beyond the number of their join token wait for a person, and cost nothing meanwhile."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from apps.fleet import actions, queries
from apps.fleet.models import JoinToken, Node, TrustDecision, TrustIncident, WaitingNode
from apps.ledger.models import Charge
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.fleet.test_joining import DAY, MINUTE, NOON, join, join_token
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db


def token_for(nodes: int, **given: Any) -> str:
    pool = make.make_pool("h100", cluster_id=make.make_cluster("atlas"))
    return join_token(pool_id=pool, most_nodes=nodes, **given)


def decide(name: str, decision: TrustDecision) -> None:
    row = WaitingNode.objects.get(name=name)
    actions.decide_waiting_node(waiting_node_id=row.id, decision=decision, by="Ada", at=NOON)


def test_sixty_invented_nodes_wait_as_one_incident_and_cost_nothing() -> None:
    make.make_organisation()
    secret = token_for(2)
    scene.make_rate(make.make_pool("other"))
    scene.make_rate(JoinToken.objects.get().pool_id)
    for number in range(2):
        join(secret, f"gpu-{number}", at=scene.TEN)
    for number in range(2, 62):
        with pytest.raises(actions.NodeWaits, match="for 2 nodes"):
            join(secret, f"gpu-{number}", at=scene.TEN)
    assert (Node.objects.count(), WaitingNode.objects.count()) == (2, 60)
    incident = TrustIncident.objects.get()
    assert (incident.kind, incident.ceiling, incident.reported, incident.count) == (
        "nodes_waiting", 2, 62, 60,
    )  # fmt: skip
    scene.recharge()
    scene.settle_all()
    charged = set(Charge.objects.exclude(node_id=None).values_list("node__name", flat=True))
    assert charged == {"gpu-0", "gpu-1"}
    assert audit_here().places == ()


def test_a_machine_that_comes_again_counts_once_and_one_on_record_does_not_wait() -> None:
    secret = token_for(1)
    join(secret, "gpu-01")
    assert join(secret, "gpu-01", at=NOON + MINUTE).node_name == "gpu-01"
    for minute in range(3):
        with pytest.raises(actions.NodeWaits):
            join(secret, "gpu-02", at=NOON + minute * MINUTE)
    assert WaitingNode.objects.get().tries == 3
    make.make_node("gpu-03", cluster_id=make.make_cluster("atlas"))
    assert join(secret, "gpu-03").node_name == "gpu-03"


def test_a_node_that_ended_makes_room() -> None:
    secret = token_for(1)
    first = join(secret, "gpu-01")
    actions.end_node(node_id=first.node_id, ended_at=NOON + MINUTE, reason="sold", at=NOON + MINUTE)
    assert join(secret, "gpu-02", at=NOON + 2 * MINUTE).node_name == "gpu-02"


def test_an_approved_node_joins_when_it_comes_and_a_refused_one_never() -> None:
    secret = token_for(1)
    join(secret, "gpu-01")
    for name in ("gpu-02", "gpu-03"):
        with pytest.raises(actions.NodeWaits):
            join(secret, name)
    decide("gpu-02", TrustDecision.APPROVED)
    assert TrustIncident.objects.get().decided_at is None
    decide("gpu-03", TrustDecision.REFUSED)
    assert TrustIncident.objects.get().decision == "refused"
    with pytest.raises(actions.WaitingNodeDecided):
        decide("gpu-03", TrustDecision.APPROVED)
    joined = join(secret, "gpu-02", at=NOON + 5 * MINUTE)
    assert Node.objects.get(pk=joined.node_id).period.lower == NOON + 5 * MINUTE
    with pytest.raises(actions.NodeTurnedAway):
        join(secret, "gpu-03")


@pytest.mark.parametrize(
    "name", ["gpu-\u202eevil", "gpu-<b>x", "gpu-\x07", "gpu-", "gpu- 1", "gpu-" + "x" * 250]
)
def test_an_odd_name_joins_only_where_it_is_on_record(name: str) -> None:
    secret = token_for(9)
    with pytest.raises(actions.NodeNameOdd):
        join(secret, name)
    assert not Node.objects.exists()
    make.make_node(name, cluster_id=make.make_cluster("atlas"))
    assert join(secret, name).node_name == name


@pytest.mark.parametrize("number", [0, 100_001])
def test_the_number_is_one_that_can_be(number: int) -> None:
    with pytest.raises(actions.JoinTokenNotUnderstood) as refused:
        join_token(most_nodes=number)
    assert refused.value.field == "most_nodes"


def test_over_the_wire_it_waits_with_clear_words_and_is_approved() -> None:
    at = timezone.now()
    secret = token_for(1, expires_at=at + DAY)
    asked = {"token": secret, "source": "nvml", "version": "0.3.0", "machine": "a"}

    def enrol(name: str) -> Any:
        body = json.dumps(asked | {"node": name})
        return Client().post("/api/v1/enrolments", body, "application/json")

    assert enrol("gpu-01").status_code == 201
    waits = enrol("gpu-02")
    assert (waits.status_code, "waits until somebody approves" in waits.json()["detail"]) == (
        409,
        True,
    )
    client = Client(headers={"Authorization": f"Bearer {make.make_token('read', 'manage').secret}"})
    (row,) = client.get("/api/v1/waiting-nodes?open=true").json()["results"]
    assert (row["name"], row["cluster"]["name"], row["decision"]) == ("gpu-02", "atlas", "")
    for _ in range(2):
        answer = client.post(f"/api/v1/waiting-nodes/{row['id']}/approve", {}, "application/json")
        assert (answer.status_code, answer.json()["decision"]) == (200, "approved")
    refused = client.post(f"/api/v1/waiting-nodes/{row['id']}/refuse", {}, "application/json")
    assert refused.status_code == 409
    assert enrol("gpu-02").status_code == 201


def test_the_command_takes_the_number(capsys: pytest.CaptureFixture[str]) -> None:
    make.make_cluster("atlas")
    call_command("make_join_token", "--cluster", "atlas", "--nodes", "gpu-*", "--most-nodes", "64")
    assert JoinToken.objects.get().most_nodes == 64
    assert queries.waiting_nodes() == []
    assert timedelta(days=89) < JoinToken.objects.get().expires_at - timezone.now()


def test_two_tokens_of_a_cluster_add_no_more_nodes_by_taking_them_from_one_another() -> None:
    first = token_for(2)
    pool = JoinToken.objects.get().pool_id
    second = join_token(pool_id=pool, most_nodes=2, name="another")
    for number in range(2):
        join(first, f"gpu-{number}")
        join(second, f"gpu-{number}", at=NOON + MINUTE)
    with pytest.raises(actions.NodeWaits):
        join(first, "gpu-2", at=NOON + 2 * MINUTE)
    assert join(second, "gpu-2", at=NOON + 2 * MINUTE).node_name == "gpu-2"


@pytest.mark.parametrize("name", ["GPU-01", "gpu-01.elsewhere", "Gpu-01.atlas"])
def test_no_new_node_is_called_as_one_that_lives_in_other_letters_or_another_domain(
    name: str,
) -> None:
    secret = token_for(9, node_names=("*",))
    join(secret, "gpu-01")
    with pytest.raises(actions.NodeNameOdd, match="the node gpu-01 lives"):
        join(secret, name)
    join(secret, "gpu-02.atlas")
    with pytest.raises(actions.NodeNameOdd, match=r"gpu-02\.atlas"):
        join(secret, "gpu-02")
    # Of two domains they are two machines, and as one ends its name is free.
    assert join(secret, "gpu-02.hydra").node_name == "gpu-02.hydra"
    node = Node.objects.get(name="gpu-01")
    actions.end_node(node_id=node.id, ended_at=NOON + MINUTE, reason="", at=NOON + MINUTE)
    assert join(secret, name, at=NOON + 2 * MINUTE).node_name == name
