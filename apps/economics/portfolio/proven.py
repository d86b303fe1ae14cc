"""Gates of a portfolio before anybody buys by it: rules tried on its own history, and what that history bears."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor

import numpy as np

from apps.economics.forecast.scores import DAY, Floats
from apps.economics.gates import (
    COVERED,
    TERM_OF_HISTORY,
    Gate,
    GateName,
    baseline_gate,
    compared_texts,
    coverage_gate,
    coverage_hundredths,
    history_gate,
)
from apps.economics.portfolio.answer import Mixer
from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.names import MONTH_HOURS
from apps.economics.portfolio.question import CapacityOffer, PortfolioQuestion
from apps.economics.portfolio.room import room_gate
from apps.economics.portfolio.rules import CHOSEN, rules_of
from apps.economics.portfolio.scenarios import MOST_WEEKS, WEEK, filled_history

LEAST_TRIED, LEAST_KNOWN = 3 * DAY, WEEK
"""A rule is tried on three days or more, with a week or more before them."""
MOST_TRIES, OF_HISTORY = 3, 3
RESTS_HOURS, RESTS_BELOW = WEEK, 0.05
"""A family rests that had less than a twentieth of its usual in the last week."""

WITHIN_LIMITS = "the mix of scenarios, which keeps to them"

Drawn = Callable[[Sequence[Floats], int], PortfolioQuestion]
"""From each family's history the question of so many hours after it."""


@dataclass(frozen=True, slots=True)
class BoundedOffers:
    """A question whose offers are bounded by what their history bears; `cautions` say why, by the offer's name.

    `cap` is how much is bought of a term that is over three times its history.
    """

    question: PortfolioQuestion
    cautions: Mapping[str, str]
    cap: str = ""


def tried_rules(
    histories: Mapping[str, Floats], drawn: Drawn, mixer: Mixer, hours: int = MONTH_HOURS
) -> dict[str, float]:
    """Return the cost of each way of choosing, decided up to three times on what was known, and paid over what came.

    Over as many `hours` each as are planned, or a third of the shortest history; half as many lie between two of them. Empty
    where the history is too short for one.
    """
    totals: dict[str, float] = {}
    for until, length in _tries(histories, hours):
        for name, cost in _tried_once(until, drawn, mixer, length).items():
            totals[name] = totals.get(name, 0.0) + cost
    return totals


def _tries(histories: Mapping[str, Floats], hours: int) -> Iterator[tuple[dict[str, Floats], int]]:
    """Histories as far as each try goes, and how many of their last hours it is scored on."""
    shortest = min(len(history) for history in histories.values())
    hours = min(hours, shortest // OF_HISTORY // DAY * DAY, MONTH_HOURS)
    for number in range(MOST_TRIES):
        ends = shortest - number * max(DAY, hours // 2 // DAY * DAY)
        if hours < LEAST_TRIED or ends - hours < LEAST_KNOWN:
            return
        # Histories end together: the last hours of each are the same ones.
        until = {
            name: history[: len(history) - shortest + ends] for name, history in histories.items()
        }
        if min(count_known_hours(history[:-hours]) for history in until.values()) < LEAST_KNOWN:
            return
        yield until, hours


def count_known_hours(history: Floats) -> int:
    """How many hours of it are known: what an answer rests on, however long ago it begins."""
    return int((~np.isnan(history)).sum())


def scenario_coverage(
    histories: Mapping[str, Floats], drawn: Drawn, hours: int = MONTH_HOURS
) -> float | None:
    """The part of the hours tried in which what was needed lay within eight of ten scenarios drawn before; None: no try fits.

    Hours in which all ten are the same say nothing of a range, and count in none; where there is no other, None.
    """
    inside = known_count = 0
    for until, length in _tries(histories, hours):
        question = drawn([history[:-length] for history in until.values()], length)
        for family in question.families:
            low, high = np.quantile(family.demand, (0.1, 0.9), axis=0)
            actual = until[family.name][-length:]
            counts = ~np.isnan(actual) & (low < high)
            known_count += int(counts.sum())
            inside += int((counts & (low <= actual) & (actual <= high)).sum())
    return inside / known_count if known_count else None


def _tried_once(
    histories: Mapping[str, Floats], drawn: Drawn, mixer: Mixer, hours: int
) -> dict[str, float]:
    before = {name: history[:-hours] for name, history in histories.items()}
    question = drawn(list(before.values()), hours)
    held_capacity = tuple(replace(one, ends_in=hours) for one in question.held if one.holds_now)
    question = replace(question, held=held_capacity)
    mix = mixer(question, PortfolioCosts(question))
    choices = {CHOSEN: np.array(mix.lots, dtype=np.float64), **rules_of(question, before)}
    actual = replace(
        question,
        families=tuple(
            replace(one, demand=filled_history(histories[one.name])[None, -hours:])
            for one in question.families
        ),
    )
    scored = PortfolioCosts(actual)
    return {name: float(scored.scenario_costs(lots)[0]) for name, lots in choices.items()}


def best_rule(tried: Mapping[str, float]) -> str:
    """The way that cost least on the history; the mix of scenarios where none cost less, or none was tried."""
    return min(tried, key=lambda name: (tried[name], name != CHOSEN), default=CHOSEN)


def bounded_offers(
    question: PortfolioQuestion,
    histories: Mapping[str, Floats],
    unproven_share: float,
    in_service: Mapping[str, float],
) -> BoundedOffers:
    """No more of each offer than its history bears.

    Nothing of a family that rests; no more GPUs than were ever in service or in use at once; and of a term of over three times the
    history `unproven_share` (a part) of what was in use at once on the quietest day. That is a family's bound: of several
    such terms the shortest has it.
    """
    offers, cautions = [], dict[str, str]()
    cap = (
        f"at most {unproven_share:.0%} of what the quietest day had in use at once "
        "(RUNRATE_UNPROVEN_PERCENT sets it)"
    )
    filled = {offer.family: filled_history(histories[offer.family]) for offer in question.offers}
    bearers: dict[str, str] = {}
    for offer in sorted(question.offers, key=lambda offer: offer.term_hours):
        if _is_unproven(offer, histories[offer.family]):
            bearers.setdefault(offer.family, offer.name)
    for offer in question.offers:
        history = filled[offer.family]
        held_gpus = sum(
            one.gpus for one in question.held if one.family == offer.family and one.holds_now
        )
        most = max(float(history[-MOST_WEEKS * WEEK :].max()), in_service.get(offer.family, 0.0))
        lots = ceil(max(0.0, most - held_gpus) / offer.lot)
        why = ""
        if _rests(history):
            lots, why = 0, "nothing of it: the family had next to no demand in the last week"
        elif _is_unproven(offer, histories[offer.family]):
            quietest = float(_daily_peaks(history).min())
            is_bearer = bearers[offer.family] == offer.name
            room = max(0.0, unproven_share * quietest - held_gpus) if is_bearer else 0.0
            lots = min(lots, floor(room / offer.lot))
            why = (
                f"{count_known_hours(histories[offer.family]) / DAY:,.0f} days of history for a term of {offer.term_hours / DAY:,.0f}"
                f" days, over {TERM_OF_HISTORY:.0f} times as long: {cap}"
            )
        if why:
            cautions[offer.name] = why
        offers.append(
            replace(
                offer, most_lots=lots if offer.most_lots is None else min(lots, offer.most_lots)
            )
        )
    return BoundedOffers(replace(question, offers=tuple(offers)), cautions, cap)


def _is_unproven(offer: CapacityOffer, history: Floats) -> bool:
    """Whether its term is over three times the history that it would rest on."""
    return offer.term_hours > TERM_OF_HISTORY * count_known_hours(history)


def portfolio_gates(
    tried: Mapping[str, float],
    bought: Sequence[CapacityOffer],
    histories: Mapping[str, Floats],
    bounded: BoundedOffers,
    coverage: float | None = None,
    answered_by: str = "",
) -> tuple[Gate, ...]:
    """Return the gates of the answer: the rules, what is there, what came, and the history of each offer that is bought.

    `coverage` is what `scenario_coverage` tells. A rule that did better and did not answer (`answered_by`) is beyond a limit.
    """
    rules = {name: cost for name, cost in tried.items() if name != CHOSEN}
    own_cost = tried.get(CHOSEN)
    gate = baseline_gate(own_cost, rules)
    if own_cost is not None and rules:
        best = min(rules, key=lambda name: rules[name])
        currency = bounded.question.families[0].currency
        own_text, other = (
            f"{text} {currency}".strip() for text in compared_texts(own_cost, rules[best])
        )
        sentence = f"on its own history it cost {own_text}, and {best} {other}"
        gate = replace(gate, says=sentence)
        if gate.is_passed is False and answered_by == CHOSEN:
            within = f"{sentence}, which buys more than the budget or the limits allow"
            gate = replace(gate, says=within, fallback=WITHIN_LIMITS)
    rooms = [room_gate(family) for family in bounded.question.families]
    return gate, *rooms, _coverage_gate(coverage), *_history_gates(bought, histories, bounded)


def wanted_gpus(question: PortfolioQuestion) -> dict[str, float]:
    """By family the GPUs that its scenarios ask for on the mean of the planned hours, with those that wait."""
    return {
        family.name: float(family.demand.mean())
        + (family.waiting.gpu_hours / family.hours if family.waiting else 0.0)
        for family in question.families
    }


def _coverage_gate(coverage: float | None) -> Gate:
    if coverage is None:
        return Gate(GateName.COVERAGE, None, "no range of scenarios was tried on what came")
    gate = coverage_gate(coverage)
    sentence = f"{coverage_hundredths(coverage)} % of the hours that came lay within the 80 % interval of the scenarios"
    if gate.is_passed:
        return replace(gate, says=sentence)
    how = "narrow" if coverage < COVERED[0] else "wide"
    return replace(
        gate, says=sentence, fallback=f"the same choice, whose range of costs is too {how}"
    )


def _history_gates(
    bought: Sequence[CapacityOffer], histories: Mapping[str, Floats], bounded: BoundedOffers
) -> Iterator[Gate]:
    for offer in bought:
        days = count_known_hours(histories[offer.family]) / DAY
        gate = history_gate(days, offer.term_hours / DAY)
        fallback = "" if gate.is_passed else bounded.cap
        yield replace(gate, says=f"{offer.name}: {gate.says}", fallback=fallback)
    if not bought:
        yield Gate(GateName.HISTORY, None, "nothing is bought, so nothing rests on its history")


def _daily_peaks(history: Floats) -> Floats:
    days = max(1, len(history) // DAY)
    peaks: Floats = history[-days * DAY :].reshape(days, -1).max(axis=1)
    return peaks


def _rests(history: Floats) -> bool:
    return float(history[-RESTS_HOURS:].mean()) <= RESTS_BELOW * float(history.mean())
