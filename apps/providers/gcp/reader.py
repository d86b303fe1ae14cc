"""What reads Google Cloud, by the kind of what is read. Loads Google's libraries: six seconds."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from apps.providers.gcp import access, account, prices
from apps.providers.reading import (
    AccountLimit,
    BoughtAhead,
    CloudFact,
    FactReader,
    GivenBack,
    HeldMachines,
    LimitsRead,
    MachinesRead,
    NotCounted,
    NotKept,
    PartRead,
    PoolHardware,
    ReadingRequest,
    ReservationsRead,
)

COUNTED_STATES = {"ACTIVE", "NOT_YET_ACTIVE", "EXPIRED"}


def read_committed_use(asked: ReadingRequest) -> Iterator[CloudFact]:
    """Committed use of GPUs, priced by its SKUs."""
    asks = access.default_access()
    mine = []
    for bought in account.committed_uses(asks, project=asked.account.account):
        if bought.status not in COUNTED_STATES:
            yield GivenBack(bought.id)
        elif not bought.gpus or asked.was_over(bought.ends_at):
            yield NotCounted()
        else:
            mine.append(bought)
    skus = prices.compute_skus(asks) if mine else []
    for bought in mine:
        price = account.committed_price(bought, skus)
        if isinstance(price, str):
            yield NotKept(bought.name, f"{price}; enter it with its price")
        else:
            yield _commitment_bought(asked, bought, price)
        yield PartRead(bought.id)


def read_quotas(asked: ReadingRequest) -> Iterator[CloudFact]:
    """A project's limits on GPUs, region by region, with what is used."""
    asks, project = access.default_access(), asked.account.account
    for region in asked.left(asked.account.regions):
        limits = tuple(
            AccountLimit(each.metric, _metric_words(each.metric), each.limit, "GPUs", each.used)
            for each in account.region_quotas(asks, project=project, region=region)
        )
        yield LimitsRead(region, limits)
        yield PartRead(region)


def read_reservations(asked: ReadingRequest) -> Iterator[CloudFact]:
    """The machines that a project's reservations hold."""
    found = account.reservations(access.default_access(), project=asked.account.account)
    for region in asked.account.regions:
        held = tuple(
            HeldMachines(
                f"{each.zone}/{each.name}",
                f"{each.name} {each.machine_type}",
                each.count,
                each.used,
            )
            for each in found
            if each.zone.rpartition("-")[0] == region
        )
        yield ReservationsRead(region, held)


def read_machines(asked: ReadingRequest) -> Iterator[CloudFact]:
    """A project's instances with accelerators, page by page, of the account's regions."""
    for seen, token in account.machine_pages(
        access.default_access(),
        project=asked.account.account,
        also=asked.instance_types,
        token=asked.token,
    ):
        mine = [machine for machine in seen if machine.region in asked.account.regions]
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
    asked: ReadingRequest, bought: account.CommittedUse, price: Decimal
) -> BoughtAhead:
    using = _pools_using(asked, bought)
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
        account=asked.account.account,
        source=f"Google Cloud commitment, {bought.plan.replace('_', ' ').lower()}",
    )


def _pools_using(asked: ReadingRequest, bought: account.CommittedUse) -> list[PoolHardware]:
    """Pools of the model in the region: nvidia-h100-80gb is NVIDIA H100 80GB HBM3 to its driver."""
    word = bought.accelerator.removeprefix("nvidia-").removeprefix("tesla-").partition("-")[0]
    return [
        pool
        for pool in asked.pools
        if pool.region.startswith(bought.region) and word in pool.gpu_model.lower().split()
    ]


def _metric_words(metric: str) -> str:
    """NVIDIA_H100_GPUS as people say it."""
    return metric.replace("_", " ").replace("GPUS", "GPUs")
