"""Writes the answers of REST's examples; `python -m tests.contract.record` runs it, no suite does."""

import json
from typing import Any

import pytest

from apps.web.rest import examples
from tests.contract.described import alike, faults, operations, shape
from tests.contract.sending import asked, send
from tests.contract.world import World

MOST_ROWS = 2
"""Of any list, as far as the schema lets: more would say nothing new."""
OPERATIONS = {each[2]["operationId"]: each for each in operations()}


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_recorded_where_it_differs(world: World, operation_id: str) -> None:
    record(world, operation_id, is_anew=False)


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_recorded_anew(world: World, operation_id: str) -> None:
    record(world, operation_id, is_anew=True)


def record(world: World, operation_id: str, *, is_anew: bool) -> None:
    """Send the first request of an operation, and keep what is answered; its requests stay."""
    path, method, operation = OPERATIONS[operation_id]
    held = examples.recorded(operation_id)
    body = next(iter(held.get("requests", {}).values()), None)
    response = send(world, asked(path, operation), method, body)
    status = str(response.status_code)
    assert status in {"200", "201", "202"}, (
        f"{operation_id} is refused ({response.content!r}): its file needs `requests` that are taken"
    )
    described = operation["responses"][status]["content"]
    if "application/json" not in described:
        return
    whole = response.json()
    answers = held.setdefault("answers", {})
    under = next((statuses for statuses in answers if status in statuses.split()), status)
    shown = answers.get(under, {})
    if is_anew or not shown:
        name = next(iter(shown), operation_id.replace("_", " ").capitalize())
        made = {name: shortened(whole)}
    else:
        made = {name: mended(each, whole) for name, each in shown.items()}
    if made != shown:
        schema = described["application/json"]["schema"]
        answers[under] = {
            name: whole if faults(each, schema) else each for name, each in made.items()
        }
        write(operation_id, held)


def write(operation_id: str, held: dict[str, Any]) -> None:
    """The file of an operation."""
    text = json.dumps(held, indent=2, ensure_ascii=False)
    (examples.RECORDED / f"{operation_id}.json").write_text(f"{text}\n")


def mended(shown: Any, told: Any) -> Any:
    """What is shown, with what is told in place of all whose shape differs."""
    if alike(shape(shown), shape(told)):
        return shown
    if isinstance(shown, dict) and isinstance(told, dict):
        return {
            name: mended(shown[name], inner) if name in shown else shortened(inner)
            for name, inner in told.items()
        }
    if isinstance(shown, list) and isinstance(told, list):
        return [mended(each, told[0]) for each in shown]
    return shortened(told)


def shortened(value: Any) -> Any:
    """With the first rows of each list alone."""
    if isinstance(value, dict):
        return {name: shortened(inner) for name, inner in value.items()}
    return [shortened(each) for each in value[:MOST_ROWS]] if isinstance(value, list) else value
