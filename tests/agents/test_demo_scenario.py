"""The shipped demo week: the same on every run, and with everything it is there to show."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

import pytest

from runrate_agent.batch import MAX_WINDOWS
from runrate_agent.simulation.job_events import Clock, events_of
from runrate_agent.simulation.scenario import claims_by_device, scenario_named
from runrate_agent.simulation.windows import NodeWatch

DEMO = scenario_named("demo")
CLAIMS = claims_by_device(DEMO)
HOUR_MS = 3_600_000
HOURS = 7 * 24
SOME_MIDNIGHT_MS = 1_795_046_400_000  # 2026-11-19T00:00:00Z
OF_EACH_KIND = ("harbor-mig-01", "harbor-l4-01", "atlas-spot-01")
KNOWN_KEYS = {job.identity.holder for job in DEMO.jobs}


@dataclass
class Seen:
    """What a server would know of one node after the week, by hour of the scenario."""

    windows_by_hour: Counter = field(default_factory=Counter)
    worked_seconds_by_key: Counter = field(default_factory=Counter)
    hours_by_key: dict[str, set] = field(default_factory=dict)
    observed: set = field(default_factory=set)


def batches_of(name: str, starts_at_ms: int = SOME_MIDNIGHT_MS):
    watch = NodeWatch(DEMO, DEMO.nodes[name], CLAIMS, starts_at_ms)
    return list(watch.batches(boot_ms=1, version="0.1.0"))


@cache
def seen_on(name: str) -> Seen:
    seen = Seen()
    for batch in batches_of(name):
        windows = batch.windows
        for holder, start, worked, observed in zip(
            windows.holder,
            windows.starts_at_ms,
            windows.worked_seconds,
            windows.observed_seconds,
            strict=True,
        ):
            hour, key = (start - SOME_MIDNIGHT_MS) // HOUR_MS, batch.holders[holder]
            seen.windows_by_hour[hour] += 1
            seen.worked_seconds_by_key[key] += worked
            seen.hours_by_key.setdefault(key, set()).add(hour)
            seen.observed.add(observed)
    return seen


def fingerprint(names: Iterable[str], starts_at_ms: int) -> tuple[int, str]:
    """The number of windows and a digest of every value but the date."""
    digest, count = hashlib.sha256(), 0
    for name in names:
        for batch in batches_of(name, starts_at_ms):
            count += len(batch.windows)
            windows = batch.payload(sent_at_ms=0)["windows"]
            windows["starts_at_ms"] = [each - starts_at_ms for each in windows["starts_at_ms"]]
            digest.update(json.dumps([windows, batch.holders]).encode())
    return count, digest.hexdigest()


def jobs_named(name: str):
    return [job for job in DEMO.jobs if job.identity.name == name]


of_some_nodes_or_all = pytest.mark.parametrize(
    "names",
    [OF_EACH_KIND, pytest.param(tuple(DEMO.nodes), marks=pytest.mark.proof)],
    ids=["one of each kind", "all"],
)


@of_some_nodes_or_all
def test_the_week_is_the_same_whenever_it_ends(names):
    summer = SOME_MIDNIGHT_MS - 150 * 24 * HOUR_MS - 7 * HOUR_MS

    assert fingerprint(names, SOME_MIDNIGHT_MS) == fingerprint(names, summer)


def test_the_week_is_the_same_job_by_job():
    def told(starts_at_ms: int) -> list[tuple]:
        events = [each for some in events_of(DEMO, Clock(starts_at_ms)).values() for each in some]
        return [(each.cluster, each.raw_id, each.event, each.allocations) for each in events]

    assert told(SOME_MIDNIGHT_MS) == told(SOME_MIDNIGHT_MS + 77 * HOUR_MS)


def test_the_fleet_is_two_clusters_of_13_nodes_and_84_gpus():
    gpus = [each for node in DEMO.nodes.values() for each in node.records if not each.is_slice]

    assert DEMO.clusters == {"atlas": "slurm", "harbor": "kubernetes"}
    assert len(DEMO.nodes) == 13
    assert len(gpus) == 84
    assert len({each.uuid for each in gpus}) == 84


@of_some_nodes_or_all
def test_no_batch_is_over_its_limit_and_sequences_have_no_holes(names):
    for name in names:
        batches = batches_of(name)
        assert max(len(batch.windows) for batch in batches) <= MAX_WINDOWS
        assert [batch.stamp.sequence for batch in batches] == list(range(len(batches)))


def test_a_mig_geometry_leaves_a_rest_that_nobody_can_have():
    node = DEMO.nodes["harbor-mig-01"]
    slices = [each for each in node.records if each.parent == node.records[0].uuid]

    assert [each.profile for each in slices] == ["3g.40gb", "2g.20gb", "1g.10gb"]
    assert sum(each.compute_slices for each in slices) == 6
    assert sum(each.memory_slices for each in slices) == 7


def test_time_slices_have_several_holders_and_a_reading_of_their_own():
    node = DEMO.nodes["harbor-l4-01"]
    seen = seen_on("harbor-l4-01")

    assert {each.replicas for each in node.records} == {4}
    assert {"", "kubernetes/harbor/chat-serving", "kubernetes/harbor/rerank"} <= set(
        seen.hours_by_key
    )


def test_serving_follows_day_and_night():
    worked = Counter()
    for batch in batches_of("harbor-a10g-02"):
        for start, seconds in zip(
            batch.windows.starts_at_ms, batch.windows.worked_seconds, strict=True
        ):
            worked[(start - SOME_MIDNIGHT_MS) // HOUR_MS % 24] += seconds

    assert worked[16] > 4 * worked[4]


def test_a_reclaimed_spot_node_falls_silent_and_its_job_begins_again_elsewhere():
    before, after = jobs_named("embed-batch")

    assert DEMO.nodes["atlas-spot-01"].ended_minute == 83.75 * 60
    assert max(seen_on("atlas-spot-01").windows_by_hour) == 83
    assert (before.state, before.identity.restart_count) == ("NODE_FAIL", 0)
    assert before.ended_minute == 83.75 * 60
    assert (after.identity.raw_id, after.identity.restart_count) == (before.identity.raw_id, 1)
    assert after.places[0].node.name == "atlas-spot-02"
    assert after.started_minute > before.ended_minute


def test_a_node_goes_silent_while_its_job_goes_on():
    seen = seen_on("atlas-h100-02")
    (job,) = [each for each in jobs_named("pretrain-7b") if each.started_minute < 30 * 60]

    assert set(range(HOURS)) - set(seen.windows_by_hour) == {30, 31, 32, 33, 34, 35}
    assert job.ended_minute > 37 * 60


def test_a_busy_agent_sees_half_of_each_minute():
    assert seen_on("atlas-h100-03").observed == {None, 30.0}


def test_a_node_is_rented_for_some_days_only():
    assert set(seen_on("atlas-h100-05").windows_by_hour) == set(range(40, 112))


def test_holders_hold_and_do_nothing():
    seen = seen_on("harbor-mig-01")

    assert seen.worked_seconds_by_key["kubernetes/harbor/nb-otto"] == 0
    assert len(seen.hours_by_key["kubernetes/harbor/nb-otto"]) == HOURS - 11
    assert seen.worked_seconds_by_key["kubernetes/harbor/nb-omar"] > 0


def test_training_starves_for_data():
    seen = seen_on("atlas-h100-04")
    (job, _) = jobs_named("vlm-pilot")
    held_seconds = 4 * (60 + 48) * 3600

    assert job.load.sm_ratio < 0.4
    ratio = (
        seen.worked_seconds_by_key["slurm/atlas/4910"]
        + seen.worked_seconds_by_key["slurm/atlas/4911"]
    ) / held_seconds
    assert ratio == pytest.approx(0.4, abs=0.02)


def test_two_jobs_claim_one_gpu_as_a_whole():
    (sweep,) = jobs_named("ranker-sweep")
    hours_by_key = seen_on("atlas-h100-04").hours_by_key
    device = sweep.places[0].devices[0].record

    assert device.replicas is None
    assert {"4901", "4950"} <= {claim.job.identity.raw_id for claim in CLAIMS[device.uuid]}
    assert hours_by_key["slurm/atlas/4950"] == set(range(70, 76))
    assert hours_by_key["slurm/atlas/4901"] >= set(range(70, 76))


def test_work_goes_on_under_a_key_that_no_job_explains():
    seen = seen_on("atlas-h100-03")

    assert "slurm/atlas/31337" not in KNOWN_KEYS
    assert seen.worked_seconds_by_key["slurm/atlas/31337"] > 3600


def test_work_goes_on_that_nobody_knows_anything_of():
    assert seen_on("atlas-h100-04").worked_seconds_by_key[""] > 3600


def test_a_job_works_on_a_gpu_it_was_not_given():
    (stray,) = [each for each in DEMO.processes if each.holder == "slurm/atlas/4900"]
    device = stray.place.devices[0].record.uuid

    assert "slurm/atlas/4900" in KNOWN_KEYS
    assert all(claim.job.identity.raw_id != "4900" for claim in CLAIMS[device])


def test_some_jobs_do_not_say_which_gpus_they_got():
    assert {job.identity.name for job in DEMO.jobs if not job.is_pinned} == {"eval"}


def test_someone_works_for_an_account_that_nobody_owns():
    (job,) = jobs_named("side-project")

    assert job.identity.account == "skunkworks"


def test_a_job_waits_and_services_run_on():
    assert [job.identity.name for job in DEMO.jobs if job.is_pending] == ["pretrain-13b"]
    assert {job.identity.name for job in DEMO.jobs if job.ended_minute is None} >= {
        "chat-serving",
        "pretrain-7b",
    }


def test_the_weeks_before_are_of_the_same_machines_and_other_jobs():
    history = scenario_named("history")

    assert history.minutes == 12 * 7 * 24 * 60
    same = DEMO.nodes.keys() & history.nodes.keys()
    assert len(same) == 12
    for name in same:
        assert history.nodes[name].records == DEMO.nodes[name].records
        assert history.nodes[name].ended_minute == history.minutes, "it goes on in the last week"
    ids = {(job.identity.cluster, job.identity.raw_id) for job in history.jobs}
    assert not ids & {(job.identity.cluster, job.identity.raw_id) for job in DEMO.jobs}
    assert {len(job.places) * 8 for job in history.jobs if job.identity.name == "pretrain-7b"} == {
        8, 16, 24,
    }  # fmt: skip
