"""What waiting and outages cost: each hour in one part, priced where somebody says what it costs, never zero for unknown."""

from datetime import date, timedelta

import pytest

from apps.economics.hours import HOUR_MS
from apps.economics.run_time import Bucket
from apps.fleet.actions import end_node
from apps.ledger.queries.windows import Window
from apps.planning.queries.waiting_costs import (
    GROUPS,
    TEAM,
    WORKLOAD,
    WaitingCost,
    waiting_costs,
    waiting_facts,
    waiting_total,
)
from apps.unit_economics.queries.time_to_work import first_work
from tests import make
from tests.apps.ledger import scene
from tests.apps.planning.waiting_scene import (
    AT,
    HOUR,
    job,
    outage,
    policy,
    queued_job,
    waiting_world,
)
from tests.apps.unit_economics import run_scene

pytestmark = pytest.mark.django_db

DAY = scene.TEN.date()
WINDOW = Window("", DAY, DAY + timedelta(days=1), "UTC")
GPU_HOUR = 12_290_000
SIX = 6_000_000


@pytest.fixture(scope="module")
def world(of_module: None) -> dict[str, int]:
    return waiting_world()


def total(window: Window = WINDOW) -> WaitingCost:
    return waiting_total(waiting_facts(window, None, AT))


def hours(found: WaitingCost) -> list[float]:
    return [part.milliseconds / HOUR_MS for part in found.parts]


def test_every_hour_is_waited_for_capacity_or_for_an_outage_or_lost(world) -> None:
    found = total()
    assert hours(found) == [8, 4, 4, 8, 0], (
        "Red for capacity, Blue while eight were out; held, and free"
    )
    assert found.waited == 2 * HOUR + (14 * HOUR - 2 * HOUR), "what waits still, to the day's end"
    assert (found.lost_held.micros, found.lost_free.micros) == (4 * GPU_HOUR, 8 * GPU_HOUR)


def test_a_wait_without_a_policy_has_no_price_and_is_not_zero(world) -> None:
    found = total()
    assert found.waits_of_gpus is not None
    assert found.waits_of_gpus.micros is None
    assert found.wait_unpriced_ms == 12 * HOUR_MS
    assert found.micros == 12 * GPU_HOUR, "what is known of it: the outages"
    policy("h100", "pool", str(world["pool"]), "6")
    priced = total()
    assert (priced.for_capacity.micros, priced.for_outages.micros) == (8 * SIX, 4 * SIX)
    assert priced.micros == 12 * GPU_HOUR + 12 * SIX
    assert priced.wait_unpriced_ms == 0


def test_the_most_specific_policy_prices_a_wait_and_of_its_equals_the_least(world) -> None:
    policy("model", "gpu_model", "NVIDIA H100 80GB HBM3", "1")
    assert total().for_capacity.micros == 8_000_000
    policy("pool", "pool", str(world["pool"]), "3")
    policy("pool, dearer", "pool", str(world["pool"]), "4")
    assert total().for_capacity.micros == 24_000_000
    policy("training", "workload_class", "training", "5", (world["pool"],))
    policy("training elsewhere", "workload_class", "training", "2", (make.make_pool("a100"),))
    found = total()
    assert found.for_capacity.micros == 40_000_000, "Red's is of that class"
    assert found.for_outages.micros == 12_000_000, "Blue's is of none, so the pool's"


def test_groups_sum_to_the_whole_and_teams_see_their_own(world) -> None:
    policy("h100", "pool", str(world["pool"]), "6")
    facts = waiting_facts(WINDOW, None, AT)
    whole = waiting_total(facts)
    for by in GROUPS:
        rows = waiting_costs(facts, by)
        assert sum(row.micros or 0 for row in rows) == whole.micros, by
        assert [sum(part) for part in zip(*map(hours, rows), strict=True)] == hours(whole), by
        assert sum((row.waited for row in rows), timedelta(0)) == whole.waited, by
        assert sum(row.jobs for row in rows) == whole.jobs == 3, by
    by_team = {row.of.team_id: row for row in waiting_costs(facts, TEAM)}
    assert hours(by_team[world["red"]]) == [8, 0, 4, 0, 0]
    assert hours(by_team[world["blue"]]) == [0, 4, 0, 0, 0]
    blue = waiting_facts(WINDOW, {world["blue"]}, AT)
    assert hours(waiting_total(blue)) == [0, 4, 0, 0, 0]
    assert blue.outages == (), "none of its GPU time was lost in one"
    (row,) = waiting_costs(blue, WORKLOAD)
    assert (row.of.team_id, row.of.workload_id) == (world["blue"], None)
    assert waiting_facts(WINDOW, {world["grey"]}, AT).is_empty


def test_waits_are_quantiles_of_what_was_submitted_and_what_waits_still_counts(world) -> None:
    found = total()
    assert (found.jobs, found.still_waiting) == (3, 1)
    assert (found.undated_jobs, found.unsized_jobs) == (1, 1)
    assert found.median is not None
    assert found.median.length == HOUR
    assert found.ninth is not None
    assert found.ninth.is_longer, "nobody knows how long the one that waits will"
    (waiting,) = [row for row in first_work(WINDOW, None, AT) if row.is_waiting]
    assert waiting.entered_at == scene.TEN + 2 * HOUR, "the Scorecard knows it too"


def test_a_wait_counts_in_the_window_it_was_in_however_it_began_or_ended(world) -> None:
    night = scene.TEN + 13 * HOUR
    job(
        "5",
        world["first"],
        night,
        gpus=2,
        account="red",
        from_=night + 3 * HOUR,
        to=night + 4 * HOUR,
    )
    queued_job("6", night, account="red", ended_at=night + HOUR)
    after = Window("", DAY + timedelta(days=1), DAY + timedelta(days=2), "UTC")
    assert hours(total()) == [10, 4, 4, 8, 0], "one of three hours is in this day"
    found = total(after)
    assert hours(found) == [4, 0, 0, 0, 0]
    assert found.jobs == 0, "it was submitted before"
    assert found.median is None
    both = Window("", DAY, DAY + timedelta(days=2), "UTC")
    assert hours(total(both)) == [14, 4, 4, 8, 0]
    future = Window("", date(2026, 4, 1), date(2026, 4, 2), "UTC")
    assert waiting_facts(future, None, AT).is_empty


def test_what_is_known_of_no_gpus_is_not_known(world) -> None:
    facts = waiting_facts(WINDOW, {world["red"]}, AT)
    (queued,) = [each for each in facts.waits if each.job_id == world["queued_job"]]
    assert (queued.pool_id, queued.gpus, queued.gpu_span.milliseconds) == (None, None, 0)
    (nowhere,) = [row for row in waiting_costs(facts, "pool") if row.of.pool_id is None]
    assert (nowhere.waits_of_gpus, nowhere.micros) == (None, None)


def test_a_gpus_moment_is_in_one_outage(world) -> None:
    before = total()
    outage(world["second"], scene.TEN + HOUR / 2, scene.TEN + HOUR, kind="maintenance")
    scene.settle(at=AT, ends_at=scene.TEN + 3 * HOUR)
    assert hours(total()) == hours(before)
    facts = waiting_facts(WINDOW, None, AT)
    by_id = {each.outage.id: each for each in facts.outages}
    assert sum(bool(each.stretches) for each in by_id.values()) == 2, (
        "its time is the earlier one's"
    )
    assert by_id[world["outage"]].gpus == 8


def test_of_one_gpu_out_of_eight_one_is_waited_for(world) -> None:
    uuids = scene.make_gpus(world["first"], seen_from=scene.TEN)
    (device_id, *_) = scene.device_ids(uuids)
    at_one = scene.TEN + 3 * HOUR
    outage(world["first"], at_one, at_one + HOUR, device_id=device_id)
    job(
        "7",
        world["second"],
        at_one,
        gpus=4,
        account="blue",
        from_=at_one + HOUR,
        to=at_one + 2 * HOUR,
    )
    assert hours(total())[:2] == [8 + 3, 4 + 1]


def test_work_that_an_outage_made_a_run_do_again_is_in_what_it_cost(world) -> None:
    pool_id, grey = make.make_pool("a100"), world["grey"]
    scene.make_rule("grey", grey)
    half = scene.TEN + HOUR / 2
    node_id = scene.make_priced_node("third", pool_id=pool_id)
    end_node(node_id=node_id, ended_at=scene.TEN + HOUR, reason="", at=AT)
    uuids = scene.make_gpus(node_id)
    for device_id in scene.device_ids(uuids):
        scene.make_usage(device_id, [240] * 30 + [0] * 30)
    job_id = job("8", node_id, scene.TEN, account="grey", uuids=uuids, to=half)
    run_id = run_scene.make_run("llama", (job_id, scene.TEN, half))
    run_scene.tell_when(run_id, job_id, (Bucket.PRODUCTIVE, 0, 15), (Bucket.LOST, 15, 30))
    outage(node_id, half, scene.TEN + HOUR)
    scene.settle(at=AT, ends_at=scene.TEN + HOUR)
    facts = waiting_facts(WINDOW, {grey}, AT)
    (row,) = waiting_costs(facts, WORKLOAD)
    assert hours(row) == [0, 0, 0, 0, 2], "eight GPUs for the last quarter before it"
    assert row.redone.micros == 2 * GPU_HOUR
    assert row.micros == 2 * GPU_HOUR
    (found,) = [each for each in waiting_facts(WINDOW, None, AT).outages if each.node == "third"]
    assert sum(time.milliseconds for time in found.lost.values()) == 4 * HOUR_MS, "held by none"
    assert {owner.job_id for owner in found.redone} == {job_id}
    before = Window("", DAY - timedelta(days=1), DAY, "UTC")
    assert waiting_facts(before, {grey}, AT).is_empty
