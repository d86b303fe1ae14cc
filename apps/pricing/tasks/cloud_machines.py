"""Reads which machines run in a cloud account."""

from apps.fleet.actions import clouds
from apps.fleet.actions.cloud_machines import forget_machines, keep_machines
from apps.fleet.providers.aws import session
from apps.fleet.queries import pools
from apps.fleet.queries.clouds import CloudAccountFact
from apps.pricing.providers import aws_machines
from apps.pricing.tasks.rounds import Clock, round_of


def read_machines(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    """EC2's instances with accelerators, region by region and page by page."""
    this = round_of(turn, clock, "machines", "gone")
    asks = session(account.role_arn)
    for region in this.left(account.regions):
        for seen, token in aws_machines.machine_pages(
            asks, region, also=_types(account), token=this.token
        ):
            keep_machines(account_id=account.id, machines=seen, at=clock())
            this.count("machines", len(seen))
            this.token = token
            this.keep()
    gone = forget_machines(account_id=account.id, before=this.began_at, regions=account.regions)
    this.count("gone", gone)
    return this.over()


def read_google_machines(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    """A project's instances with accelerators, page by page, of the account's regions."""
    from apps.pricing.providers import gcp, gcp_account  # six seconds, for Google's only

    this = round_of(turn, clock, "machines", "gone")
    for seen, token in gcp_account.machine_pages(
        gcp.access(), project=account.account, also=_types(account), token=this.token
    ):
        mine = [machine for machine in seen if machine.region in account.regions]
        keep_machines(account_id=account.id, machines=mine, at=clock())
        this.count("machines", len(mine))
        this.token = token
        this.keep()
    gone = forget_machines(account_id=account.id, before=this.began_at, regions=account.regions)
    this.count("gone", gone)
    return this.over()


def _types(account: CloudAccountFact) -> frozenset[str]:
    """Instance types of the provider's pools, with accelerators or not."""
    mine = (pool for pool in pools().values() if pool.provider == account.provider)
    return frozenset(pool.instance_type for pool in mine if pool.instance_type)
