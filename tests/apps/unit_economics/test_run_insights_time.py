"""Where the time of runs went is told with what it cost, and with what held it up where that shows."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from apps.economics.run_time import Bucket
from apps.unit_economics.queries.runs.bottlenecks import (
    run_time_breakdown,
    threshold_of,
    workload_time_breakdown,
)
from apps.unit_economics.queries.runs.causes import Resource
from tests.apps.unit_economics.planted_runs import (
    HOUR,
    MICROS,
    TEN,
    WEEK,
    make_programme,
    plant_counters,
    plant_day,
    plant_hour,
    plant_node,
    plant_run,
)

pytestmark = pytest.mark.django_db


def starved(workload_id: int | None, key: str = "slow") -> tuple[int, int]:
    """Ten hours of 64 GPUs at $2.50, 3/20 of them waiting for data; the run and its job."""
    run_id = plant_run(key, workload_id)
    job_id = plant_day(run_id, {Bucket.PRODUCTIVE: 544, Bucket.DATA_WAIT: 96})
    plant_hour(run_id, job_id, {Bucket.PRODUCTIVE: 40, Bucket.DATA_WAIT: 20})
    plant_hour(run_id, job_id, {Bucket.PRODUCTIVE: 60}, TEN + HOUR)
    return run_id, job_id


def test_a_run_that_waits_for_data_is_starved_and_that_cost_240_dollars() -> None:
    run_id, _ = starved(make_programme())

    told = run_time_breakdown(run_id)

    assert told.micros == 1600 * MICROS
    assert told.told_ratio == 1
    (verdict,) = told.verdicts
    assert (verdict.name, verdict.share, verdict.micros) == ("Starved", 0.15, 240 * MICROS)
    assert threshold_of(Bucket.DATA_WAIT) == 0.1
    with override_settings(VERDICT_SHARES={"data_wait": 0.16}):
        assert run_time_breakdown(run_id).verdicts == ()
    assert told.words == verdict.words == "Starved: 15\xa0% of GPU time waits for data; $240."
    assert (verdict.causes, verdict.is_seen) == ((), False)


def test_disks_that_stall_while_gpus_wait_are_named() -> None:
    run_id, job_id = starved(make_programme())
    node_id = plant_node(job_id)
    plant_node(job_id, "gpu-02", hours=1, io_stalled_seconds=1800.0, cpu_stalled_seconds=60.0)
    # In the hour in which it did not wait, its CPU was busy: that says nothing of the wait.
    plant_counters(node_id, TEN + HOUR, cpu_stalled_seconds=3600.0)

    (verdict,) = run_time_breakdown(run_id).verdicts

    assert verdict.is_seen
    assert [(each.resource, each.ratio) for each in verdict.causes] == [(Resource.STORAGE, 0.5)]
    assert verdict.words.endswith(
        "; storage: in 50\xa0% of that time some task of the node waited for disks."
    )


def test_a_flow_at_the_most_that_the_node_ever_moved_is_named_and_a_trickle_is_not() -> None:
    run_id, job_id = starved(make_programme())
    node_id = plant_node(job_id, hours=1, network_bytes=9e8 * 3600, network_peak=1e9)
    plant_counters(node_id, TEN - 9 * HOUR, network_bytes=0.0, network_peak=1.0e9)

    (verdict,) = run_time_breakdown(run_id).verdicts

    assert [each.resource for each in verdict.causes] == [Resource.NETWORK]
    assert verdict.causes[0].words == (
        "network: each node moved 900MB/s, 90\xa0% of the most it was ever seen to"
    )


def test_a_flow_far_below_what_the_node_once_moved_is_no_cause() -> None:
    run_id, job_id = starved(make_programme())
    node_id = plant_node(
        job_id,
        hours=1,
        network_bytes=9e8 * 3600,
        network_peak=1e9,
        disk_read_bytes=3600.0,
        disk_written_bytes=0.0,
        disk_peak=1.0,
    )
    plant_counters(node_id, TEN - 5 * 24 * HOUR, network_bytes=0.0, network_peak=5e9)

    (verdict,) = run_time_breakdown(run_id).verdicts

    assert (verdict.causes, verdict.is_seen) == ((), True)


def test_fabric_is_looked_at_for_communication_alone() -> None:
    run_id = plant_run("wide", make_programme())
    job_id = plant_day(run_id, {Bucket.PRODUCTIVE: 70, Bucket.COMMUNICATION: 30})
    plant_hour(run_id, job_id, {Bucket.PRODUCTIVE: 42, Bucket.COMMUNICATION: 18})
    plant_node(
        job_id,
        hours=1,
        fabric_bytes=4.5e10 * 3600,
        fabric_peak=5e10,
        io_stalled_seconds=3600.0,
    )

    (verdict,) = run_time_breakdown(run_id).verdicts

    assert verdict.name == "Waiting for each other"
    assert [each.resource for each in verdict.causes] == [Resource.FABRIC]


USED_UP: dict[Bucket, tuple[dict[str, float], Resource]] = {
    Bucket.DATA_WAIT: ({"cpu_stalled_seconds": 3600.0}, Resource.CPU),
    Bucket.COMMUNICATION: (
        {"fabric_bytes": 4.5e10 * 3600, "fabric_peak": 5e10},
        Resource.FABRIC,
    ),
    Bucket.CHECKPOINT: ({"io_stalled_seconds": 3600.0}, Resource.STORAGE),
}
"""What a node's counters tell in an hour of each, and what was used up then."""


@pytest.mark.parametrize("buckets", [[Bucket.DATA_WAIT], list(USED_UP)])
def test_however_many_findings_their_nodes_are_asked_once(buckets: list[Bucket]) -> None:
    run_id = plant_run("slow", make_programme())
    job_id = plant_day(run_id, {Bucket.PRODUCTIVE: 10} | dict.fromkeys(buckets, 30))
    node_id = plant_node(job_id, hours=len(buckets))
    for place, bucket in enumerate(buckets):
        hour = TEN + place * HOUR
        plant_hour(run_id, job_id, {Bucket.PRODUCTIVE: 30, bucket: 30}, hour)
        plant_counters(node_id, hour, **USED_UP[bucket][0])

    with CaptureQueriesContext(connection) as asked:
        verdicts = run_time_breakdown(run_id).verdicts

    causes = {each.bucket: [cause.resource for cause in each.causes] for each in verdicts}
    assert causes == {bucket: [USED_UP[bucket][1]] for bucket in buckets}
    nodes = ("workloads_runhour", "telemetry_nodehour")
    of_nodes = [each for each in asked if any(name in each["sql"] for name in nodes)]
    assert len(of_nodes) == len(nodes)


def test_time_that_nobody_told_of_is_never_guessed() -> None:
    run_id = plant_run("silent", make_programme())
    plant_day(run_id, {Bucket.UNTOLD: 60, Bucket.DATA_WAIT: 40})

    told = run_time_breakdown(run_id)

    assert told.verdicts == ()
    assert told.told_ratio == 0.4
    assert (
        told.words == "Not reported: of 60\xa0% of GPU time it is not known what it was spent on."
    )
    assert [(part.bucket, part.share) for part in told.parts] == [
        (Bucket.DATA_WAIT, 1.0),
        (Bucket.UNTOLD, None),
    ]


def test_shares_are_of_what_was_told_and_the_dearest_finding_comes_first() -> None:
    workload_id = make_programme()
    run_id = plant_run("one", workload_id)
    told = {Bucket.PRODUCTIVE: 60, Bucket.DATA_WAIT: 10, Bucket.LOST: 30, Bucket.UNTOLD: 20}
    plant_day(run_id, told)
    starved(workload_id, "two")
    plant_day(plant_run("of another", make_programme("other")), {Bucket.FAILED: 500})
    plant_day(run_id, {Bucket.FAILED: 900}, day=WEEK.end_day)

    found = workload_time_breakdown(workload_id, window=WEEK)

    assert sum(part.unit_milliseconds for part in found.parts) == found.unit_milliseconds
    assert sum(part.micros or 0 for part in found.parts) == found.micros == 1900 * MICROS
    assert [verdict.bucket for verdict in found.verdicts] == [Bucket.DATA_WAIT]
    assert found.verdicts[0].share == pytest.approx(106 / 740)
    alone = run_time_breakdown(run_id, window=WEEK)
    assert [verdict.bucket for verdict in alone.verdicts] == [Bucket.LOST, Bucket.DATA_WAIT]


def test_what_has_no_price_is_told_in_gpu_hours() -> None:
    run_id = plant_run("unpriced", make_programme())
    plant_day(run_id, {Bucket.PRODUCTIVE: 80, Bucket.STARTUP: 20}, price=None)

    told = run_time_breakdown(run_id)

    assert told.micros is None
    assert told.words == (
        "Slow to start: 20\xa0% of GPU time passes before the first step; "
        "20.0 GPU-hours without a price."
    )


def test_a_run_in_order_has_no_verdict_and_one_without_time_none_either() -> None:
    workload_id = make_programme()
    run_id = plant_run("fine", workload_id)
    assert run_time_breakdown(run_id).words == "No GPU time was charged in this time."
    plant_day(run_id, {Bucket.PRODUCTIVE: 97, Bucket.CHECKPOINT: 3})

    told = workload_time_breakdown(workload_id, window=WEEK)

    assert told.verdicts == ()
    assert told.words == "Nothing stands out: 97\xa0% of GPU time trains."


def test_a_node_hour_is_looked_at_once_however_many_jobs_shared_it() -> None:
    workload_id = make_programme()
    run_id, job_id = starved(workload_id)
    plant_node(job_id, hours=1, io_stalled_seconds=1440.0)
    other = plant_day(run_id, {Bucket.PRODUCTIVE: 1}, day=WEEK.first_day + timedelta(days=1))
    plant_hour(run_id, other, {Bucket.DATA_WAIT: 30}, TEN)

    (verdict,) = run_time_breakdown(run_id).verdicts

    assert [each.ratio for each in verdict.causes] == [0.4]


def test_the_week_that_is_under_way_is_called_this_week() -> None:
    run_id = plant_run("starved", make_programme())
    plant_day(run_id, {Bucket.PRODUCTIVE: 1796, Bucket.DATA_WAIT: 1248})
    assert run_time_breakdown(run_id, window=WEEK).words == (
        "Starved: 41\xa0% of GPU time waits for data; $3,120 this week."
    )


@pytest.mark.parametrize(
    ("counter", "seconds", "named"),
    [
        ("cpu_stalled_seconds", 1800.0, [Resource.CPU]),
        ("cpu_stalled_seconds", 1200.0, []),
        ("memory_stalled_seconds", 720.0, [Resource.MEMORY]),
        ("io_stalled_seconds", 720.0, []),
    ],
)
def test_each_resource_has_its_own_mark(
    counter: str, seconds: float, named: list[Resource]
) -> None:
    run_id, job_id = starved(make_programme())
    plant_node(job_id, hours=1, **{counter: seconds})
    (verdict,) = run_time_breakdown(run_id).verdicts
    assert [each.resource for each in verdict.causes] == named
    assert verdict.is_seen
