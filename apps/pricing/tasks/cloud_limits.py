"""Reads from a cloud what an account may have, and which capacity is held for it."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from apps.fleet.actions import clouds
from apps.fleet.providers.aws import session
from apps.fleet.queries.cloud_machines import MachineFact, machines_of
from apps.fleet.queries.clouds import CloudAccountFact
from apps.pricing.actions import quotas
from apps.pricing.providers import aws_account
from apps.pricing.queries.quotas import HELD
from apps.pricing.tasks.cloud_bought import COUNTED, keep_blocks
from apps.pricing.tasks.rounds import Clock, round_of

FAMILIES = {
    "P": ("p",),
    "G and VT": ("g", "gr", "vt"),
    "Trn": ("trn",),
    "Inf": ("inf",),
    "DL": ("dl",),
}
"""Which families each of EC2's limits on running on-demand instances counts together."""

RUNNING = "Running On-Demand "
HOLDS = {"active", "scheduled", "pending", "payment-pending", "assessing", "delayed"}


def read_quotas(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    """EC2's limits on machines with accelerators, region by region.

    How much of one is used is told where the machines of the account are read too.
    """
    this = round_of(turn, clock, "quotas")
    asks = session(account.role_arn)
    runs = machines_of(account.id, this.began_at)
    for region in this.left(account.regions):
        told = [
            quotas.NewQuota(
                each.code, each.name, each.value, each.unit, _used(each.name, region, runs)
            )
            for each in aws_account.service_quotas(asks, region)
        ]
        quotas.record_quotas(place=_place(account, region), quotas=told, at=clock())
        this.count("quotas", len(told))
    return this.over()


def read_reservations(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    """Capacity that is held, region by region; capacity blocks are commitments besides."""
    this = round_of(turn, clock, "reservations", *COUNTED)
    asks = session(account.role_arn)
    for region in this.left(account.regions):
        found = aws_account.capacity_reservations(asks, region)
        held = [each for each in found if each.state in HOLDS and each.total]
        told = [
            _held(each.id, f"{each.zone} {each.instance_type}", each.total, _taken(each))
            for each in held
        ]
        quotas.record_held_capacity(place=_place(account, region), held=told, at=clock())
        this.count("reservations", len(told))
        keep_blocks(account, this, [each for each in found if each.is_block])
    return this.over()


def read_google_quotas(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    """A project's limits on GPUs, region by region, with what is used."""
    from apps.pricing.providers import gcp, gcp_account  # six seconds, for Google's only

    this = round_of(turn, clock, "quotas")
    asks = gcp.access()
    for region in this.left(account.regions):
        told = [
            quotas.NewQuota(each.metric, _words(each.metric), each.limit, "GPUs", each.used)
            for each in gcp_account.region_quotas(asks, project=account.account, region=region)
        ]
        quotas.record_quotas(place=_place(account, region), quotas=told, at=clock())
        this.count("quotas", len(told))
    return this.over()


def read_google_reservations(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    """The machines that a project's reservations hold."""
    from apps.pricing.providers import gcp, gcp_account  # six seconds, for Google's only

    this = round_of(turn, clock, "reservations")
    found = gcp_account.reservations(gcp.access(), project=account.account)
    for region in account.regions:
        told = [
            _held(
                f"{each.zone}/{each.name}",
                f"{each.name} {each.machine_type}",
                each.count,
                each.used,
            )
            for each in found
            if each.zone.rpartition("-")[0] == region
        ]
        quotas.record_held_capacity(place=_place(account, region), held=told, at=clock())
        this.count("reservations", len(told))
    return this.over()


def _place(account: CloudAccountFact, region: str) -> quotas.QuotaPlace:
    return quotas.QuotaPlace(account.provider, account.account, region)


def _held(code: str, name: str, total: int, used: int) -> quotas.NewQuota:
    return quotas.NewQuota(
        f"{HELD}{code}", f"Held: {name}", Decimal(total), "machines", Decimal(used)
    )


def _taken(held: aws_account.CapacityReservation) -> int:
    # One that has not begun has nothing available, and nothing taken.
    return held.total - held.available if held.state == "active" else 0


def _used(name: str, region: str, runs: Sequence[MachineFact] | None) -> Decimal | None:
    """Virtual processors of the machines that a limit counts; None where that is not known."""
    families = FAMILIES.get(name.removeprefix(RUNNING).removesuffix(" instances"), ())
    if runs is None or not name.startswith(RUNNING) or not families:
        return None
    return _processors(
        machine
        for machine in runs
        if machine.region == region
        and machine.purchase_option == "on_demand"
        and _family(machine.instance_type) in families
    )


def _processors(machines: Iterable[MachineFact]) -> Decimal | None:
    counted = [machine.cpus for machine in machines]
    known = [cpus for cpus in counted if cpus is not None]
    return Decimal(sum(known)) if len(known) == len(counted) else None


def _family(instance_type: str) -> str:
    """`p` of p5en.48xlarge, `trn` of trn1.32xlarge."""
    letters = ""
    for letter in instance_type:
        if not letter.isalpha():
            break
        letters += letter
    return letters


def _words(metric: str) -> str:
    """NVIDIA_H100_GPUS as people say it."""
    return metric.replace("_", " ").replace("GPUS", "GPUs")
