"""Clusters, pools, nodes and outages: how they come and go, and what that marks."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.fleet import actions, queries
from apps.fleet.queries import CapacitySpan
from apps.marks.actions import expand_ranges
from apps.marks.models import ChangedHour, ChangedRange
from apps.marks.queries import Pass
from tests.make import NOON, make_agent, make_cluster, make_device, make_node, make_pool, make_team

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def marked(pass_: Pass) -> list[tuple[int, int]]:
    """(unit, hours after noon) of every mark."""
    rows = ChangedHour.objects.filter(pass_id=pass_).order_by("unit", "hour")
    return [(row.unit, int((row.hour - NOON) / HOUR)) for row in rows]


def outage(node_id: int, **given):
    values = {"kind": "down", "starts_at": NOON + HOUR, "ends_at": NOON + 2 * HOUR}
    return actions.NewOutage(node_id=node_id, **values | given)


def test_a_node_is_charged_from_its_start_to_now() -> None:
    make_node(started_at=NOON - timedelta(minutes=90))
    assert marked(Pass.CHARGE) == [(0, -2), (0, -1)]
    # What is charged is then marked for the split by the charge pass.
    assert marked(Pass.SPLIT) == []


def test_a_node_that_started_long_ago_is_one_range() -> None:
    make_node(started_at=NOON - 30 * DAY)
    assert ChangedHour.objects.count() == 0
    ranges = ChangedRange.objects.order_by("pass_id").values_list("pass_id", flat=True)
    assert list(ranges) == [Pass.CHARGE, Pass.BILLS]


def test_of_a_history_only_the_hours_that_nodes_lived_are_marked() -> None:
    then = datetime(2016, 10, 3, tzinfo=UTC)
    pool = make_pool()
    for number in range(104):
        name = f"gpu-{number:03}"
        make_node(name, pool_id=pool, started_at=then, ended_at=then + 31 * DAY)

    while expand_ranges():
        pass

    counts = [ChangedHour.objects.filter(pass_id=each).count() for each in Pass]
    assert counts == [744 if each in {Pass.CHARGE, Pass.BILLS} else 0 for each in Pass]
    assert {unit for unit, _ in marked(Pass.CHARGE)} == {0}
    lived = queries.nodes_alive_between(then + 30 * DAY, NOON)
    assert {each.lived_to for each in lived} == {then + 31 * DAY}
    assert len(lived) == 104


def test_an_earlier_life_is_added_after_a_later_one_with_its_end() -> None:
    pool = make_pool()
    later = make_node(pool_id=pool)
    with pytest.raises(actions.NodeNameTaken, match="needs an end by then"):
        make_node(pool_id=pool, started_at=NOON - 9 * DAY)
    earlier = make_node(pool_id=pool, started_at=NOON - 9 * DAY, ended_at=NOON)
    assert queries.nodes_named(None, ["gpu-01"]) == {
        "gpu-01": [(earlier, NOON - 9 * DAY, NOON), (later, NOON, None)]
    }


def test_a_node_is_not_added_with_an_end_before_its_start() -> None:
    with pytest.raises(actions.NodeEndsBeforeItStarts, match="gpu-01"):
        make_node(started_at=NOON, ended_at=NOON)


def test_a_node_that_starts_tomorrow_marks_nothing_yet() -> None:
    make_node(started_at=NOON + DAY)
    assert ChangedHour.objects.count() == ChangedRange.objects.count() == 0


def test_a_name_lives_once_in_a_cluster_at_a_time() -> None:
    atlas = make_cluster("atlas")
    make_node("gpu-01", cluster_id=atlas, pool_id=make_pool("a"))
    with pytest.raises(actions.NodeNameTaken, match="gpu-01"):
        make_node("gpu-01", cluster_id=atlas, pool_id=make_pool("b"))


def test_a_name_may_live_in_two_clusters_and_again_after_its_end() -> None:
    pool = make_pool()
    first = make_node(pool_id=pool, cluster_id=make_cluster("atlas"))
    make_node(pool_id=pool, cluster_id=make_cluster("harbor"))
    actions.end_node(node_id=first, ended_at=NOON + HOUR, reason="sold", at=NOON + HOUR)
    again = make_node(
        pool_id=pool, cluster_id=make_cluster("atlas"), started_at=NOON + HOUR, at=NOON + 2 * HOUR
    )
    assert queries.nodes_named(make_cluster("atlas"), ["gpu-01", "gpu-02"]) == {
        "gpu-01": [(first, NOON, NOON + HOUR), (again, NOON + HOUR, None)]
    }


def test_names_of_nodes_without_a_cluster_are_found_by_none() -> None:
    node = make_node(cluster_id=None)
    assert queries.nodes_named(None, ["gpu-01"]) == {"gpu-01": [(node, NOON, None)]}


def test_an_ended_node_takes_its_devices_capacity_and_outages_with_it() -> None:
    node = make_node()
    make_device(node_id=node)
    actions.record_outage(outage=outage(node, ends_at=None), at=NOON)
    ended = NOON + timedelta(minutes=90)
    actions.end_node(node_id=node, ended_at=ended, reason="reclaimed", at=NOON + 3 * HOUR)
    window = (NOON, NOON + 9 * HOUR)
    (lived,) = queries.nodes_alive_between(*window)
    assert (lived.lived_from, lived.lived_to) == (NOON, ended)
    assert lived.capacity_spans == (CapacitySpan(NOON, ended, 8),)
    assert [each.lived_to for each in queries.devices_alive_between([node], *window)] == [ended]
    assert [each.ends_at for each in queries.outages([node], *window)] == [ended]


def test_an_end_marks_the_hours_the_node_did_not_live_after_all() -> None:
    node = make_node()
    ChangedHour.objects.all().delete()
    actions.end_node(
        node_id=node,
        ended_at=NOON + timedelta(minutes=90),
        reason="reclaimed",
        at=NOON + 3 * HOUR,
    )
    assert marked(Pass.CHARGE) == [(0, 1), (0, 2)]


def test_a_node_ends_once() -> None:
    node = make_node()
    actions.end_node(node_id=node, ended_at=NOON + HOUR, reason="sold", at=NOON + HOUR)
    with pytest.raises(actions.NodeAlreadyEnded, match="13:00"):
        actions.end_node(node_id=node, ended_at=NOON + 2 * HOUR, reason="sold", at=NOON + HOUR)


def test_a_node_does_not_end_before_it_starts() -> None:
    with pytest.raises(actions.NodeEndsBeforeItStarts):
        actions.end_node(node_id=make_node(), ended_at=NOON, reason="sold", at=NOON)


def test_nodes_live_inside_the_span_that_is_asked_for() -> None:
    node = make_node(started_at=NOON + timedelta(minutes=15))
    make_node("gpu-02", started_at=NOON + HOUR)
    (lived,) = queries.nodes_alive_between(NOON, NOON + HOUR)
    assert (lived.id, lived.lived_from, lived.lived_to, lived.units) == (
        node,
        NOON + timedelta(minutes=15),
        NOON + HOUR,
        8,
    )
    assert queries.nodes_alive_between(NOON, NOON + HOUR, node_ids=[]) == []


def test_a_nodes_capacity_changes_at_a_moment() -> None:
    node = make_node()
    ChangedHour.objects.all().delete()
    half_past = NOON + timedelta(minutes=30)
    actions.set_capacity(node_id=node, units=6, from_at=half_past, at=NOON + HOUR)
    (lived,) = queries.nodes_alive_between(NOON, NOON + HOUR)
    assert lived.units == 6
    assert lived.capacity_spans == (
        CapacitySpan(NOON, half_past, 8),
        CapacitySpan(half_past, NOON + HOUR, 6),
    )
    assert marked(Pass.CHARGE) == [(0, 0)]
    assert marked(Pass.SPLIT) == [(node, 0)]


def test_a_capacity_said_again_for_its_first_moment_replaces_it() -> None:
    node = make_node()
    actions.set_capacity(node_id=node, units=4, from_at=NOON, at=NOON)
    assert queries.nodes_alive_between(NOON, NOON + HOUR)[0].capacity_spans == (
        CapacitySpan(NOON, NOON + HOUR, 4),
    )


def test_a_capacity_from_before_the_node_lived_is_refused() -> None:
    with pytest.raises(actions.NodeNotAliveThen):
        actions.set_capacity(node_id=make_node(), units=4, from_at=NOON - HOUR, at=NOON)


def test_an_outage_marks_the_split_of_its_past() -> None:
    node = make_node(at=NOON + 9 * HOUR)
    ChangedHour.objects.all().delete()
    actions.record_outage(outage=outage(node, ends_at=None), at=NOON + 3 * HOUR)
    assert marked(Pass.SPLIT) == [(node, 1), (node, 2)]
    assert marked(Pass.CHARGE) == []


def test_an_outage_that_ends_marks_the_time_it_no_longer_covers() -> None:
    node = make_node(at=NOON)
    down = actions.record_outage(outage=outage(node, ends_at=None), at=NOON)
    ChangedHour.objects.all().delete()
    actions.end_outage(outage_id=down, ended_at=NOON + 2 * HOUR, at=NOON + 4 * HOUR)
    assert marked(Pass.SPLIT) == [(node, 2), (node, 3)]
    (fact,) = queries.outages([node], NOON, NOON + 9 * HOUR)
    assert (fact.starts_at, fact.ends_at) == (NOON + HOUR, NOON + 2 * HOUR)


def test_an_outage_must_take_time_and_name_its_own_device() -> None:
    node, other = make_node("gpu-01"), make_node("gpu-02")
    foreign = make_device(node_id=other)
    with pytest.raises(actions.OutageEndsBeforeItStarts):
        actions.record_outage(outage=outage(node, ends_at=NOON + HOUR), at=NOON)
    with pytest.raises(actions.DeviceOfAnotherNode):
        actions.record_outage(outage=outage(node, device_id=foreign), at=NOON)


def test_a_pool_says_what_it_is_and_comes_with_a_share_policy() -> None:
    team = make_team()
    pool = make_pool("h100", owner_team_id=team, idle_sharing="by_held_time")
    fact = queries.pools()[pool]
    assert (fact.name, fact.instance_type, fact.unit, fact.owner_team_id, fact.idle_sharing) == (
        "h100",
        "p5.48xlarge",
        "gpu",
        team,
        "by_held_time",
    )
    assert queries.share_policies([pool], NOON) == {pool: queries.PolicyFact(1, "largest")}


def test_names_of_pools_and_clusters_are_taken_once() -> None:
    make_pool("h100")
    make_cluster("atlas")
    with pytest.raises(actions.PoolNameTaken, match="h100"):
        make_pool("h100")
    with pytest.raises(actions.ClusterNameTaken, match="atlas"):
        actions.add_cluster(name="atlas", at=NOON)


@pytest.mark.parametrize("name", ["at\u202elas", "<b>atlas", "atlas\n", " ", "a" * 254])
def test_a_cluster_has_a_name_that_can_be_read(name: str) -> None:
    with pytest.raises(actions.ClusterNameOdd) as refused:
        actions.add_cluster(name=name, at=NOON)
    assert refused.value.field == "name"
    with pytest.raises(actions.ClusterNameOdd):
        actions.open_cluster(name=name, at=NOON)


def test_the_fleet_has_lived_since_its_first_node() -> None:
    assert queries.first_node_started_at() is None
    make_node("gpu-01")
    make_node("gpu-02", started_at=NOON - DAY)
    assert queries.first_node_started_at() == NOON - DAY


def test_a_node_goes_silent_six_hours_after_its_last_word() -> None:
    node = make_node()
    agent = make_agent(node_id=node)
    actions.record_heartbeats(agents=[actions.AgentHeartbeat(agent, "0.1.0", 0)], at=NOON + HOUR)
    assert queries.silent_agents(NOON + 7 * HOUR - timedelta(seconds=1)) == []
    (silent,) = queries.silent_agents(NOON + 7 * HOUR)
    assert (silent.node_id, silent.node_name, silent.last_seen_at) == (node, "gpu-01", NOON + HOUR)


def test_silence_never_ends_a_node() -> None:
    node = make_node()
    make_agent(node_id=node)
    assert [each.node_id for each in queries.silent_agents(NOON + 30 * DAY)] == [node]
    assert [each.id for each in queries.nodes_alive_between(NOON + 30 * DAY, NOON + 31 * DAY)] == [
        node
    ]


def test_an_ended_node_may_be_silent() -> None:
    node = make_node()
    make_agent(node_id=node)
    actions.end_node(node_id=node, ended_at=NOON + HOUR, reason="sold", at=NOON + HOUR)
    assert queries.silent_agents(NOON + DAY) == []
