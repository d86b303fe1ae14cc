"""Rules by which people buy without a scenario: a mix of commitments is compared with them."""

from collections.abc import Mapping
from math import ceil

import numpy as np

from apps.economics.forecast.scores import DAY, Floats
from apps.economics.portfolio.newsvendor import newsvendor_level
from apps.economics.portfolio.question import CapacityOffer, PortfolioQuestion

LOOK_BACK_HOURS = 30 * DAY


CHOSEN, LOOK_BACK = "chosen", "look-back rule"
NEWSVENDORS = {
    "newsvendor on the last 7 days": 7 * DAY,
    "newsvendor on the last 14 days": 14 * DAY,
}


def rules_of(question: PortfolioQuestion, histories: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the lots that each rule buys, by its name."""
    lots_by_rule = {LOOK_BACK: lookback_lots(question, histories)}
    for name, hours in NEWSVENDORS.items():
        lots_by_rule[name] = lookback_lots(question, histories, hours)
    return lots_by_rule


def lookback_lots(
    question: PortfolioQuestion, histories: Mapping[str, Floats], hours: int = LOOK_BACK_HOURS
) -> Floats:
    """Of each family's offer of the lowest rate: what would have cost least over its last `hours`, 30 days without.

    As clouds recommend commitments: as if the past came again. What is held is counted in.
    """
    lots = np.zeros(len(question.offers))
    for at, family, held_gpus in _lowest_offers(question):
        offer = question.offers[at]
        recent = histories[family][-hours:]
        recent = np.maximum(recent[~np.isnan(recent)] - held_gpus, 0.0)
        prices = {one.name: one.on_demand for one in question.families}
        if len(recent):
            level = newsvendor_level(recent, offer.rate, prices[family])
            lots[at] = _allowed(offer, round(level / offer.lot))
    return lots


def all_committed_lots(question: PortfolioQuestion, levels: Mapping[str, float]) -> Floats:
    """Of each family's offer of the lowest rate: as much as its level of `levels`, that nothing is left open below it."""
    lots = np.zeros(len(question.offers))
    for at, family, held_gpus in _lowest_offers(question):
        offer = question.offers[at]
        lots[at] = _allowed(offer, ceil(max(0.0, levels[family] - held_gpus) / offer.lot))
    return lots


def _lowest_offers(question: PortfolioQuestion) -> list[tuple[int, str, float]]:
    """By family with offers from the start that may be bought: the place of the lowest rate, its name, GPUs held then."""
    lowest: dict[str, int] = {}
    for at, offer in enumerate(question.offers):
        if offer.most_lots == 0:
            continue
        best = lowest.setdefault(offer.family, at) if not offer.starts_in else None
        if best is not None and offer.rate < question.offers[best].rate:
            lowest[offer.family] = at
    return [
        (
            at,
            family,
            sum(one.gpus for one in question.held if one.family == family and one.holds_now),
        )
        for family, at in lowest.items()
    ]


def _allowed(offer: CapacityOffer, lots: int) -> int:
    return lots if offer.most_lots is None else min(lots, offer.most_lots)
