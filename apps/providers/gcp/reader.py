"""Readers of Google Cloud, by the kind of what is read. Loads Google's libraries: six seconds."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from apps.providers.gcp import access, account, prices
from apps.providers.reading import (
    AccountLimit,
    BoughtAhead,
    CloudFact,
    FactReader,
    LimitsRead,
    MachinesRead,
    NotCounted,
    PartRead,
    PoolHardware,
    ReadingRequest,
    ReservationsRead,
    ReservedMachines,
    ReturnedPurchase,
    UnreadablePurchase,
)

COUNTED_STATES = {"ACTIVE", "NOT_YET_ACTIVE", "EXPIRED"}


def read_committed_use(request: ReadingRequest) -> Iterator[CloudFact]:
    """Committed use of GPUs, priced by its SKUs."""
    google_access = access.default_access()
    mine = []
    for bought in account.committed_uses(google_access, project=request.account.account):
        if bought.status not in COUNTED_STATES:
            yield ReturnedPurchase(bought.id)
        elif not bought.gpus or request.was_over(bought.ends_at):
            yield NotCounted()
        else:
            mine.append(bought)
    skus = prices.compute_skus(google_access) if mine else []
    for bought in mine:
        price = account.committed_price(bought, skus)
        if isinstance(price, str):
            yield UnreadablePurchase(bought.name, f"{price}; enter it with its price")
        else:
            yield _commitment_bought(request, bought, price)
        yield PartRead(bought.id)


def read_quotas(request: ReadingRequest) -> Iterator[CloudFact]:
    """A project's limits on GPUs, region by region, with what is used."""
    google_access, project = access.default_access(), request.account.account
    for region in request.left(request.account.regions):
        limits = tuple(
            AccountLimit(
                region_quota.metric,
                _metric_words(region_quota.metric),
                region_quota.limit,
                "GPUs",
                region_quota.used,
            )
            for region_quota in account.region_quotas(google_access, project=project, region=region)
        )
        yield LimitsRead(region, limits)
        yield PartRead(region)


def read_reservations(request: ReadingRequest) -> Iterator[CloudFact]:
    """The machines that a project's reservations hold."""
    reservations = account.reservations(access.default_access(), project=request.account.account)
    for region in request.account.regions:
        held_machines = tuple(
            ReservedMachines(
                f"{reservation.zone}/{reservation.name}",
                f"{reservation.name} {reservation.machine_type}",
                reservation.count,
                reservation.used,
            )
            for reservation in reservations
            if reservation.zone.rpartition("-")[0] == region
        )
        yield ReservationsRead(region, held_machines)


def read_machines(request: ReadingRequest) -> Iterator[CloudFact]:
    """A project's instances with accelerators, page by page, of the account's regions."""
    for machines, token in account.machine_pages(
        access.default_access(),
        project=request.account.account,
        also=request.instance_types,
        token=request.token,
    ):
        mine = [machine for machine in machines if machine.region in request.account.regions]
        yield MachinesRead(tuple(mine), token)


READERS: Mapping[str, FactReader] = {
    "spot_prices": prices.read_spot_prices,
    "on_demand_prices": prices.read_on_demand_prices,
    "committed_use": read_committed_use,
    "reservations": read_reservations,
    "quotas": read_quotas,
    "machines": read_machines,
}


def _commitment_bought(
    request: ReadingRequest, bought: account.CommittedUse, price: Decimal
) -> BoughtAhead:
    using = _pools_using(request, bought)
    models = {pool.gpu_model for pool in using}
    places = {pool.region for pool in using}
    return BoughtAhead(
        external_id=bought.id,
        name=f"Google commitment {bought.name} in {bought.region}",
        kind="committed_use",
        currency="USD",
        starts_at=bought.starts_at,
        ends_at=bought.ends_at,
        # By the words of the pools, where they agree on one.
        region=places.pop() if len(places) == 1 else bought.region,
        gpu_model=models.pop() if len(models) == 1 else bought.accelerator,
        units=bought.gpus,
        is_by_gpu=True,
        hourly=price,
        account=request.account.account,
        source=f"Google Cloud commitment, {bought.plan.replace('_', ' ').lower()}",
    )


def _pools_using(request: ReadingRequest, bought: account.CommittedUse) -> list[PoolHardware]:
    """Pools of the model in the region: nvidia-h100-80gb is NVIDIA H100 80GB HBM3 to its driver."""
    word = bought.accelerator.removeprefix("nvidia-").removeprefix("tesla-").partition("-")[0]
    return [
        pool
        for pool in request.pools
        if pool.region.startswith(bought.region) and word in pool.gpu_model.lower().split()
    ]


def _metric_words(metric: str) -> str:
    """NVIDIA_H100_GPUS as people say it."""
    return metric.replace("_", " ").replace("GPUS", "GPUs")
