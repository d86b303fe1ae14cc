"""What waits for a person, on the page of agents and of the node: seen, approved, refused."""

import pytest
from django.test import Client

from apps.fleet.actions.trust import TrustMatter, raise_trust_incident
from apps.fleet.models import NodeCeiling, TrustIncident, TrustKind, WaitingNode
from tests.apps.console.people import signed_in
from tests.apps.fleet.test_joining import NOON, join_token
from tests.make import make_cluster, make_node, make_organisation, make_pool
from tests.rest import with_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def node_id() -> int:
    """A node with a growth and a contradiction, and a machine that waits."""
    make_organisation()
    pool = make_pool("h100", cluster_id=make_cluster("atlas"))
    join_token(pool_id=pool, most_nodes=1)
    node = make_node("gpu-01", pool_id=pool)
    token = WaitingNode._meta.get_field("join_token").related_model.objects.get()
    WaitingNode.objects.create(join_token=token, name="gpu-99", first_at=NOON, last_at=NOON)
    growth = TrustMatter(TrustKind.DEVICES, "1016 GPUs wait", node, None, 8, 1024)
    raise_trust_incident(matter=growth, at=NOON)
    raise_trust_incident(matter=TrustMatter(TrustKind.JOB, "job <b>7", node), at=NOON)
    waiting = TrustMatter(TrustKind.NODES, "gpu-99 waits", None, token.id, 1, 2)
    raise_trust_incident(matter=waiting, at=NOON)
    return node


def confirmed(client: Client, path: str) -> str:
    """Look, then confirm what was shown; the page that was shown."""
    shown = client.get(path)
    assert shown.status_code == 200
    text = shown.content.decode()
    seen = text.split('name="seen" value="', 1)[1].split('"', 1)[0]
    assert client.post(path, {"seen": seen}).status_code in (200, 302, 303)
    return text


def test_the_pages_show_what_waits_and_take_a_decision(node_id: int) -> None:
    client = signed_in("platform")
    agents = client.get("/fleet/agents").content.decode()
    for text in (
        "gpu-99",
        "1016 GPUs wait",
        "More GPUs than the machine can have",
        "job &lt;b&gt;7",
    ):
        assert text in agents
    for path in (f"/fleet/nodes/{node_id}", "/fleet/incidents"):
        assert "1016 GPUs wait" in client.get(path).content.decode()
    growth = TrustIncident.objects.get(kind=TrustKind.DEVICES)
    text = confirmed(client, f"/fleet/agents/trust/{growth.id}/approve")
    assert "may have 1,024 from now on" in text
    assert NodeCeiling.objects.get().most == 1024
    waiting = WaitingNode.objects.get()
    confirmed(client, f"/fleet/agents/waiting/{waiting.id}/refuse")
    assert not TrustIncident.objects.filter(kind=TrustKind.NODES, decided_at=None).exists()
    client.get("/fleet/agents")  # says once what was done
    assert "gpu-99" not in client.get("/fleet/agents").content.decode()
    for name in ("trust", "waiting-nodes"):
        assert client.get(f"/fleet/agents.csv?table={name}").status_code == 200


def test_the_lists_over_rest_name_the_node_the_cluster_and_the_token(node_id: int) -> None:
    rest = with_token("manage")
    (waiting,) = rest.get("waiting-nodes").json()["results"]
    assert waiting["cluster"]["name"] == "atlas"
    matters = {row["kind"]: row for row in rest.get("trust-incidents").json()["results"]}
    assert matters["devices_waiting"]["node"] == {"id": node_id, "name": "gpu-01"}
    assert matters["nodes_waiting"]["node"] is None
    assert matters["nodes_waiting"]["join_token"]["id"] == waiting["join_token"]["id"]


def test_who_does_not_see_everything_sees_nothing_of_it(node_id: int) -> None:
    client = signed_in("viewer")
    assert "gpu-99" not in client.get("/fleet/agents").content.decode()
    assert client.get("/fleet/agents.csv?table=waiting-nodes").status_code == 404
