"""A scenario answered, and its answer as JSON fields."""

import json
from dataclasses import asdict
from random import Random
from typing import Any

from apps.economics.crossover.answer import (
    WHOLE_ANSWER,
    AnswerEffort,
    CrossoverAnswer,
    CrossoverQuestion,
    answer_question,
)
from apps.economics.gates import serialize_gates
from apps.economics.refusal import Refusal
from apps.planning.queries.service_hours import ServiceMeasurement

TOO_FAR_APART = "its numbers are so far apart that there is no answer"


def seeded_chance(question: CrossoverQuestion) -> Random:
    """Draws that are the same each time."""
    return Random(question.seed)  # noqa: S311 - draws to be repeated, not a secret


def compute_answer(
    question: CrossoverQuestion, effort: AnswerEffort = WHOLE_ANSWER
) -> CrossoverAnswer:
    """The answer, the same each time, its numbers finite. Refuses a Refusal."""
    try:
        answer = answer_question(question, seeded_chance(question).random, effort)
        json.dumps(asdict(answer), default=str, allow_nan=False)
    except Refusal:
        raise
    except (ArithmeticError, ValueError) as error:
        raise Refusal("scenario", TOO_FAR_APART) from error
    return answer


def answer_fields(question: CrossoverQuestion, answer: CrossoverAnswer) -> dict[str, Any]:
    """Return what `--json` prints: money in the scenario's currency a month, volumes in million tokens."""
    scenario, search = question.scenario, answer.search
    fields = asdict(answer)
    for name in ("search", "break_even_utilization", "cost_at_scale", "months_until_durable"):
        del fields[name]
    return {
        "name": scenario.name,
        "on": scenario.on,
        "currency": scenario.currency,
        "draws": question.draws,
        "seed": question.seed,
        "price_in_force": asdict(scenario.api.price_on(scenario.on)),
        **fields,
        "gates": serialize_gates(answer.gates),
        "break_even": {
            "first_million_tokens": search.first,
            "durable_million_tokens": search.durable,
            "months_until_durable": answer.months_until_durable,
            "utilization": answer.break_even_utilization,
            "cost_at_scale": answer.cost_at_scale,
            **asdict(search),
        },
    }


def measured_fields(measurement: ServiceMeasurement) -> dict[str, Any]:
    """Return what was measured, as JSON: also as the tables of a scenario's file, to be gone on from."""
    measured = measurement.service
    return {
        "service": measurement.name,
        "from": measurement.window.starts_at,
        "to": measurement.window.ends_at,
        "fleet_changed_at": measurement.changed_at,
        "hours": measured.hours,
        "ledger_per_million": measured.ledger_per_million,
        "modelled_per_million": measured.modelled_per_million,
        "difference_ratio": measured.difference_ratio,
        "unseen_ratio": measured.unseen_ratio,
        "scenario": measured.document,
    }
