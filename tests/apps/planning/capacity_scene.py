"""A team that waits for data and holds GPUs idle, and requests of it."""

from datetime import datetime, timedelta
from typing import Any

from apps.economics.run_time import Bucket
from apps.fleet.actions import end_node
from apps.planning.actions.requests import EnteredCapacityRequest, raise_capacity_request
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import run_scene

NEXT_DAY = scene.TEN + timedelta(days=1)
ASKED_AT = datetime.fromisoformat("2026-03-03T12:00:00+00:00")


def starved_team(name: str = "Research") -> tuple[int, int]:
    """Its run held a node of eight for an hour: half of it waited for data, a quarter stood idle then.

    The team and the pool. Another quarter of an hour stood idle while it trained.
    """
    team_id = make.make_team(name)
    scene.make_rule("research", team_id)
    pool_id = make.make_pool()
    node_id = scene.make_priced_node(pool_id=pool_id)
    end_node(node_id=node_id, ended_at=scene.TEN + scene.HOUR, reason="", at=scene.LATER)
    uuids = scene.make_gpus(node_id)
    worked = [0 if 0 <= minute < 15 or 45 <= minute < 60 else 240 for minute in range(60)]
    for device_id in scene.device_ids(uuids):
        scene.make_usage(device_id, worked)
    job_id = scene.make_job("1", node_id, uuids=uuids)
    run_id = run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    run_scene.tell_when(run_id, job_id, (Bucket.DATA_WAIT, 0, 30), (Bucket.PRODUCTIVE, 30, 60))
    scene.settle()
    return team_id, pool_id


def raised(team_id: int, **given: Any) -> int:
    """Twelve GPUs for ten days, raised by a person (`by`), or a token; its id."""
    by = given.pop("by", None)
    at = given.pop("at", ASKED_AT)
    values: dict[str, Any] = {
        "team_id": team_id,
        "gpus": 12,
        "starts_at": NEXT_DAY,
        "ends_at": NEXT_DAY + timedelta(days=10),
        "reason": "a longer context",
    } | given
    return raise_capacity_request(request=EnteredCapacityRequest(**values), by=by, at=at)
