"""A portfolio's answer: what to buy, what that comes to beside other choices, why, and what would change it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from apps.economics.forecast.scores import Floats
from apps.economics.portfolio.costs import FamilyCosts, PortfolioCosts
from apps.economics.portfolio.duration import duration_steps
from apps.economics.portfolio.ladder import purchase_ladder
from apps.economics.portfolio.names import MONTH_HOURS
from apps.economics.portfolio.newsvendor import tail_mean
from apps.economics.portfolio.parts import (
    ComparedChoice,
    FamilyAnswer,
    OfferAnswer,
    PortfolioChange,
    PurchaseTranche,
)
from apps.economics.portfolio.question import CapacityOffer, PortfolioQuestion
from apps.economics.portfolio.room import within_room
from apps.economics.portfolio.rules import CHOSEN, LOOK_BACK, all_committed_lots, rules_of
from apps.economics.purchase import PurchaseOption

METHOD = "portfolio 1"
DEMAND_CHANGES = (0.8, 1.2)
PRICE_CHANGE = 0.8


@dataclass(frozen=True, slots=True)
class SolvedMix:
    """Lots of the offers in their order; `gap` is how far above the best they may cost, as a part of it.

    Without `keeps_limit` no lots hold the limit on blocked GPU-hours: these cost least without it.
    """

    lots: tuple[int, ...]
    gap: float
    keeps_limit: bool


Mixer = Callable[[PortfolioQuestion, PortfolioCosts], SolvedMix]
"""What finds the lots of least cost."""


@dataclass(frozen=True, slots=True)
class PortfolioAnswer:
    """All that the scenarios say. `gap` is the part by which a better choice could cost less at most.

    Without `keeps_limit` no choice holds the limit on blocked GPU-hours: this one was made without it.
    `answered_by` names the rule whose lots these are, where the mix of scenarios did worse on the history.
    """

    method: str
    gap: float
    keeps_limit: bool
    chosen: ComparedChoice
    compared: tuple[ComparedChoice, ...]
    offers: tuple[OfferAnswer, ...]
    families: tuple[FamilyAnswer, ...]
    ladder: tuple[PurchaseTranche, ...]
    changes: tuple[PortfolioChange, ...]
    answered_by: str = CHOSEN


@dataclass(frozen=True)
class LadderPlan:
    """In how many purchases to buy, and how many months apart."""

    tranches: int = 3
    months_between: int = 1

    def within(self, hours: int) -> "LadderPlan":
        """Return this plan with all purchases in the planned `hours`: sooner after each other, or all at once, where these are few."""
        months = hours // MONTH_HOURS
        if not months:
            return self
        between = min(self.months_between, (months - 1) // max(1, self.tranches - 1))
        return LadderPlan(self.tranches if between else 1, between)


def answer_portfolio(
    costs: PortfolioCosts,
    histories: Mapping[str, Floats],
    plan: LadderPlan,
    mixer: Mixer,
    rule: str = CHOSEN,
) -> PortfolioAnswer:
    """Find the lots and explain them; `histories` are what rules see, by family.

    With the name of a `rule` its lots are the answer, within the limits of money, beside the mix of scenarios.
    """
    question = costs.question
    mix = mixer(question, costs)
    lots = np.array(mix.lots, dtype=np.float64)
    rules, ladder = rules_of(question, histories), plan.within(question.hours)
    others: dict[str, Floats] = {"nothing new": np.zeros(len(lots))}
    answered_by = CHOSEN
    if rule in rules and _is_within_budgets(costs, rules[rule]):
        others["mix of scenarios"], lots, answered_by = lots, rules[rule], rule
    is_owned = [one.kind == PurchaseOption.OWNED for one in question.offers]
    peaks = {one.name: float(one.demand.mean(axis=0).max()) for one in question.families}
    others |= {LOOK_BACK: rules[LOOK_BACK], "all committed": all_committed_lots(question, peaks)}
    return PortfolioAnswer(
        method=METHOD,
        gap=mix.gap,
        keeps_limit=mix.keeps_limit,
        chosen=_compared(costs, "chosen", lots),
        compared=tuple(_compared(costs, name, other) for name, other in others.items()),
        offers=tuple(_offer_answers(costs, lots)),
        families=tuple(
            _family_answer(family, lots[mine], [is_owned[at] for at in mine])
            for family, mine in zip(costs.families, costs.places, strict=True)
        ),
        ladder=tuple(purchase_ladder(costs, lots, ladder.tranches, ladder.months_between)),
        # What would change a mix of scenarios says nothing of what a rule buys.
        changes=tuple(_changes(question, mixer)) if answered_by == CHOSEN else (),
        answered_by=answered_by,
    )


def _is_within_budgets(costs: PortfolioCosts, lots: Floats) -> bool:
    question = costs.question
    upfront = np.array([one.lot * one.upfront for one in question.offers])
    return bool(
        costs.lot_costs @ lots <= question.budget
        and upfront @ lots <= question.upfront_budget
        and costs.blocked_part(lots) <= question.most_blocked
    )


def _compared(costs: PortfolioCosts, name: str, lots: Floats) -> ComparedChoice:
    by_scenario = costs.scenario_costs(lots)
    mean = float(by_scenario.mean())
    on_demand = sum(
        float(one.family.demand.mean(axis=0) @ one.on_demand_price) for one in costs.families
    )
    return ComparedChoice(
        name=name,
        lots=_named_lots(costs.question, lots),
        mean_cost=mean,
        tail_cost=tail_mean(by_scenario, costs.question.tail),
        effective_savings_rate=(on_demand - mean) / on_demand if on_demand else None,
        blocked_part=float(costs.blocked(lots)[0].mean()),
        limited_part=costs.blocked_part(lots),
    )


def _named_lots(question: PortfolioQuestion, lots: Sequence[float] | Floats) -> dict[str, int]:
    return {
        offer.name: int(count) for offer, count in zip(question.offers, lots, strict=True) if count
    }


def _offer_answers(costs: PortfolioCosts, lots: Floats) -> Iterator[OfferAnswer]:
    question, chosen = costs.question, costs.objective(lots)
    for at, offer in enumerate(question.offers):
        step = np.zeros(len(lots))
        step[at] = 1
        hours = offer.lot * offer.covered_hours(question.hours)
        may_have_more = offer.most_lots is None or lots[at] < offer.most_lots
        more = chosen - costs.objective(lots + step) if may_have_more and hours else None
        yield OfferAnswer(
            name=offer.name,
            family=offer.family,
            kind=offer.kind,
            lots=int(lots[at]),
            gpus=int(lots[at]) * offer.lot,
            rate=offer.rate,
            upfront=float(lots[at]) * offer.lot * offer.upfront,
            break_even_utilization=_break_even(costs, offer),
            one_more_lot=more,
            last_lot=costs.objective(lots - step) - chosen if lots[at] else None,
            pays_up_to=None if more is None else offer.rate + more / hours,
        )


def _break_even(costs: PortfolioCosts, offer: CapacityOffer) -> float | None:
    """Its rate over the mean price on demand of the planned hours that it covers; None: it covers none."""
    family = next(one for one in costs.families if one.family.name == offer.family)
    prices = family.on_demand_price[offer.starts_in : offer.ends_in]
    return offer.rate / float(prices.mean()) if len(prices) else None


def _family_answer(family: FamilyCosts, lots: Floats, owned: Sequence[bool]) -> FamilyAnswer:
    parts, capacity = family.parts(lots), family.capacity(lots)
    total = float(capacity.sum())
    used = np.minimum(family.family.demand, capacity).sum(axis=1)
    now = family.cost_of(family.use(capacity))
    saved = now - family.cost_of(family.use(capacity + 1.0))
    waiting = family.family.waiting
    return FamilyAnswer(
        name=family.family.name,
        parts=parts,
        utilization=parts.committed_used_hours / total if total else None,
        tenth_utilization=float(np.quantile(used, 0.1)) / total if total else None,
        gpu_hour_worth=float(saved.mean()) / len(capacity),
        duration=tuple(duration_steps(family, lots, owned)),
        waiting_hours=0.0 if waiting is None else waiting.gpu_hours,
        waiting_cost=0.0 if waiting is None else waiting.cost,
    )


def _changes(question: PortfolioQuestion, mixer: Mixer) -> Iterator[PortfolioChange]:
    """The best lots with demand and prices changed, all else as it is."""
    if not question.offers:
        return
    changed = {
        f"demand {factor - 1:+.0%}": tuple(
            within_room(replace(one, demand=one.demand * factor), question.held)
            for one in question.families
        )
        for factor in DEMAND_CHANGES
    }
    changed[f"price on demand {PRICE_CHANGE - 1:+.0%}"] = tuple(
        replace(one, on_demand=one.on_demand * PRICE_CHANGE) for one in question.families
    )
    for name, families in changed.items():
        yield _change(name, replace(question, families=families), mixer)
    for name, weight in (("the mean alone counts", 0.0), ("the tail alone counts", 1.0)):
        yield _change(name, replace(question, risk_weight=weight), mixer)


def _change(name: str, question: PortfolioQuestion, mixer: Mixer) -> PortfolioChange:
    mix = mixer(question, PortfolioCosts(question))
    return PortfolioChange(name, _named_lots(question, mix.lots), mix.keeps_limit)
