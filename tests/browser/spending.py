"""What team Research spent on workload Pretraining: last month's job, beside another team's.

Node gpu-01 has eight H100 at 98.32 an hour, on the 10th of last month from 10:00 to 12:00 UTC. Job
4711 of Pretraining holds four GPUs that work in the first hour and stand idle in the second. Job
99 of team Vision holds two without a workload; nothing says whether they worked. Two are free.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from apps.accounts.models import Membership, Team
from apps.fleet import actions as fleet
from apps.workloads.models import Job, OwnershipRule, Workload
from tests import make
from tests.apps.ledger import scene

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Spending:
    """What was made, by id."""

    research: int
    vision: int
    workload: int
    job: int
    other_job: int
    began_at: datetime


def make_spending() -> Spending:
    """Everything in the tables and settled."""
    now = datetime.now(UTC)
    last_month = (now.replace(day=1) - timedelta(days=1)).replace(day=10)
    began_at = last_month.replace(hour=10, minute=0, second=0, microsecond=0)
    make.make_organisation()
    research, vision = make.make_team("Research"), make.make_team("Vision")
    workload = Workload.objects.create(name="Pretraining", team_id=research, kind="training")
    OwnershipRule.objects.create(
        priority=10,
        account="research",
        team_id=research,
        workload=workload,
        period=(None, None),
    )
    scene.make_rule("vision", vision)
    pool_id = make.make_pool("h100")
    scene.make_rate(pool_id)
    node_id = make.make_node("gpu-01", pool_id=pool_id, started_at=began_at, at=now)
    gpus = scene.make_gpus(node_id, seen_from=began_at)
    until = began_at + 2 * HOUR
    job = scene.make_job(
        "4711",
        node_id,
        gpus=4,
        uuids=gpus[:4],
        from_=began_at,
        to=until,
        labels={"project": "llm"},
    )
    other = scene.make_job(
        "99", node_id, gpus=2, uuids=gpus[4:6], from_=began_at, to=until, account="vision"
    )
    Job.objects.filter(id=job).update(name="pretrain-7b", user="ada")
    Job.objects.filter(id=other).update(name="secret-vision", user="vic")
    for device_id in scene.device_ids(gpus[:4]):
        scene.make_usage(device_id, [240] * 60, key="slurm/atlas/4711", hour=began_at)
        scene.make_usage(device_id, [0] * 60, key="slurm/atlas/4711", hour=began_at + HOUR)
    fleet.end_node(node_id=node_id, ended_at=until, reason="", at=now)
    scene.settle(now, starts_at=began_at, ends_at=until + HOUR)
    return Spending(research, vision, workload.id, job, other, began_at)


def lead(team_id: int, user_id: int) -> None:
    """This person is in this team."""
    Membership.objects.create(team=Team.objects.get(id=team_id), user_id=user_id)
