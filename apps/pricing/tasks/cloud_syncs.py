"""Reads cloud accounts but for their bills: asks the cloud's reader, keeps what it says."""

from decimal import Decimal

from apps.fleet.actions import clouds, record_machine_terms
from apps.fleet.actions.cloud_machines import forget_machines, keep_machines
from apps.fleet.queries import PoolFact, first_node_started_at, pools
from apps.fleet.queries.cloud_machines import machines_of
from apps.fleet.queries.clouds import CloudAccountFact
from apps.pricing.actions import quotas
from apps.pricing.queries.commitments import commitments
from apps.pricing.queries.quotas import HELD
from apps.pricing.tasks.cloud_bought import PURCHASE_COUNTS, PurchaseLedger
from apps.pricing.tasks.cloud_prices import read_prices
from apps.pricing.tasks.rounds import Clock, ReadingRound, round_of
from apps.providers.cloud import CloudRefused
from apps.providers.reading import (
    AccountLimit,
    CloudFact,
    LimitsRead,
    MachinesRead,
    PartRead,
    PoolHardware,
    ReadingRequest,
    ReservationsRead,
    ReservedMachines,
)
from apps.providers.registry import reader_of

REFUSALS = (CloudRefused, clouds.SyncRunsAlready, clouds.SyncTakenOver)
COUNTS = {
    "reserved_instances": PURCHASE_COUNTS,
    "savings_plans": PURCHASE_COUNTS,
    "committed_use": PURCHASE_COUNTS,
    "reservations": ("reservations",),
    "quotas": ("quotas",),
    "machines": ("machines", "gone"),
}
"""What is counted of each kind, also where none was; prices count themselves."""


def sync_cloud(account: CloudAccountFact, what: str, clock: Clock) -> None:
    """Read `what` of an account, on from where the last time ended.

    Refuses SyncRunsAlready, SyncTakenOver and CloudRefused.
    """
    read = _read_facts if what in COUNTS else read_prices
    clouds.run_sync(
        account_id=account.id,
        what=what,
        read=lambda turn: read(account, what, turn, clock),
        clock=clock,
    )


def _read_facts(account: CloudAccountFact, what: str, turn: clouds.SyncTurn, clock: Clock) -> str:
    this = round_of(turn, clock, *COUNTS[what])
    purchase_ledger = PurchaseLedger(account.provider, this)
    for fact in reader_of(account.provider, what)(_reading_request(account, what, this)):
        if not _keep_fact(account, this, fact):
            purchase_ledger.keep(fact)
    if what == "machines":
        removed_count = forget_machines(
            account_id=account.id, before=this.began_at, regions=account.regions
        )
        this.count("gone", removed_count)
    return this.over()


def _reading_request(account: CloudAccountFact, what: str, this: ReadingRound) -> ReadingRequest:
    mine = [pool for pool in pools().values() if pool.provider == account.provider]
    return ReadingRequest(
        account=account.access,
        began_at=this.began_at,
        lived_since=first_node_started_at() or this.began_at,
        pools=tuple(_pool_hardware(pool) for pool in mine),
        machines=machines_of(account.id, this.began_at) if what == "quotas" else None,
        fees={
            commitment.external_id: (commitment.upfront, commitment.source)
            for commitment in commitments()
        },
        done=tuple(this.done),
        token=this.token,
    )


def _pool_hardware(pool: PoolFact) -> PoolHardware:
    return PoolHardware(pool.region, pool.instance_type, pool.gpu_model)


def _keep_fact(account: CloudAccountFact, this: ReadingRound, fact: CloudFact) -> bool:
    """Keep what is no purchase, and how far it is; whether it was that."""
    match fact:
        case LimitsRead():
            place = quotas.QuotaPlace(account.provider, account.account, fact.region)
            quotas.record_quotas(place=place, quotas=fact.limits, at=this.clock())
            this.count("quotas", len(fact.limits))
        case ReservationsRead():
            place = quotas.QuotaPlace(account.provider, account.account, fact.region)
            held_quotas = [_reservation_quota(machines) for machines in fact.held]
            quotas.record_reserved_capacity(place=place, held=held_quotas, at=this.clock())
            this.count("reservations", len(held_quotas))
        case MachinesRead():
            keep_machines(account_id=account.id, machines=fact.machines, at=this.clock())
            record_machine_terms(provider=account.provider, machines=fact.machines, at=this.clock())
            this.count("machines", len(fact.machines))
            this.go_on_at(fact.token)
        case PartRead():
            this.part_done(fact.part)
        case _:
            return False
    return True


def _reservation_quota(machines: ReservedMachines) -> AccountLimit:
    return AccountLimit(
        f"{HELD}{machines.code}",
        f"Held: {machines.name}",
        Decimal(machines.total),
        "machines",
        Decimal(machines.used),
    )
