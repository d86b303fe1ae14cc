"""A portfolio's question answered whole: the mix, what would change it, and how it would have done before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from apps.economics.forecast.scores import Floats
from apps.economics.gates import serialize_gates
from apps.economics.portfolio.answer import (
    DEMAND_CHANGES,
    Mixer,
    PortfolioAnswer,
    SolvedMix,
    answer_portfolio,
)
from apps.economics.portfolio.costs import PortfolioCosts
from apps.economics.portfolio.fields import answer_fields
from apps.economics.portfolio.held_out import (
    HELD_OUT_HOURS,
    LEAST_BEFORE,
    foresight_costs,
    held_out_choices,
)
from apps.economics.portfolio.proven import (
    best_rule,
    bounded_offers,
    portfolio_gates,
    scenario_coverage,
    tried_rules,
    wanted_gpus,
)
from apps.economics.portfolio.question import PortfolioQuestion
from apps.economics.portfolio.reading import (
    DemandSource,
    PortfolioRequest,
    portfolio_request_of,
)
from apps.economics.portfolio.room import capacity_bounded_history
from apps.economics.portfolio.savings import HoursInService
from apps.economics.refusal import Refusal
from apps.planning.solvers.commitment_mix import BlockedAbove, least_cost_mix

SOLVED = 1 + len(DEMAND_CHANGES) + 3 + 2
"""Mixes that an answer takes: ours, what would change it, the held-out month, the attainable."""
Watch = Callable[[int, int], None]
"""Told how many mixes of how many are found; may raise to end it."""
HoursOf = Callable[[DemandSource], Sequence[float | None]]
"""The hours of a source that are not in the document; an unknown one None."""


def solve_portfolio(
    document: Mapping[str, Any],
    hours_of: HoursOf,
    in_service: Mapping[str, HoursInService],
    watch: Watch,
    unproven_share: float = 1.0,
) -> tuple[PortfolioRequest, PortfolioAnswer, dict[str, Any]]:
    """The question of a document, the answer, and the answer as JSON has it.

    In the latter `held_out` scores choices on the last month of the histories, or says why not, and
    `attainable_costs` are what the months in service could have cost, by family, and `wanted_gpus` what each asks for on the mean. `unproven_share` bounds terms of
    over three times the history. Refuses a Refusal.
    """
    request = portfolio_request_of(document)
    histories = [_history(place, source, hours_of) for place, source in enumerate(request.sources)]
    mixer = counted_mixer(watch)
    full_question = request.question(histories)
    by_name = {
        family.name: capacity_bounded_history(history, family)
        for family, history in zip(full_question.families, histories, strict=True)
    }
    most = {
        name: max(service_hours.gpus, default=0.0) for name, service_hours in in_service.items()
    }
    bounded = bounded_offers(full_question, by_name, unproven_share, most)
    question = bounded.question

    def drawn(before: Sequence[Floats], hours: int) -> PortfolioQuestion:
        return replace(request.without_growth.question(before, hours), offers=question.offers)

    tried = tried_rules(by_name, drawn, counted_mixer(watch, is_try=True), question.hours)
    coverage = scenario_coverage(by_name, drawn, question.hours)
    rule = best_rule(tried)
    answer = answer_portfolio(PortfolioCosts(question), by_name, request.plan, mixer, rule)
    bought = [
        offer
        for offer, offer_answer in zip(question.offers, answer.offers, strict=True)
        if offer_answer.lots
    ]
    fields = {
        **answer_fields(request, answer, by_name, bounded.cautions),
        "gates": serialize_gates(
            portfolio_gates(tried, bought, by_name, bounded, coverage, answer.answered_by)
        ),
        "tried": [{"name": name, "cost": cost} for name, cost in tried.items()],
        "held_out": _held_out_fields(request, by_name, mixer),
        "attainable_costs": foresight_costs(question, in_service, mixer),
        "wanted_gpus": wanted_gpus(question),
    }
    return request, answer, fields


def series_answer(
    document: Mapping[str, Any],
    hours_of_series: Callable[[Sequence[str]], Sequence[float | None]],
    in_service: Mapping[str, HoursInService],
    watch: Watch,
    unproven_share: float = 1.0,
) -> dict[str, Any]:
    """Return the answer to a document as JSON alone, of one that reads series and no file. Refuses a Refusal."""

    def hours_of(source: DemandSource) -> Sequence[float | None]:
        if source.file:
            raise Refusal("file", "only a command reads files: give hours, or a series")
        return hours_of_series(source.series)

    return solve_portfolio(document, hours_of, in_service, watch, unproven_share)[2]


def counted_mixer(watch: Watch, *, is_try: bool = False) -> Mixer:
    """Return what finds mixes; where the limit on blocked GPU-hours cannot be held, the least cost without it.

    One that only tries a rule on the history is none of those that are counted.
    """
    count = 0

    def mixer(question: PortfolioQuestion, costs: PortfolioCosts) -> SolvedMix:
        nonlocal count

        def tell() -> None:
            watch(count, SOLVED)

        tell()
        keeps_limit = True
        try:
            mix = least_cost_mix(question, costs, watch=tell)
        except BlockedAbove:
            unlimited = question.without_blocked_limit
            mix = least_cost_mix(unlimited, PortfolioCosts(unlimited), watch=tell)
            keeps_limit = False
        count += not is_try
        return SolvedMix(mix.lots, mix.gap, keeps_limit)

    return mixer


def _history(place: int, source: DemandSource, hours_of: HoursOf) -> Floats:
    """A family's known hours. Refuses a Refusal that names the family by its place."""
    try:
        hours = source.hours or hours_of(source)
    except Refusal as refusal:
        raise Refusal(f"families[{place}].demand", str(refusal)) from refusal
    return np.array([np.nan if hour is None else hour for hour in hours], dtype=np.float64)


def _held_out_fields(
    request: PortfolioRequest, histories: Mapping[str, Floats], mixer: Mixer
) -> dict[str, Any]:
    """Of the families with history enough; `refusal` names the others, and so all where there is none."""
    long, refusals = {}, []
    for name, history in histories.items():
        if len(history) < HELD_OUT_HOURS + LEAST_BEFORE:
            refusals.append(f"{name} has {len(history):,}")
        else:
            long[name] = history
    needed = f"{HELD_OUT_HOURS} hours of history to be scored on and {LEAST_BEFORE} before them are needed"
    # Growth is what is expected today: nobody knew it before the month that is scored.
    before = request.of_families(long).without_growth
    choices = held_out_choices(long, before.question, mixer) if long else []
    return {
        "hours": HELD_OUT_HOURS,
        "families": list(long),
        "refusal": f"{needed}: {', '.join(refusals)}" if refusals else "",
        "choices": [asdict(choice) for choice in choices],
    }
