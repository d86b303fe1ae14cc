"""Reads what was bought ahead from a cloud, and keeps it as commitments."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from apps.economics.hours import HOUR, hour_of
from apps.fleet.actions import clouds
from apps.fleet.providers.aws import session
from apps.fleet.queries import PoolFact, lived_since, pools
from apps.fleet.queries.clouds import CloudAccountFact
from apps.pricing import actions
from apps.pricing.providers import aws, aws_account
from apps.pricing.queries import RateUnit
from apps.pricing.queries.commitments import commitments
from apps.pricing.tasks.rounds import Clock, Round, round_of

if TYPE_CHECKING:
    from apps.pricing.providers.gcp_account import CommittedUse

HELD_STATES = {"active", "retired", "queued", "pending-return", "scheduled", "expired"}
GOOGLE_STATES = {"ACTIVE", "NOT_YET_ACTIVE", "EXPIRED"}
COUNTED = ("added", "updated", "unchanged", "ended", "left_out", "rejected")
REFUSED = (
    actions.CommitmentNotUnderstood,
    actions.CommitmentEndsBeforeItStarts,
    actions.CommitmentExists,
    actions.RateNotUnderstood,
)


@dataclass(slots=True)
class Buying:
    """What is read of one account, and the pools that may use it."""

    account: CloudAccountFact
    round: Round
    pools: list[PoolFact]

    @property
    def types(self) -> frozenset[str]:
        """The instance types of the pools."""
        return frozenset(pool.instance_type for pool in self.pools if pool.instance_type)

    def keep(self, commitment: actions.NewCommitment) -> None:
        """Record it, or note why not."""
        try:
            kept = actions.record_commitment(commitment=commitment, at=self.round.clock())
        except REFUSED as refused:
            self.reject(commitment.name, str(refused))
            return
        self.round.count(kept.became)

    def leave_out(self) -> None:
        """It buys nothing that Runrate counts."""
        self.round.count("left_out")

    def give_up(self, external_id: str) -> None:
        """It was returned, cancelled or not paid: if it was counted, it ends with this hour."""
        at = self.round.clock()
        this_hour = hour_of(at)
        for held in commitments():
            ended_at = max(this_hour, held.starts_at) + HOUR
            is_it = (held.provider, held.external_id) == (self.account.provider, external_id)
            if is_it and held.ended_at is None and ended_at < held.ends_at:
                actions.end_commitment(commitment_id=held.id, ended_at=ended_at, at=at)
                self.round.count("ended")
        self.leave_out()

    def reject(self, name: str, reason: str) -> None:
        """It cannot be kept as it is told."""
        self.round.count("rejected")
        self.round.odd.append(f"{name} is not kept: {reason}")

    def was_over(self, ends_at: datetime) -> bool:
        """Whether it ended before anything lived that it could have covered."""
        return ends_at <= (lived_since() or self.round.began_at)


def read_reserved_instances(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    """Reserved instances of machines with accelerators, region by region."""
    this = _buying(account, turn, clock)
    asks = session(account.role_arn)
    for region in this.round.left(account.regions):
        for bought in aws_account.reserved_instances(asks, region):
            _keep_reserved(this, bought)
    return this.round.over()


def read_savings_plans(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    """Savings plans, each with its own prices of the instance types that pools use."""
    this = _buying(account, turn, clock)
    asks = session(account.role_arn)
    plans = {plan.id: plan for plan in aws_account.savings_plans(asks)}
    for plan_id in this.round.left(sorted(plans)):
        plan = plans[plan_id]
        if plan.state not in HELD_STATES:
            this.give_up(plan.arn)
            continue
        if this.was_over(plan.ends_at):
            this.leave_out()
            continue
        types = sorted(this.types)
        prices = aws_account.plan_prices(asks, plan_id, types) if types else []
        _keep_plan(this, plan, prices)
    return this.round.over()


def read_committed_use(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    """Google's committed use of GPUs, priced by its SKUs."""
    from apps.pricing.providers import gcp, gcp_account  # six seconds, for Google's only

    this = _buying(account, turn, clock)
    asks = gcp.access()
    found = gcp_account.committed_uses(asks, project=account.account)
    mine = [bought for bought in found if _is_counted(this, bought)]
    skus = gcp.compute_skus(asks) if mine else []
    for bought in mine:
        price = gcp_account.committed_price(bought, skus)
        if isinstance(price, str):
            this.reject(bought.name, f"{price}; enter it with its price")
        else:
            this.keep(_committed(this, bought, price))
        this.round.keep()
    return this.round.over()


def keep_blocks(
    account: CloudAccountFact,
    round_: Round,
    blocks: Sequence[aws_account.CapacityReservation],
) -> None:
    """Keep capacity blocks as commitments; what one cost is asked of the price list once.

    AWS tells no fee of a block that was bought. What a person, or an earlier reading, entered of
    it stays.
    """
    this = Buying(account, round_, _pools_of(account))
    fees = {each.external_id: (each.upfront, each.source) for each in commitments()}
    for block in blocks:
        if block.state not in HELD_STATES:
            this.give_up(block.arn)
            continue
        if block.ends_at is None or this.was_over(block.ends_at):
            this.leave_out()
            continue
        fee, source = fees.get(block.arn) or _listed_fee(account, block)
        name = f"AWS capacity block {block.id}"
        if fee:
            this.keep(_block(this, block, name, fee, source))
        else:
            this.reject(
                name, f"AWS tells no fee of it; enter it by hand, as {block.arn}, with what it cost"
            )


def _buying(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> Buying:
    return Buying(account, round_of(turn, clock, *COUNTED), _pools_of(account))


def _pools_of(account: CloudAccountFact) -> list[PoolFact]:
    return [pool for pool in pools().values() if pool.provider == account.provider]


def _keep_reserved(this: Buying, bought: aws_account.ReservedInstance) -> None:
    external_id = (
        f"arn:aws:ec2:{bought.region}:{this.account.account}:reserved-instances/{bought.id}"
    )
    if bought.state not in HELD_STATES:
        this.give_up(external_id)
        return
    counts = aws_account.is_accelerated(bought.instance_type, this.types) and bought.is_linux
    if not counts or this.was_over(bought.ends_at):
        this.leave_out()
        return
    lasted = (bought.ends_at - bought.starts_at).total_seconds()
    part = min(Decimal(1), Decimal(lasted + 1) / bought.full_term_seconds)
    this.keep(
        actions.NewCommitment(
            name=f"AWS reserved {bought.count} × {bought.instance_type} {bought.id[:8]}",
            kind="reserved",
            currency=bought.currency,
            starts_at=bought.starts_at,
            ends_at=bought.ends_at,
            provider="aws",
            region=bought.zone or bought.region,
            instance_type=bought.instance_type,
            units=bought.count,
            # One that was exchanged or split ends early, and its fee goes on with the next.
            upfront=round(bought.upfront * part, 9),
            hourly=bought.hourly,
            external_id=external_id,
            source="AWS reserved instances",
        )
    )


def _keep_plan(
    this: Buying, plan: aws_account.SavingsPlan, prices: Sequence[aws_account.PlanPrice]
) -> None:
    name = f"AWS {plan.kind} savings plan {plan.id[:8]}"
    chosen = _prices_where_used(this, prices)
    if not chosen:
        this.leave_out()
        this.round.odd.append(f"{name} has no price for any instance type of a pool")
        return
    named = {name for name, amounts in chosen.items() if len(amounts) > 1}
    if named:
        this.round.odd.append(
            f"{name} has several prices for {', '.join(sorted(named))}, by region: the dearest"
        )
    this.keep(
        actions.NewCommitment(
            name=name,
            kind="savings_plan",
            currency=plan.currency,
            starts_at=plan.starts_at,
            ends_at=plan.ends_at,
            provider="aws",
            region=plan.region,
            spend=plan.commitment,
            prices={name: max(amounts) for name, amounts in chosen.items()},
            upfront=plan.upfront,
            hourly=plan.hourly,
            external_id=plan.arn,
            source="AWS savings plans",
        )
    )


def _prices_where_used(
    this: Buying, prices: Sequence[aws_account.PlanPrice]
) -> dict[str, set[Decimal]]:
    """The plan's prices of each instance type in the regions where pools have it."""
    found: dict[str, set[Decimal]] = {}
    for price in prices:
        used = any(
            pool.instance_type == price.instance_type and pool.region.startswith(price.region)
            for pool in this.pools
        )
        if used:
            found.setdefault(price.instance_type, set()).add(price.amount)
    return found


def _is_counted(this: Buying, bought: "CommittedUse") -> bool:
    if bought.status not in GOOGLE_STATES:
        this.give_up(bought.id)
        return False
    if not bought.gpus or this.was_over(bought.ends_at):
        this.leave_out()
        return False
    return True


def _committed(this: Buying, bought: "CommittedUse", price: Decimal) -> actions.NewCommitment:
    return actions.NewCommitment(
        name=f"Google commitment {bought.name} in {bought.region}",
        kind="committed_use",
        currency="USD",
        starts_at=bought.starts_at,
        ends_at=bought.ends_at,
        provider="gcp",
        region=_google_place(this, bought),
        gpu_model=_google_model(this, bought),
        units=bought.gpus,
        unit=RateUnit.GPU,
        hourly=price,
        external_id=bought.id,
        source=f"Google Cloud commitment, {bought.plan.replace('_', ' ').lower()}",
    )


def _google_pools(this: Buying, bought: "CommittedUse") -> list[PoolFact]:
    """Pools of the model in the region: nvidia-h100-80gb is NVIDIA H100 80GB HBM3 to its driver."""
    word = bought.accelerator.removeprefix("nvidia-").removeprefix("tesla-").partition("-")[0]
    return [
        pool
        for pool in this.pools
        if pool.region.startswith(bought.region) and word in pool.gpu_model.lower().split()
    ]


def _google_model(this: Buying, bought: "CommittedUse") -> str:
    models = {pool.gpu_model for pool in _google_pools(this, bought)}
    return models.pop() if len(models) == 1 else bought.accelerator


def _google_place(this: Buying, bought: "CommittedUse") -> str:
    places = {pool.region for pool in _google_pools(this, bought)}
    return places.pop() if len(places) == 1 else bought.region


def _listed_fee(
    account: CloudAccountFact, block: aws_account.CapacityReservation
) -> tuple[Decimal, str]:
    """What the price list would ask for the whole block; 0 where it says nothing, or two things."""
    offered = aws.price_list(session(account.role_arn))
    region = next(each for each in account.regions if block.zone.startswith(each))
    prices = aws.block_prices(offered, region=region, instance_type=block.instance_type)
    if len({price.amount for price in prices}) != 1 or block.ends_at is None:
        return Decimal(0), ""
    hours = round(Decimal((block.ends_at - block.starts_at).total_seconds()) / 3600)
    return prices[0].amount * block.total * hours, f"AWS price list {prices[0].sku}"


def _block(
    this: Buying,
    block: aws_account.CapacityReservation,
    name: str,
    fee: Decimal,
    source: str,
) -> actions.NewCommitment:
    return actions.NewCommitment(
        name=name,
        kind="capacity_block",
        currency="USD",
        starts_at=block.starts_at,
        ends_at=block.ends_at or block.starts_at,
        provider="aws",
        region=block.zone,
        instance_type=block.instance_type,
        units=block.total,
        upfront=fee,
        external_id=block.arn,
        source=source,
    )
