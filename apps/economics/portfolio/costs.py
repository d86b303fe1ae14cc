"""The cost of a choice of commitments in each scenario, exactly, and what one more lot would change."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from apps.economics.forecast.scores import Floats
from apps.economics.portfolio.newsvendor import ROUNDING, tail_mean
from apps.economics.portfolio.parts import CostParts
from apps.economics.portfolio.question import (
    CapacityHeld,
    CapacityOffer,
    GpuFamily,
    PortfolioQuestion,
)
from apps.economics.purchase import PurchaseOption


@dataclass(frozen=True, slots=True)
class UncommittedUse:
    """GPUs by scenario and hour that no commitment covers, by where they come from."""

    spot: Floats
    on_demand: Floats
    short: Floats


class FamilyCosts:
    """A family with its offers: what is left to spot and on-demand is bought hour by hour, cheapest first.

    What is committed is used first: it is paid for either way.
    """

    def __init__(
        self,
        family: GpuFamily,
        offers: Sequence[CapacityOffer],
        held_capacity: Sequence[CapacityHeld],
    ) -> None:
        hours = family.hours
        self.family = family
        self.covers = np.array([hours_covered(offer, hours) for offer in offers]).reshape(-1, hours)
        self.lot_gpus = np.array([float(offer.lot) for offer in offers])
        self.held_gpus, self.owned_gpus = np.zeros(hours), np.zeros(hours)
        for one in held_capacity:
            span = slice(max(0, one.starts_in), max(0, one.ends_in))
            self.held_gpus[span] += one.gpus
            if one.kind == PurchaseOption.OWNED:
                self.owned_gpus[span] += one.gpus
        spot = family.effective_spot
        self.spot_share = 0.0 if spot is None else family.spot_share
        self.on_demand_price = family.on_demand * family.price_path
        self.spot_price = (spot or 0.0) * family.price_path
        self.short_price = family.shortage_cost or 0.0

    def capacity(self, lots: Floats) -> Floats:
        """GPUs committed to in each hour, with those that are held already."""
        committed: Floats = self.held_gpus + (lots * self.lot_gpus) @ self.covers
        return committed

    def use(self, capacity: Floats) -> UncommittedUse:
        """Return the use of each scenario and hour beyond `capacity`."""
        open_gpus = np.maximum(self.family.demand - capacity, 0.0)
        if not self.spot_share:
            spot = np.zeros_like(open_gpus)
        else:
            spot = np.minimum(open_gpus, self.spot_share * self.family.demand)
        remaining_gpus = open_gpus - spot
        if self.family.on_demand_quota == inf:
            return UncommittedUse(spot, remaining_gpus, np.zeros(remaining_gpus.shape))
        on_demand = np.minimum(remaining_gpus, self.family.on_demand_quota)
        return UncommittedUse(spot, on_demand, remaining_gpus - on_demand)

    def cost_of(self, use: UncommittedUse) -> Floats:
        """By scenario: what it costs over all hours."""
        cost: Floats = use.on_demand @ self.on_demand_price
        if self.spot_share:
            cost += use.spot @ self.spot_price
        if self.family.on_demand_quota != inf:
            cost += use.short.sum(axis=1) * self.short_price
        return cost

    def worth_of_lot(self, use: UncommittedUse) -> Floats:
        """By scenario and offer: what a little more of it saves elsewhere, for a lot: a subgradient."""
        margin = np.where(use.spot > 0, self.spot_price, 0.0)
        margin = np.where(use.on_demand > 0, self.on_demand_price, margin)
        if self.family.on_demand_quota != inf:
            margin = np.where(use.short > 0, self.short_price, margin)
        worth: Floats = (margin @ self.covers.T) * self.lot_gpus
        return worth

    def short_of_lot(self, use: UncommittedUse) -> Floats:
        """By scenario and offer: GPU-hours that a little more of it unblocks, for a lot: a subgradient."""
        blocked: Floats = ((use.short > 0) @ self.covers.T) * self.lot_gpus
        return blocked

    def parts(self, lots: Floats) -> CostParts:
        """Where the GPU-hours come from and what they cost, in the mean over the scenarios."""
        capacity = self.capacity(lots)
        use = self.use(capacity)
        count = self.family.demand.shape[0]
        demand = float(self.family.demand.sum()) / count
        spot, on_demand, short = (
            part.sum(axis=0) / count for part in (use.spot, use.on_demand, use.short)
        )
        return CostParts(
            demand_hours=demand,
            committed_hours=float(capacity.sum()),
            committed_used_hours=max(0.0, demand - float((spot + on_demand + short).sum())),
            spot_hours=float(spot.sum()),
            on_demand_hours=float(on_demand.sum()),
            short_hours=float(short.sum()),
            spot_cost=float(spot @ self.spot_price),
            on_demand_cost=float(on_demand @ self.on_demand_price),
            short_cost=float(short.sum()) * self.short_price,
            on_demand_equivalent=float(self.family.demand.mean(axis=0) @ self.on_demand_price),
        )


class PortfolioCosts:
    """All families of a question; `lots` are of its offers, in their order."""

    def __init__(self, question: PortfolioQuestion) -> None:
        self.question = question
        self.families: list[FamilyCosts] = []
        self.places: list[NDArray[np.int64]] = []
        for family in question.families:
            mine = [at for at, one in enumerate(question.offers) if one.family == family.name]
            held_capacity = [one for one in question.held if one.family == family.name]
            offers = [question.offers[at] for at in mine]
            self.places.append(np.array(mine, dtype=np.int64))
            self.families.append(FamilyCosts(family, offers, held_capacity))
        hours = question.hours
        self.lot_costs = np.array([offer.amortised_cost(hours) for offer in question.offers])
        self.held_cost = sum(one.cost_within(hours) for one in question.held)
        demand = sum(one.demand.sum(axis=1) for one in question.families)
        self.demand_hours: Floats = np.maximum(demand, ROUNDING)

    def recourse(self, lots: Floats) -> tuple[Floats, Floats]:
        """Return the cost of what stays uncommitted, by scenario and family; and what a lot saves, by scenario and offer."""
        question = self.question
        costs = np.zeros((question.scenarios, len(self.families)))
        worth = np.zeros((question.scenarios, len(question.offers)))
        for at, (family, mine) in enumerate(zip(self.families, self.places, strict=True)):
            use = family.use(family.capacity(lots[mine]))
            costs[:, at] = family.cost_of(use)
            worth[:, mine] = family.worth_of_lot(use)
        return costs, worth

    def blocked(self, lots: Floats) -> tuple[Floats, Floats]:
        """By scenario: the part of its GPU-hours that nobody can supply, and what of it a lot unblocks."""
        question = self.question
        short = np.zeros(question.scenarios)
        unblocked = np.zeros((question.scenarios, len(question.offers)))
        for family, mine in zip(self.families, self.places, strict=True):
            if family.family.on_demand_quota != inf:
                use = family.use(family.capacity(lots[mine]))
                short += use.short.sum(axis=1)
                unblocked[:, mine] = family.short_of_lot(use)
        return short / self.demand_hours, unblocked / self.demand_hours[:, None]

    def blocked_part(self, lots: Floats) -> float:
        """The part that `most_blocked` limits."""
        return tail_mean(self.blocked(lots)[0], self.question.blocked_tail)

    def scenario_costs(self, lots: Floats) -> Floats:
        """All that each scenario costs: what is held, what is bought ahead, and the rest."""
        uncommitted: Floats = self.recourse(lots)[0].sum(axis=1)
        return uncommitted + self.held_cost + float(self.lot_costs @ lots)

    def objective(self, lots: Floats) -> float:
        """The mean and the tail's mean of it, weighed."""
        return self.weighed(self.scenario_costs(lots))

    def weighed(self, scenario_costs: Floats) -> float:
        """(1 − risk weight)·mean + risk weight·CVaR."""
        weight, tail = self.question.risk_weight, self.question.tail
        mean = float(scenario_costs.mean())
        return (1 - weight) * mean + weight * tail_mean(scenario_costs, tail)


def hours_covered(offer: CapacityOffer, hours: int) -> Floats:
    """1 in each planned hour that it covers, 0 in others."""
    hour = np.arange(hours)
    return ((hour >= offer.starts_in) & (hour < offer.ends_in)).astype(np.float64)
