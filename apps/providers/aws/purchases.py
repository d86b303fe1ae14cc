"""Purchases ahead of an AWS account, as commitments: reserved instances, plans, capacity blocks."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from apps.providers.aws import account, prices
from apps.providers.aws.access import session_of
from apps.providers.reading import (
    BoughtAhead,
    CloudFact,
    NotCounted,
    PartRead,
    ReadingRequest,
    ReturnedPurchase,
    UnreadablePurchase,
)

HELD_STATES = {"active", "retired", "queued", "pending-return", "scheduled", "expired"}


def read_reserved_instances(request: ReadingRequest) -> Iterator[CloudFact]:
    """Reserved instances of machines with accelerators, region by region."""
    aws_session = session_of(request.account)
    for region in request.left(request.account.regions):
        for bought in account.reserved_instances(aws_session, region):
            yield _reserved_fact(request, bought)
        yield PartRead(region)


def read_savings_plans(request: ReadingRequest) -> Iterator[CloudFact]:
    """Savings plans, each with its own prices of the instance types that pools use."""
    aws_session = session_of(request.account)
    plans = {plan.id: plan for plan in account.savings_plans(aws_session)}
    types = sorted(request.instance_types)
    for plan_id in request.left(sorted(plans)):
        plan = plans[plan_id]
        if plan.state not in HELD_STATES:
            yield ReturnedPurchase(plan.arn)
        elif request.was_over(plan.ends_at):
            yield NotCounted()
        else:
            offered = account.plan_prices(aws_session, plan_id, types) if types else []
            yield from _plan_facts(request, plan, offered)
        yield PartRead(plan_id)


def capacity_blocks(
    request: ReadingRequest, blocks: Sequence[account.CapacityReservation]
) -> Iterator[CloudFact]:
    """Capacity blocks; what one cost is asked of the price list once.

    AWS tells no fee of a block that was bought. What a person, or an earlier reading, entered of
    it stays.
    """
    for block in blocks:
        if block.state not in HELD_STATES:
            yield ReturnedPurchase(block.arn)
            continue
        if block.ends_at is None or request.was_over(block.ends_at):
            yield NotCounted()
            continue
        fee, source = request.fees.get(block.arn) or _listed_fee(request, block)
        name = f"AWS capacity block {block.id}"
        if fee:
            yield _block_bought(block, name, fee, source)
        else:
            reason = f"AWS tells no fee of it; enter it by hand, as {block.arn}, with what it cost"
            yield UnreadablePurchase(name, reason)


def _reserved_fact(request: ReadingRequest, bought: account.ReservedInstance) -> CloudFact:
    external_id = (
        f"arn:aws:ec2:{bought.region}:{request.account.account}:reserved-instances/{bought.id}"
    )
    if bought.state not in HELD_STATES:
        return ReturnedPurchase(external_id)
    counts = (
        account.is_accelerated(bought.instance_type, request.instance_types) and bought.is_linux
    )
    if not counts or request.was_over(bought.ends_at):
        return NotCounted()
    lasted = (bought.ends_at - bought.starts_at).total_seconds()
    part = min(Decimal(1), Decimal(lasted + 1) / bought.full_term_seconds)
    return BoughtAhead(
        external_id=external_id,
        name=f"AWS reserved {bought.count} × {bought.instance_type} {bought.id[:8]}",
        kind="reserved",
        currency=bought.currency,
        starts_at=bought.starts_at,
        ends_at=bought.ends_at,
        region=bought.zone or bought.region,
        instance_type=bought.instance_type,
        units=bought.count,
        # One that was exchanged or split ends early, and its fee goes on with the next.
        upfront=round(bought.upfront * part, 9),
        hourly=bought.hourly,
        platform="Linux/UNIX",
        tenancy=bought.tenancy,
        account=request.account.account,
        source="AWS reserved instances",
    )


def _plan_facts(
    request: ReadingRequest, plan: account.SavingsPlan, offered: Sequence[account.PlanPrice]
) -> Iterator[CloudFact]:
    name = f"AWS {plan.kind} savings plan {plan.id[:8]}"
    chosen = _prices_where_used(request, offered)
    if not chosen:
        yield NotCounted(f"{name} has no price for any instance type of a pool")
        return
    several = {machine_type for machine_type, amounts in chosen.items() if len(amounts) > 1}
    note = ""
    if several:
        note = f"{name} has several prices for {', '.join(sorted(several))}, by region: the highest"
    yield BoughtAhead(
        external_id=plan.arn,
        name=name,
        kind="savings_plan",
        currency=plan.currency,
        starts_at=plan.starts_at,
        ends_at=plan.ends_at,
        region=plan.region,
        spend=plan.commitment,
        prices={machine_type: max(amounts) for machine_type, amounts in chosen.items()},
        upfront=plan.upfront,
        hourly=plan.hourly,
        account=request.account.account,
        source="AWS savings plans",
        note=note,
    )


def _prices_where_used(
    request: ReadingRequest, offered: Sequence[account.PlanPrice]
) -> dict[str, set[Decimal]]:
    """The plan's prices of each instance type in the regions where pools have it."""
    prices_by_type: dict[str, set[Decimal]] = {}
    for price in offered:
        used = any(
            pool.instance_type == price.instance_type and pool.region.startswith(price.region)
            for pool in request.pools
        )
        if used:
            prices_by_type.setdefault(price.instance_type, set()).add(price.amount)
    return prices_by_type


def _listed_fee(request: ReadingRequest, block: account.CapacityReservation) -> tuple[Decimal, str]:
    """Return what the price list would ask for the whole block; 0 where it says nothing, or two things."""
    offered = prices.price_list(session_of(request.account))
    region = next(
        candidate for candidate in request.account.regions if block.zone.startswith(candidate)
    )
    listed_prices = prices.block_prices(offered, region=region, instance_type=block.instance_type)
    if len({price.amount for price in listed_prices}) != 1 or block.ends_at is None:
        return Decimal(0), ""
    hours = round(Decimal((block.ends_at - block.starts_at).total_seconds()) / 3600)
    return listed_prices[0].amount * block.total * hours, f"AWS price list {listed_prices[0].sku}"


def _block_bought(
    block: account.CapacityReservation, name: str, fee: Decimal, source: str
) -> BoughtAhead:
    return BoughtAhead(
        external_id=block.arn,
        name=name,
        kind="capacity_block",
        currency="USD",
        starts_at=block.starts_at,
        ends_at=block.ends_at or block.starts_at,
        region=block.zone,
        instance_type=block.instance_type,
        units=block.total,
        upfront=fee,
        source=source,
    )
