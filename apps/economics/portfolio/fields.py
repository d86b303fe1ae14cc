"""A portfolio's answer as JSON has it."""

from collections.abc import Mapping
from dataclasses import asdict
from math import isinf
from typing import Any

from apps.economics.forecast.scores import DAY, Floats
from apps.economics.portfolio.answer import PortfolioAnswer
from apps.economics.portfolio.names import month_after
from apps.economics.portfolio.proven import count_known_hours
from apps.economics.portfolio.reading import PortfolioRequest


def answer_fields(
    request: PortfolioRequest,
    answer: PortfolioAnswer,
    histories: Mapping[str, Floats],
    cautions: Mapping[str, str],
) -> dict[str, Any]:
    """Return the fields of what was asked and what came out: money in the scenario's currency over the planned months.

    Each offer says how many days of history of its family it rests on, and what speaks for caution.
    """
    question = request.empty
    limits = {"budget": question.budget, "upfront_budget": question.upfront_budget}
    limits |= {"most_blocked": question.most_blocked}
    return {
        "name": request.name,
        "on": request.on.isoformat(),
        "currency": request.currency,
        "hours": question.hours,
        "scenarios": request.scenarios,
        "seed": request.seed,
        "risk_weight": question.risk_weight,
        "tail": question.tail,
        "blocked_tail": question.blocked_tail,
        **{name: None if isinf(limit) else limit for name, limit in limits.items()},
        **asdict(answer),
        "offers": [
            asdict(offer)
            | {
                "history_days": count_known_hours(histories[offer.family]) / DAY,
                "caution": cautions.get(offer.name, ""),
            }
            for offer in answer.offers
        ],
        "ladder": [
            asdict(step) | {"on": month_after(request.on, step.in_months).isoformat()}
            for step in answer.ladder
        ],
    }
