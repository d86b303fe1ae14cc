"""Costs that no device carries: shared charges over lines, and idle cost over holders."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from apps.economics.bases import Amounts, BilledCosts, negated, split_bases
from apps.economics.billing import spread as spread_costs
from apps.economics.split import largest_remainder


class IdleCost(NamedTuple):
    """The unheld part of one charge: milliseconds and amounts that its pool's owner carries."""

    charge: int
    idle_ms: int
    amounts: Amounts


class Adjustment(NamedTuple):
    """A part of a charge moved, without time: from the owner (None) or to a holder."""

    charge: int
    holder_id: int | None
    amounts: Amounts


def spread(costs: BilledCosts, weights: Mapping[int, int]) -> dict[int, BilledCosts]:
    """A shared charge over lines (or holders) by weight; every basis sums exactly.

    The keys give the order of ties. Those of weight 0 get nothing and are left out. Refuses
    NothingToSplitBy where no weight is above 0: the caller names who carries the charge then.
    """
    keys = sorted(key for key, weight in weights.items() if weight)
    return dict(zip(keys, spread_costs(costs, [weights[key] for key in keys]), strict=True))


def shared_idle(idle: Sequence[IdleCost], weights: Mapping[int, int]) -> list[Adjustment]:
    """Move idle cost of a pool's hour to its holders, by weight (their held milliseconds).

    The adjustments of each charge sum to 0 on every basis. Holders share the pool's idle cost as
    a whole: each charge's goes to the next holders in line until their part is full, so there are
    no more adjustments than charges (twice) and holders together, not one for each pair.
    Without holders nothing moves.
    """
    holders = sorted(holder for holder, weight in weights.items() if weight > 0)
    sizes = _idle_sizes(idle)
    if not holders or not any(sizes.values()):
        return []
    quotas = largest_remainder(sum(sizes.values()), [weights[holder] for holder in holders])
    waiting = [[holder, quota] for holder, quota in zip(holders, quotas, strict=True) if quota]
    adjustments = []
    for cost in sorted(cost for cost in idle if sizes[cost.charge]):
        taken = _take_quotas(waiting, sizes[cost.charge])
        parts = split_bases(cost.amounts, list(taken.values()))
        adjustments.append(Adjustment(cost.charge, None, negated(cost.amounts)))
        adjustments += [
            Adjustment(cost.charge, holder, part) for holder, part in zip(taken, parts, strict=True)
        ]
    return adjustments


def _idle_sizes(idle: Sequence[IdleCost]) -> dict[int, int]:
    """How much each charge has to give: its effective amount, or time where one is unpriced."""
    amounts = {cost.charge: cost.amounts.effective_micros for cost in idle}
    if all(micros is not None and micros > 0 for micros in amounts.values()):
        return {charge: micros for charge, micros in amounts.items() if micros is not None}
    return {cost.charge: cost.idle_ms for cost in idle}


def _take_quotas(waiting: list[list[int]], size: int) -> dict[int, int]:
    """Take `size` from the front of the queue of holders and their quotas."""
    taken: dict[int, int] = {}
    while size:
        holder, quota = waiting[0]
        part = min(quota, size)
        taken[holder] = part
        size -= part
        waiting[0][1] -= part
        if not waiting[0][1]:
            waiting.pop(0)
    return taken
