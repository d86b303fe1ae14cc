"""A portfolio's answer as JSON fields and as lines for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from math import isinf
from typing import Any

from apps.economics.portfolio.answer import ComparedChoice, PortfolioAnswer
from apps.economics.portfolio.reading import PortfolioRequest
from apps.planning.management.columns import aligned_columns

UNKNOWN = "undefined"


def answer_fields(request: PortfolioRequest, answer: PortfolioAnswer) -> dict[str, Any]:
    """What `--json` prints: money in the scenario's currency over the planned months."""
    limits = {
        name: None if isinf(limit) else limit
        for name, limit in (
            ("budget", request.empty.budget),
            ("upfront_budget", request.empty.upfront_budget),
        )
    }
    return {
        "name": request.name,
        "on": request.on,
        "currency": request.currency,
        "hours": request.empty.hours,
        "scenarios": request.scenarios,
        "seed": request.seed,
        "risk_weight": request.empty.risk_weight,
        "tail": request.empty.tail,
        **limits,
        **asdict(answer),
        "ladder": [
            asdict(step) | {"on": month_after(request.on, step.in_months)} for step in answer.ladder
        ],
    }


def answer_lines(request: PortfolioRequest, answer: PortfolioAnswer) -> Iterator[str]:
    """The answer for people, a section at a time."""
    hours = request.empty.hours
    yield f"{request.name}: {_bought(answer.chosen.lots)}"
    yield (
        f"{request.currency} over {hours:,} hours from {request.on}, {request.scenarios} scenarios;"
        f" no choice costs less by more than {answer.gap:.2%}"
    )
    for title, rows in _sections(request, answer):
        yield ""
        yield title
        yield from aligned_columns(rows)


def month_after(day: date, months: int) -> date:
    """The same day of a later month, its last where it has none such."""
    year, month = divmod(day.month - 1 + months, 12)
    first = date(day.year + year, month + 1, 1)
    following = date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return first.replace(day=min(day.day, (following - first).days))


def _sections(
    request: PortfolioRequest, answer: PortfolioAnswer
) -> Iterator[tuple[str, list[Sequence[str]]]]:
    yield "Compared over the same scenarios", _choice_rows(answer)
    if answer.offers:
        yield "Offers", _offer_rows(answer)
    yield "Where GPU-hours come from, mean of the scenarios", _family_rows(answer)
    if answer.ladder:
        yield "When to buy", _ladder_rows(request, answer)
    if answer.changes:
        rows = [(change.name, _bought(change.lots)) for change in answer.changes]
        yield "What would change it", [*rows]


def _choice_rows(answer: PortfolioAnswer) -> list[Sequence[str]]:
    return [
        ("", "mean", "worst tail", "savings rate", "lots"),
        *(_choice_row(choice) for choice in (answer.chosen, *answer.compared)),
    ]


def _choice_row(choice: ComparedChoice) -> Sequence[str]:
    return (
        choice.name,
        _money(choice.mean_cost),
        _money(choice.tail_cost),
        _part(choice.effective_savings_rate),
        _bought(choice.lots),
    )


def _offer_rows(answer: PortfolioAnswer) -> list[Sequence[str]]:
    rows = [
        (
            offer.name,
            f"{offer.lots:,}",
            f"{offer.gpus:,}",
            f"{offer.rate:,.4f}",
            _part(offer.break_even_utilization),
            _money(offer.last_lot),
            _money(offer.one_more_lot),
            UNKNOWN if offer.pays_up_to is None else f"{offer.pays_up_to:,.4f}",
        )
        for offer in answer.offers
    ]
    heads = ("", "lots", "GPUs", "rate", "break-even", "last saves", "one more saves", "pays up to")
    return [heads, *rows]


def _family_rows(answer: PortfolioAnswer) -> list[Sequence[str]]:
    rows = [
        (
            one.name,
            *(
                _part(hours / one.parts.demand_hours if one.parts.demand_hours else None)
                for hours in (
                    one.parts.committed_used_hours,
                    one.parts.spot_hours,
                    one.parts.on_demand_hours,
                    one.parts.short_hours,
                )
            ),
            _part(one.utilization),
            f"{one.gpu_hour_worth:,.4f}",
        )
        for one in answer.families
    ]
    heads = ("", "committed", "spot", "on demand", "blocked", "utilization", "one more GPU an hour")
    return [heads, *rows]


def _ladder_rows(request: PortfolioRequest, answer: PortfolioAnswer) -> list[Sequence[str]]:
    rows = [
        (
            f"{step.family}, {month_after(request.on, step.in_months)}",
            _bought(step.lots),
            f"{step.from_gpus:,.0f} to {step.to_gpus:,.0f}",
            _part(step.break_even_utilization),
            _part(step.expected_utilization),
            _part(step.pays_in),
            _money(step.waiting_cost),
        )
        for step in answer.ladder
    ]
    heads = ("", "buy", "GPUs", "needs", "expected", "pays in", "waiting costs")
    return [heads, *rows]


def _bought(lots: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} × {name}" for name, count in lots.items()) or "buy nothing"


def _money(amount: float | None) -> str:
    return UNKNOWN if amount is None else f"{amount:,.0f}"


def _part(ratio: float | None) -> str:
    return UNKNOWN if ratio is None else f"{ratio:.1%}"
