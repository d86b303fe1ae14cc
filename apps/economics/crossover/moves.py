"""Inputs that moved: from one run of a scenario to the next, or by somebody who tries values."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from typing import Any

from apps.economics.crossover.answer import CrossoverQuestion
from apps.economics.crossover.scenario import CrossoverScenario, savings
from apps.economics.crossover.uncertainty import InputPath, path_label, with_inputs


@dataclass(frozen=True, slots=True)
class InputMove:
    """An input that is not what it was, and what its move alone does to the savings of a month.

    `before` and `now` are None of what is no number or day, and where there is no such input;
    `savings_change` where it cannot be moved alone, as where a pool is new.
    """

    name: str
    before: float | str | None
    now: float | str | None
    savings_change: float | None


def moved_inputs(before: CrossoverScenario, now: CrossoverScenario) -> list[InputMove]:
    """Return the inputs that differ from before, the one that matters most first."""
    was, is_now = dict(_inputs_of(before)), dict(_inputs_of(now))
    saved = savings(before)
    moves = []
    for path in was.keys() | is_now.keys():
        if path in was and path in is_now and was[path] == is_now[path]:
            continue
        change = None
        if path in was and path in is_now:
            change = _savings_with(before, path, is_now[path])
        moves.append(
            InputMove(
                path_label(path),
                _serialize_input(was.get(path)),
                _serialize_input(is_now.get(path)),
                None if change is None else change - saved,
            )
        )
    return sorted(moves, key=lambda move: (-abs(move.savings_change or 0.0), move.name))


def question_with(
    question: CrossoverQuestion, values: Mapping[InputPath, float]
) -> CrossoverQuestion:
    """The question with other values of inputs, which are then taken as certain."""
    return replace(
        question,
        scenario=with_inputs(question.scenario, values),
        ranges=tuple(
            input_range for input_range in question.ranges if input_range.path not in values
        ),
    )


def _savings_with(scenario: CrossoverScenario, path: InputPath, value: Any) -> float | None:
    """None where no price is in force then, or the number cannot be there."""
    try:
        return savings(with_inputs(scenario, {path: value}))
    except (ValueError, ArithmeticError, TypeError):
        return None


def _inputs_of(part: Any, path: InputPath = ()) -> Iterator[tuple[InputPath, Any]]:
    """Every number, day and list of numbers by its path; names and texts move nothing."""
    within: Iterable[tuple[str | int, Any]]
    if is_dataclass(part):
        within = ((field.name, getattr(part, field.name)) for field in fields(part))
    elif isinstance(part, Mapping):
        within = ((name, part[name]) for name in part)
    elif isinstance(part, tuple) and any(is_dataclass(item) for item in part):
        within = ((place, item) for place, item in enumerate(part))
    else:
        if part is not None and not isinstance(part, str):
            yield path, part
        return
    for name, value in within:
        yield from _inputs_of(value, (*path, name))


def _serialize_input(value: Any) -> float | str | None:
    if isinstance(value, date):
        return value.isoformat()
    return float(value) if isinstance(value, int | float) else None
