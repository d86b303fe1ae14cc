"""When to buy: a choice of lots in several purchases, the surest first."""

from collections.abc import Mapping, Sequence

import numpy as np

from apps.economics.forecast.scores import Floats
from apps.economics.portfolio.costs import FamilyCosts, PortfolioCosts
from apps.economics.portfolio.names import MONTH_HOURS
from apps.economics.portfolio.parts import PurchaseTranche


def purchase_ladder(
    costs: PortfolioCosts, lots: Floats, tranches: int, months_between: int
) -> list[PurchaseTranche]:
    """By family, up to `tranches` purchases of nearly equal parts of each offer's lots, `months_between` apart.

    Parts are stacked in the order in which they are bought, so that the first meets the demand that is
    there most often, and each later one can be left out when demand has not come.
    """
    ladder: list[PurchaseTranche] = []
    for family, mine in zip(costs.families, costs.places, strict=True):
        below = np.zeros(len(mine))
        parts = [part for part in equal_parts(lots[mine], tranches) if part.any()]
        for number, part in enumerate(parts):
            names = [costs.question.offers[at].name for at in mine]
            bought = {name: int(count) for name, count in zip(names, part, strict=True) if count}
            prices = costs.lot_costs[mine]
            wait = number * months_between
            ladder.append(_tranche(family, bought, (below, part), prices, (number, wait)))
            below = below + part
    return ladder


def equal_parts(lots: Floats, tranches: int) -> Sequence[Floats]:
    """Whole parts of each offer's lots that sum to them, larger ones first."""
    quotient, more = np.divmod(lots, tranches)
    return [quotient + (number < more) for number in range(tranches)]


def _tranche(
    family: FamilyCosts,
    bought: Mapping[str, int],
    stack: tuple[Floats, Floats],
    lot_costs: Floats,
    when: tuple[int, int],
) -> PurchaseTranche:
    below, part = stack
    under, over = family.capacity(below), family.capacity(below + part)
    tranche_gpus = over - under
    demand = family.family.demand
    used = np.clip(demand - under, 0.0, tranche_gpus)
    saved = family.cost_of(family.use(under)) - family.cost_of(family.use(over))
    price = float(lot_costs @ part)
    number, wait = when
    covered = tranche_gpus > 0
    hours = int(covered.sum())
    held_back = min(wait * MONTH_HOURS, hours)
    return PurchaseTranche(
        family=family.family.name,
        number=number + 1,
        in_months=wait,
        lots=dict(bought),
        from_gpus=float(under[covered].mean()),
        to_gpus=float(over[covered].mean()),
        break_even_utilization=price / float(tranche_gpus @ family.on_demand_price),
        expected_utilization=float(used.mean(axis=0).sum() / tranche_gpus.sum()),
        pays_in=float((saved >= price).mean()),
        waiting_cost=(float(saved.mean()) - price) * held_back / hours,
    )
