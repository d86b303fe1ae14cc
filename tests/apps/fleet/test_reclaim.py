"""A cloud takes a node back; what an agent tells of its node is listed where it differs."""

from datetime import timedelta

import pytest

from apps.fleet import actions, queries
from apps.fleet.models import Agent, Device, Node, Pool
from apps.marks.models import ChangedHour, ChangedRange
from apps.marks.queries import Pass
from tests.make import NOON, make_agent, make_device, make_node

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def node_id() -> int:
    """A node of an hour, with no mark left from its beginning."""
    made = make_node(provider_id="i-0abc")
    ChangedHour.objects.all().delete()
    ChangedRange.objects.all().delete()
    return made


def marked() -> set[tuple[int, int, int]]:
    rows = ChangedHour.objects.values_list("pass_id", "unit", "hour")
    return {(pass_id, unit, int((hour - NOON) / HOUR)) for pass_id, unit, hour in rows}


def told(**given: str) -> None:
    agent_id = Agent.objects.get().id
    status = actions.ReportedStatus(boot=1, sequence=1, **given)
    actions.note_status(agent_id=agent_id, status=status, at=NOON)


def test_a_node_ends_with_its_gpus_when_its_cloud_says_and_the_hour_is_done_again(node_id: int):
    make_device(node_id=node_id)
    at = NOON + timedelta(minutes=40)
    assert actions.reclaim_node(node_id=node_id, ended_at=at + timedelta(minutes=2), at=at)
    node, device = Node.objects.get(), Device.objects.get()
    assert (node.end_reason, node.period.upper) == ("reclaimed", at + timedelta(minutes=2))
    assert device.period.upper == node.period.upper
    assert marked() >= {(int(Pass.CHARGE), 0, 0), (int(Pass.SPLIT), node_id, 0)}


def test_a_notice_that_comes_late_marks_every_hour_since(node_id: int):
    actions.reclaim_node(node_id=node_id, ended_at=NOON + HOUR, at=NOON + 3 * HOUR)
    assert {hour for pass_id, _, hour in marked() if pass_id == Pass.CHARGE} == {1, 2, 3}


def test_a_node_that_ended_before_stays_as_it_ended(node_id: int):
    ended_at = NOON + HOUR
    actions.end_node(node_id=node_id, ended_at=ended_at, reason="sold", at=ended_at)
    at = NOON + 2 * HOUR
    assert not actions.reclaim_node(node_id=node_id, ended_at=at, at=at)
    assert (Node.objects.get().end_reason, Node.objects.get().period.upper) == ("sold", ended_at)


def test_a_notice_from_before_a_node_began_is_not_its_own(node_id: int):
    assert not actions.reclaim_node(node_id=node_id, ended_at=NOON - HOUR, at=NOON)
    assert Node.objects.get().period.upper is None


def test_an_agent_that_speaks_on_after_the_end_un_ends_nothing(node_id: int):
    make_agent(node_id=node_id)
    ended_at = NOON + HOUR
    actions.reclaim_node(node_id=node_id, ended_at=ended_at, at=ended_at)
    Agent.objects.update(last_seen_at=ended_at + HOUR)
    (state,) = queries.agent_states([node_id])
    assert (state.node_ended_at, state.last_seen_at) == (ended_at, ended_at + HOUR)
    assert Node.objects.get().period.upper == ended_at


def test_what_an_agent_says_otherwise_is_listed_and_prices_stay(node_id: int):
    make_agent(node_id=node_id)
    told(
        purchase_option="spot",
        instance_type="p5.48xlarge",
        region="eu-north-1",
        provider_id="i-0def",
    )
    assert [(each.field, each.told, each.recorded) for each in queries.disagreements()] == [
        ("provider_id", "i-0def", "i-0abc"),
        ("purchase_option", "spot", "on_demand"),
        ("region", "eu-north-1", "us-east-1"),
    ]
    assert Pool.objects.get().purchase_option == "on_demand"


def test_what_either_side_leaves_open_is_no_disagreement(node_id: int):
    make_agent(node_id=node_id)
    Pool.objects.update(region="")
    told(region="eu-north-1", purchase_option="on_demand")
    assert queries.disagreements() == []


def test_an_agent_that_never_reported_has_no_state_of_its_own(node_id: int):
    make_agent(node_id=node_id)
    (state,) = queries.agent_states()
    assert (state.state, state.at, state.spool_batches, state.problems) == ("", None, None, ())
    assert queries.agent_states([node_id + 1]) == []
