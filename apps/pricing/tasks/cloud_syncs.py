"""Everything that is read of cloud accounts but bills, by provider and word."""

from collections.abc import Callable

from apps.fleet.actions import clouds
from apps.fleet.providers.aws import CloudRefused
from apps.fleet.queries.clouds import CloudAccountFact
from apps.pricing.tasks import cloud_bought, cloud_limits, cloud_machines, cloud_prices
from apps.pricing.tasks.rounds import Clock

REFUSALS = (CloudRefused, clouds.SyncRunsAlready, clouds.SyncTakenOver)
READERS: dict[tuple[str, str], Callable[[CloudAccountFact, clouds.SyncTurn, Clock], str]] = {
    **cloud_prices.READERS,
    ("aws", "reserved_instances"): cloud_bought.read_reserved_instances,
    ("aws", "savings_plans"): cloud_bought.read_savings_plans,
    ("aws", "reservations"): cloud_limits.read_reservations,
    ("aws", "quotas"): cloud_limits.read_quotas,
    ("aws", "machines"): cloud_machines.read_machines,
    ("gcp", "committed_use"): cloud_bought.read_committed_use,
    ("gcp", "reservations"): cloud_limits.read_google_reservations,
    ("gcp", "quotas"): cloud_limits.read_google_quotas,
    ("gcp", "machines"): cloud_machines.read_google_machines,
}


def sync_cloud(account: CloudAccountFact, what: str, clock: Clock) -> None:
    """Read `what` of an account, on from where the last time ended.

    Refuses SyncRunsAlready, SyncTakenOver and CloudRefused.
    """
    read = READERS[account.provider, what]
    clouds.run_sync(
        account_id=account.id, what=what, read=lambda turn: read(account, turn, clock), clock=clock
    )
