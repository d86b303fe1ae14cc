"""What was put on record wrongly of pools and nodes, corrected for all of its time."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Sum

from apps.fleet import actions as fleet
from apps.fleet.models import Node, Pool
from apps.fleet.queries.agent_reports import disagreements
from apps.ledger.models import Line
from apps.ledger.queries.tables import rows
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.scene import HOUR, LATER, TEN

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def price(gpu_model: str, amount: str) -> None:
    scene.make_rate(
        None, Decimal(amount), provider="aws", gpu_model=gpu_model, starts_at=TEN - HOUR
    )


def test_a_corrected_pool_is_charged_and_owned_anew_and_keeps_what_was_said_before() -> None:
    research = make.make_team("Research")
    pool_id = make.make_pool("h100", instance_type="", gpu_model="H100")
    price("H100", "8")
    price("H200", "10")
    make.make_node("gpu-01", pool_id=pool_id, started_at=TEN, at=LATER)
    scene.settle_all()
    assert spent() == {(scene.platform(), 8_000_000)}
    call_command("correct_pool", "h100", "--gpu-model", "H200", "--owner-team", "Research")
    scene.settle_all()
    assert spent() == {(research, 10_000_000)}
    history = rows("SELECT gpu_model, owner_team_id FROM fleet_poolevent ORDER BY pgh_id", {})
    assert list(history) == [("H100", None), ("H200", research)]
    call_command("correct_pool", "h100", "--owner-team", "-")
    assert Pool.objects.get().owner_team_id is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": "other"}, "the name of a pool cannot be corrected"),
        ({"purchase_option": "leased"}, "'leased' is none of"),
        ({"provider": ""}, "a pool has a provider"),
        ({"gpu_model": "H100"}, "on record of h100 already"),
        ({}, "on record of h100 already"),
    ],
)
def test_what_cannot_be_corrected_says_why(changes: dict[str, object], why: str) -> None:
    pool_id = make.make_pool("h100", gpu_model="H100")
    with pytest.raises((fleet.NotCorrectable, fleet.NothingToCorrect), match=why):
        fleet.correct_pool(pool_id=pool_id, changes=changes, at=LATER)


def test_nodes_come_with_what_their_provider_calls_them_and_it_can_be_corrected() -> None:
    make.make_pool("h100")
    begins = (TEN - timedelta(days=1)).isoformat()
    call_command("add_nodes", "h100", "gpu-01", "--from", begins, "--provider-id", "i-0abc1234")
    call_command(
        "add_nodes", "h100", "gpu-02", "gpu-03", "--from", begins, "--provider-id", "gpu-03=i-3"
    )
    assert dict(Node.objects.values_list("name", "provider_id")) == {
        "gpu-01": "i-0abc1234", "gpu-02": "", "gpu-03": "i-3",
    }  # fmt: skip
    with pytest.raises(CommandError, match="NAME=ID"):
        call_command("add_nodes", "h100", "a", "b", "--from", begins, "--provider-id", "i-0abc1234")
    call_command("correct_node", "gpu-02", "--provider-id", "aws:///us-east-1a/i-02")
    assert Node.objects.get(name="gpu-02").provider_id == "aws:///us-east-1a/i-02"
    with pytest.raises(CommandError, match="already"):
        call_command("correct_node", "gpu-02", "--provider-id", "aws:///us-east-1a/i-02")
    with pytest.raises(CommandError, match="no node was called"):
        call_command("correct_node", "gpu-09", "--provider-id", "i-9")


def test_an_agent_and_the_record_may_spell_one_machine_differently() -> None:
    node_id = make.make_node("gpu-01", provider_id="aws:///us-east-1a/i-0abc1234")
    agent_id = make.make_agent(node_id=node_id)
    said = fleet.ReportedStatus(boot=1, sequence=1, provider_id="i-0abc1234")
    fleet.note_status(agent_id=agent_id, status=said, at=LATER)
    assert disagreements() == []
    other = fleet.ReportedStatus(boot=1, sequence=2, provider_id="i-0fff1234")
    fleet.note_status(agent_id=agent_id, status=other, at=LATER)
    assert [each.told for each in disagreements()] == ["i-0fff1234"]


def spent() -> set[tuple[int, int]]:
    """Each team's sum of the hour."""
    sums = Line.objects.filter(hour=TEN).values_list("team_id").annotate(Sum("effective_micros"))
    return set(sums)
