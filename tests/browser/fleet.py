"""A small fleet whose costs can be added up by hand, of yesterday from 10:00 to 12:00 UTC.

Node gpu-01 has eight H100 at 98.32 an hour, 196.64 in all. A job of Research holds four of them:
they work in the first hour and stand idle in the second. Node lab-01 has eight GPUs and no price.
"""

from datetime import UTC, datetime, timedelta

from apps.fleet import actions as fleet
from tests import make
from tests.apps.ledger import scene

FINDING = "The last 30 days cost $197, and 75 % of it was waste."
HOUR = timedelta(hours=1)
PASSWORD = "correct horse battery"
ROLES = {"Finn": "finance", "Petra": "platform", "Vera": "viewer"}


def make_fleet() -> datetime:
    """Everything in the tables and settled; the moment at which that was."""
    now = datetime.now(UTC)
    began_at = now.replace(hour=10, minute=0, second=0, microsecond=0) - timedelta(days=1)
    ended_at = began_at + 2 * HOUR
    make.make_organisation()
    scene.make_rule("research", make.make_team("Research"))
    node_id = make.make_node("gpu-01", pool_id=_pool("h100"), started_at=began_at, at=ended_at)
    lab_id = make.make_node(
        "lab-01", pool_id=make.make_pool("lab"), started_at=began_at, at=ended_at
    )
    gpus = scene.make_gpus(node_id, seen_from=began_at)
    held = gpus[:4]
    scene.make_job("1", node_id, gpus=4, uuids=held, from_=began_at, to=ended_at, labels={})
    for device_id in scene.device_ids(held):
        scene.make_usage(device_id, [240] * 60, key="slurm/atlas/1", hour=began_at)
        scene.make_usage(device_id, [0] * 60, key="slurm/atlas/1", hour=began_at + HOUR)
    for each in (node_id, lab_id):
        fleet.end_node(node_id=each, ended_at=ended_at, reason="", at=ended_at)
    scene.settle(now, starts_at=began_at, ends_at=ended_at)
    return now


def make_people(*names: str) -> None:
    """Those named, each of the role that the name stands for."""
    for name in names or ROLES:
        email = f"{name.lower()}@example.org"
        make.make_person(email, name=name, role=ROLES[name], password=PASSWORD)


def _pool(name: str) -> int:
    pool_id = make.make_pool(name)
    scene.make_rate(pool_id)
    return pool_id
