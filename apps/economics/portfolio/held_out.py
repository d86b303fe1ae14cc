"""The cost of choices held out: decided on what was known before some months, paid over what they brought."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil, inf

import numpy as np

from apps.economics.forecast.scores import Floats
from apps.economics.portfolio.answer import Mixer
from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.names import MONTH_HOURS
from apps.economics.portfolio.parts import HeldOutChoice
from apps.economics.portfolio.question import (
    CapacityHeld,
    CapacityOffer,
    GpuFamily,
    PortfolioQuestion,
)
from apps.economics.portfolio.rules import (
    CHOSEN,
    LOOK_BACK,
    all_committed_lots,
    lookback_lots,
)
from apps.economics.portfolio.savings import HoursInService
from apps.economics.portfolio.scenarios import LEAST_WEEKS, WEEK, filled_history

HELD_OUT_HOURS = MONTH_HOURS
LEAST_BEFORE = LEAST_WEEKS * WEEK
"""So much history is drawn by weeks: on less nothing is decided."""

Drawn = Callable[[Sequence[Floats], int], PortfolioQuestion]
"""From each family's history the question of so many hours after it."""


def held_out_choices(
    histories: Mapping[str, Floats], drawn: Drawn, mixer: Mixer
) -> list[HeldOutChoice]:
    """Ours and the usual rules', decided before the last month of each history and scored on it.

    Prices, offers and what is held are those of now; a commitment costs its hours of that month alone,
    and of limits of money on it as large a part counts as it is of the planned hours. Each history has
    LEAST_BEFORE hours and the held-out ones.
    """
    before = {name: history[:-HELD_OUT_HOURS] for name, history in histories.items()}
    question = drawn(list(before.values()), HELD_OUT_HOURS)
    held_capacity = tuple(
        replace(one, ends_in=HELD_OUT_HOURS) for one in question.held if one.holds_now
    )
    question = replace(question, held=held_capacity)
    costs = PortfolioCosts(question)
    peaks = {one.name: float(one.demand.mean(axis=0).max()) for one in question.families}
    choices = {
        CHOSEN: np.array(mixer(question, costs).lots, dtype=np.float64),
        "nothing new": np.zeros(len(question.offers)),
        LOOK_BACK: lookback_lots(question, before),
        "all committed": all_committed_lots(question, peaks),
    }
    actual = replace(
        question,
        families=tuple(
            replace(one, demand=filled_history(histories[one.name])[None, -HELD_OUT_HOURS:])
            for one in question.families
        ),
    )
    scored = PortfolioCosts(actual)
    on_demand = sum(_on_demand_cost(one) for one in actual.families)
    return [_choice(name, lots, scored, on_demand) for name, lots in choices.items()]


def foresight_costs(
    question: PortfolioQuestion, in_service: Mapping[str, HoursInService], mixer: Mixer
) -> dict[str, float]:
    """By family: the least that its hours in service could have cost, had they been known beforehand.

    With the question's offers at its prices, each from the first hour on, and with what is held as far
    as it was of use: all of that is chosen anew. Families with no such hours are left out.
    """
    families = tuple(
        replace(
            one,
            demand=np.array(in_service[one.name].gpus)[None, :],
            on_demand=in_service[one.name].on_demand,
            monthly_decline=0.0,
            on_demand_quota=inf,
            shortage_cost=None,
        )
        for one in question.families
        if one.name in in_service
    )
    if not families:
        return {}
    names = {one.name for one in families}
    hours = families[0].hours
    offers = [replace(one, starts_in=0) for one in question.offers if one.family in names]
    held_capacity = [one for one in question.held if one.family in names and one.holds_now]
    offers += [_offer_of_held(one, hours) for one in held_capacity]
    known_question = PortfolioQuestion(families, tuple(offers), risk_weight=0.0)
    costs = PortfolioCosts(known_question)
    lots = np.array(mixer(known_question, costs).lots, dtype=np.float64)
    return {
        one.family.name: float(one.cost_of(one.use(one.capacity(lots[mine])))[0])
        + float(costs.lot_costs[mine] @ lots[mine])
        for one, mine in zip(costs.families, costs.places, strict=True)
    }


def _offer_of_held(capacity: CapacityHeld, hours: int) -> CapacityOffer:
    """As many GPUs as are held, one by one, at what they cost."""
    return CapacityOffer(
        name=f"held: {capacity.name}",
        family=capacity.family,
        kind=capacity.kind,
        term_hours=hours,
        hourly=capacity.rate,
        most_lots=ceil(capacity.gpus),
    )


def _on_demand_cost(family: GpuFamily) -> float:
    return float(family.demand[0] @ (family.on_demand * family.price_path))


def _choice(name: str, lots: Floats, scored: PortfolioCosts, on_demand: float) -> HeldOutChoice:
    cost = float(scored.scenario_costs(lots)[0])
    offers = scored.question.offers
    return HeldOutChoice(
        name=name,
        lots={one.name: int(lot) for one, lot in zip(offers, lots, strict=True) if lot},
        cost=cost,
        effective_savings_rate=(on_demand - cost) / on_demand if on_demand else None,
        blocked_part=float(scored.blocked(lots)[0][0]),
    )
