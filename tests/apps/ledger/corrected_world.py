"""Two hours of March and of April alike, of every table of money; what comes late for March."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

from apps.economics.run_time import Bucket
from apps.fleet import actions as fleet
from apps.ledger.actions import close
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.workloads.models import OwnershipRule
from tests import make
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import take_file
from tests.apps.ledger.scene import HOUR, TEN
from tests.apps.ledger.test_close import EVERYTHING
from tests.apps.unit_economics import run_scene
from tests.apps.unit_economics import service_scene as services

MARCH, APRIL = date(2026, 3, 1), date(2026, 4, 1)
OPEN = datetime(2026, 4, 1, 10, tzinfo=UTC)
AT = datetime(2026, 4, 3, 9, 30, tzinfo=UTC)
OF_MARCH = {
    "BillingPeriodStart": "2026-03-01T00:00:00Z",
    "BillingPeriodEnd": "2026-04-01T00:00:00Z",
    "ChargePeriodStart": TEN.isoformat(),
    "ChargePeriodEnd": (TEN + HOUR).isoformat(),
    "Tags": "{}",
}
"""When rows of a bill of March are of."""


@dataclass(frozen=True)
class CorrectedWorld:
    """Whose jobs they are, the pool, the service, and the run of March."""

    team: int
    pool: int
    chat: int
    march_run: int


def make_corrected_world() -> CorrectedWorld:
    """In each month a job that carried a run, a service's, and a shared cost; all settled, both open."""
    make.make_organisation()
    make.make_cluster()
    team = make.make_team()
    scene.make_rule("research", team)
    chat = services.make_service(team)
    OwnershipRule.objects.create(
        priority=20, account="chat", team_id=team, workload_id=chat, period=(None, None)
    )
    pool = make.make_pool("of both")
    scene.make_rate(pool)
    runs = [_make_hours(pool, chat, name, at) for name, at in (("march", TEN), ("april", OPEN))]
    scene.settle_all(AT)
    return CorrectedWorld(team, pool, chat, runs[0])


def close_march() -> None:
    """Close it, whatever stands open."""
    asked = close.CloseRequest(month=MARCH, person_id=None, accepted=(*EVERYTHING, "uninvoiced"))
    close.close_month(request=asked, at=AT)


def cut_the_price(world: CorrectedWorld) -> None:
    """March's hours were half as dear, which somebody enters in April."""
    scene.make_rate(
        world.pool, Decimal("49.16"), kind="contract", starts_at=TEN, ends_at=TEN + 2 * HOUR
    )


def bill_march(folder: Path) -> None:
    """A bill of March for an hour of a node of its own, and for storage of no node."""
    node_id = scene.make_priced_node("billed", provider_id="i-billed")
    fleet.end_node(node_id=node_id, ended_at=TEN + HOUR, reason="given back", at=AT)
    rows = [
        bill_files.hour_row("70", ResourceId="i-billed", **OF_MARCH),
        bill_files.hour_row("3", ResourceId="", ServiceCategory="Storage", **OF_MARCH),
    ]
    take_file(bill_files.write(folder / "bill.csv", rows), clock=lambda: AT)
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=AT)
    scene.settle_all(AT)


def _make_hours(pool: int, chat: int, name: str, at: datetime) -> int:
    node_id = make.make_node(name, pool_id=pool, started_at=at, at=at + 2 * HOUR, units=8)
    fleet.end_node(node_id=node_id, ended_at=at + 2 * HOUR, reason="given back", at=AT)
    whole = {"from_": at, "to": at + HOUR}
    labels = {"project": "alpha"}
    job_id = scene.make_job(f"run of {name}", node_id, gpus=4, user="ada", labels=labels, **whole)
    asks = {"account": "chat", "user": "bob", "from_": at, "to": at + 2 * HOUR}
    scene.make_job(f"chat of {name}", node_id, gpus=4, **asks)
    run_id = run_scene.make_run(f"llama of {name}", (job_id, at, at + HOUR), tokens=9)
    run_scene.tell(run_id, job_id, {Bucket.PRODUCTIVE: 45, Bucket.DATA_WAIT: 15}, at)
    for feature, requests in (("ask", 3), ("sum", 1)):
        services.count(
            chat, at, feature=feature, requests=requests, prompt_tokens=9, output_tokens=9
        )
    scene.make_shared_cost(f"support of {name}", starts_at=at, ends_at=at + 2 * HOUR)
    return run_id
