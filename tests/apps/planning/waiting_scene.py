"""Two nodes of a pool: jobs that waited for them, and outages of both."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from apps.fleet.actions import NewOutage, record_outage
from apps.planning import actions
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import Job, OwnershipRule
from tests import make
from tests.apps.ledger import scene

HOUR = timedelta(hours=1)
AT = scene.TEN + timedelta(days=3)


def waiting_world() -> dict[str, int]:
    """A pool of two nodes of eight GPUs at 12.29 a GPU-hour, held and out between ten and noon.

    The second node is out until eleven and held by nobody then; the first, which Red's job holds, for half of
    the hour before noon. Red's job waited an hour for eight GPUs before there was any outage, Blue's, below Red, an
    hour for four while eight were out. Noon's job of Red has no time of submission; another never started.
    """
    make.make_organisation()
    pool_id = make.make_pool("h100")
    ids = {"pool": pool_id, "red": make.make_team("Red")}
    ids["blue"] = make.make_team("Blue", parent_id=ids["red"])
    ids["grey"] = make.make_team("Grey")
    ids["train"] = add_workload(name="train", team_id=ids["red"], kind="training")
    scene.make_rate(pool_id)
    for name in ("first", "second"):
        ids[name] = make.make_node(name, pool_id=pool_id, started_at=scene.TEN, at=scene.LATER)
    OwnershipRule.objects.create(
        priority=10,
        account="red",
        team_id=ids["red"],
        workload_id=ids["train"],
        period=(None, None),
    )
    scene.make_rule("blue", ids["blue"])
    ids["red_job"] = job(
        "1", ids["first"], scene.TEN - HOUR, to=scene.TEN + 2 * HOUR, account="red"
    )
    blue = {"account": "blue", "gpus": 4, "from_": scene.TEN + HOUR, "to": scene.TEN + 2 * HOUR}
    ids["blue_job"] = job("2", ids["second"], scene.TEN, **blue)
    noon = {"account": "red", "gpus": 1, "from_": scene.TEN + 2 * HOUR, "to": scene.TEN + 3 * HOUR}
    ids["undated_job"] = job("3", ids["first"], None, **noon)
    ids["queued_job"] = queued_job("4", scene.TEN + 2 * HOUR, account="red")
    ids["outage"] = outage(ids["second"], scene.TEN, scene.TEN + HOUR)
    outage(ids["first"], scene.TEN + HOUR, scene.TEN + 1.5 * HOUR)
    scene.settle(at=AT, ends_at=scene.TEN + 3 * HOUR)
    return ids


def job(raw_id: str, node_id: int, submitted_at: datetime | None, **given: Any) -> int:
    """One that ran on a node, submitted then (None: nobody said)."""
    job_id = scene.make_job(raw_id, node_id, **given)
    Job.objects.filter(id=job_id).update(submitted_at=submitted_at)
    return job_id


def queued_job(raw_id: str, submitted_at: datetime, **given: Any) -> int:
    """One that waits still, or (`ended_at`) was taken back."""
    return Job.objects.create(
        cluster_id=make.make_cluster(),
        raw_id=raw_id,
        submitted_at=submitted_at,
        opened_at=submitted_at,
        state="PENDING",
        **given,
    ).pk


def outage(node_id: int, starts_at: datetime, ends_at: datetime | None, **given: Any) -> int:
    """A node, or (`device_id`) a GPU of it, that was down."""
    values: dict[str, Any] = {"device_id": None, "kind": "down"} | given
    new = NewOutage(node_id=node_id, starts_at=starts_at, ends_at=ends_at, **values)
    return record_outage(outage=new, at=AT)


def policy(name: str, dimension: str, key: str, short: str, pool_ids: tuple[int, ...] = ()) -> int:
    """What an hour of being short costs."""
    new = actions.EnteredHeadroomPolicy(
        name, dimension, key, pool_ids, Decimal(short), Decimal(1), lead_days=7
    )
    return actions.add_headroom_policy(policy=new, at=AT)
