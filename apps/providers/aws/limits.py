"""Limits of an AWS account, how much of them is used, and which capacity is held for it."""

from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal

from apps.providers.aws import account
from apps.providers.aws.access import session_of
from apps.providers.aws.purchases import capacity_blocks
from apps.providers.reading import (
    AccountLimit,
    CloudFact,
    LimitsRead,
    PartRead,
    ReadingRequest,
    ReservationsRead,
    ReservedMachines,
    RunningMachine,
)

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


def read_quotas(request: ReadingRequest) -> Iterator[CloudFact]:
    """EC2's limits on machines with accelerators, region by region.

    How much of one is used is told where the machines of the account are read too.
    """
    aws_session = session_of(request.account)
    for region in request.left(request.account.regions):
        limits = tuple(
            AccountLimit(
                service_quota.code,
                service_quota.name,
                service_quota.value,
                service_quota.unit,
                _processors_used(service_quota.name, region, request.machines),
            )
            for service_quota in account.service_quotas(aws_session, region)
        )
        yield LimitsRead(region, limits)
        yield PartRead(region)


def read_reservations(request: ReadingRequest) -> Iterator[CloudFact]:
    """Capacity that is held, region by region; capacity blocks are commitments besides."""
    aws_session = session_of(request.account)
    for region in request.left(request.account.regions):
        reservations = account.capacity_reservations(aws_session, region)
        held_machines = tuple(
            ReservedMachines(
                capacity_reservation.id,
                f"{capacity_reservation.zone} {capacity_reservation.instance_type}",
                capacity_reservation.total,
                _machines_taken(capacity_reservation),
            )
            for capacity_reservation in reservations
            if capacity_reservation.state in HOLDS and capacity_reservation.total
        )
        yield ReservationsRead(region, held_machines)
        yield from capacity_blocks(
            request,
            [
                capacity_reservation
                for capacity_reservation in reservations
                if capacity_reservation.is_block
            ],
        )
        yield PartRead(region)


def _machines_taken(reservation: account.CapacityReservation) -> int:
    # One that has not begun has nothing available, and nothing taken.
    return reservation.total - reservation.available if reservation.state == "active" else 0


def _processors_used(
    name: str, region: str, machines: Collection[RunningMachine] | None
) -> Decimal | None:
    """Virtual processors of the machines that a limit counts; None where that is not known."""
    families = FAMILIES.get(name.removeprefix(RUNNING).removesuffix(" instances"), ())
    if machines is None or not name.startswith(RUNNING) or not families:
        return None
    return _processors_of(
        machine
        for machine in machines
        if machine.region == region
        and machine.purchase_option == "on_demand"
        and _instance_family(machine.instance_type) in families
    )


def _processors_of(machines: Iterable[RunningMachine]) -> Decimal | None:
    counted = [machine.cpus for machine in machines]
    known_cpus = [cpus for cpus in counted if cpus is not None]
    return Decimal(sum(known_cpus)) if len(known_cpus) == len(counted) else None


def _instance_family(instance_type: str) -> str:
    """`p` of p5en.48xlarge, `trn` of trn1.32xlarge."""
    letters = ""
    for letter in instance_type:
        if not letter.isalpha():
            break
        letters += letter
    return letters
