"""Commitments, capacity, limits and machines of a Google Cloud project."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from google.cloud.compute_v1 import (
    AggregatedListInstancesRequest,
    InstancesClient,
    RegionCommitmentsClient,
    RegionsClient,
    ReservationsClient,
)

from apps.economics.google_parts import Sku
from apps.providers.gcp.access import GoogleAccess, in_words
from apps.providers.gcp.prices import MIB_A_GIB
from apps.providers.pace import Pace
from apps.providers.reading import ObservedMachine

TERMS = {"TWELVE_MONTH": "Commit1Yr", "THIRTY_SIX_MONTH": "Commit3Yr"}
FAMILY = ("ACCELERATOR_OPTIMIZED_", "GRAPHICS_OPTIMIZED_")
FIRST_FAMILY = {"ACCELERATOR_OPTIMIZED": "A2", "GRAPHICS_OPTIMIZED": "G2"}
"""These two were named before there were others of their kind."""

RUNS = "PROVISIONING", "STAGING", "RUNNING", "STOPPING", "REPAIRING"
ROWS_A_PAGE = 500


@dataclass(frozen=True, slots=True)
class CommittedUse:
    """Resources bought for a term in a region; `memory_gib` and `cpus` go with the GPUs.

    `other` names resources that have no price here.
    """

    id: str
    name: str
    region: str
    family: str
    accelerator: str
    gpus: int
    cpus: int
    memory_gib: Decimal
    other: tuple[str, ...]
    plan: str
    status: str
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class ProjectReservation:
    """A reservation: `count` machines of a type that are paid for, `used` of them run."""

    name: str
    zone: str
    machine_type: str
    count: int
    used: int


@dataclass(frozen=True, slots=True)
class RegionQuota:
    """The most of a metric such as NVIDIA_H100_GPUS in a region, and how much is used."""

    metric: str
    limit: Decimal
    used: Decimal


def committed_uses(google_access: GoogleAccess, *, project: str) -> list[CommittedUse]:
    """All of the project, past ones too. Refuses CloudRefused."""
    with in_words("compute.commitments.list"):
        client = RegionCommitmentsClient(
            credentials=google_access.credentials, client_options=google_access.options
        )
        return [
            _committed_use(row, scope.removeprefix("regions/"), project)
            for scope, scoped in client.aggregated_list(project=project)
            for row in scoped.commitments
        ]


def committed_price(bought: CommittedUse, skus: Sequence[Sku]) -> Decimal | str:
    """Dollars an hour for all of it, or in words which part has no single price.

    Google bills the parts apart, each by a SKU of its own.
    """
    if bought.other:
        return f"{', '.join(bought.other)} has no price here"
    if bought.plan not in TERMS:
        return f"a term of {bought.plan} has no SKU"
    usage = TERMS[bought.plan]
    region_skus = [sku for sku in skus if bought.region in sku.regions and sku.usage == usage]
    amount = Decimal(0)
    for words, group, quantity in _parts_of_commitment(bought):
        fitting = [sku for sku in region_skus if sku.group == group and _has_words(sku, words)]
        if len(fitting) != 1:
            return f"{len(fitting)} {usage} SKUs are {words!r} in {bought.region}"
        amount += fitting[0].amount * quantity
    return round(amount, 9)


def reservations(google_access: GoogleAccess, *, project: str) -> list[ProjectReservation]:
    """Every reservation of certain machines. Refuses CloudRefused."""
    with in_words("compute.reservations.list"):
        client = ReservationsClient(
            credentials=google_access.credentials, client_options=google_access.options
        )
        return [
            ProjectReservation(
                name=row.name,
                zone=zone.removeprefix("zones/"),
                machine_type=row.specific_reservation.instance_properties.machine_type,
                count=row.specific_reservation.count,
                used=row.specific_reservation.in_use_count,
            )
            for zone, scoped in client.aggregated_list(project=project)
            for row in scoped.reservations
            if row.specific_reservation.count
        ]


def region_quotas(google_access: GoogleAccess, *, project: str, region: str) -> list[RegionQuota]:
    """The region's limits on GPUs. Refuses CloudRefused."""
    with in_words("compute.regions.get"):
        client = RegionsClient(
            credentials=google_access.credentials, client_options=google_access.options
        )
        return [
            RegionQuota(row.metric, Decimal(str(row.limit)), Decimal(str(row.usage)))
            for row in client.get(project=project, region=region).quotas
            if "GPU" in row.metric
        ]


def machine_pages(
    google_access: GoogleAccess, *, project: str, also: frozenset[str], token: str = ""
) -> Iterator[tuple[list[ObservedMachine], str]]:
    """Each page of what runs in the project, and the token of the next; begins at `token`.

    Machines without accelerators are left out but for the types `also`. Refuses CloudRefused.
    """
    request = AggregatedListInstancesRequest(
        project=project, max_results=ROWS_A_PAGE, page_token=token
    )
    pace = Pace(per_second=5)
    with in_words("compute.instances.list"):
        client = InstancesClient(
            credentials=google_access.credentials, client_options=google_access.options
        )
        for page in client.aggregated_list(request=request).pages:
            machines = [
                _observed_machine(row, zone.removeprefix("zones/"), project)
                for zone, scoped in page.items.items()
                for row in scoped.instances
                if row.status in RUNS and (row.guest_accelerators or _machine_type(row) in also)
            ]
            yield machines, page.next_page_token
            pace.wait()


def _committed_use(row: Any, region: str, project: str) -> CommittedUse:
    amounts = {resource.type_: resource for resource in row.resources}
    gpu = amounts.pop("ACCELERATOR", None)
    cpus, memory = amounts.pop("VCPU", None), amounts.pop("MEMORY", None)
    return CommittedUse(
        id=f"projects/{project}/regions/{region}/commitments/{row.name}",
        name=row.name,
        region=region,
        family=_machine_family(row.type_),
        accelerator=gpu.accelerator_type.rpartition("/")[2] if gpu else "",
        gpus=gpu.amount if gpu else 0,
        cpus=cpus.amount if cpus else 0,
        memory_gib=Decimal(memory.amount) / MIB_A_GIB if memory else Decimal(0),
        other=tuple(sorted(amounts)),
        plan=row.plan,
        status=row.status,
        starts_at=datetime.fromisoformat(row.start_timestamp),
        ends_at=datetime.fromisoformat(row.end_timestamp),
    )


def _machine_family(family: str) -> str:
    if family in FIRST_FAMILY:
        return FIRST_FAMILY[family]
    for beginning in FAMILY:
        family = family.removeprefix(beginning)
    return family.replace("_", " ")


def _parts_of_commitment(bought: CommittedUse) -> Iterator[tuple[tuple[str, ...], str, Decimal]]:
    """Words that the SKU of each part says, its group, and how much of it was bought."""
    if bought.cpus:
        yield (bought.family, "cpu"), "CPU", Decimal(bought.cpus)
    if bought.memory_gib:
        yield (bought.family, "ram"), "RAM", bought.memory_gib
    if bought.gpus:
        words = tuple(bought.accelerator.removeprefix("nvidia-").split("-"))
        yield (*words, "gpu"), "GPU", Decimal(bought.gpus)


def _has_words(sku: Sku, words: Sequence[str]) -> bool:
    description = sku.description.lower().replace("core", "cpu")
    return all(f" {word.lower()} " in f" {description} " for word in words)


def _observed_machine(row: Any, zone: str, project: str) -> ObservedMachine:
    names = (row.name, row.hostname, str(row.id), f"{project}/{zone}/{row.name}")
    return ObservedMachine(
        external_id=str(row.id),
        name=row.name,
        names=tuple(dict.fromkeys(name for name in names if name)),
        region=zone.rpartition("-")[0],
        zone=zone,
        instance_type=_machine_type(row),
        purchase_option=_sold_as(row.scheduling),
        cpus=None,
        launched_at=_moment_of_text(row.last_start_timestamp or row.creation_timestamp),
        account=project,
    )


def _machine_type(row: Any) -> str:
    return str(row.machine_type.rpartition("/")[2])


def _sold_as(scheduling: Any) -> str:
    if scheduling.provisioning_model == "RESERVATION_BOUND":
        return "reserved"
    is_spot = scheduling.preemptible or scheduling.provisioning_model == "SPOT"
    return "spot" if is_spot else "on_demand"


def _moment_of_text(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
