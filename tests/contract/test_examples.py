"""Each example of the OpenAPI document is sent, and answered as the document shows."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.web.rest import examples
from tests.contract.described import (
    alike,
    answer_examples,
    faults,
    operations,
    request_examples,
    shape,
)
from tests.contract.recording import record
from tests.contract.sending import asked, send
from tests.contract.world import World
from tests.planted import undone

RECORD = "run `python -m tests.contract.record`, and read what it changed"
OTHERS_WIRES = {
    "/api/v1/schedulers/skypilot/policy",
    "/api/v1/usage-events/litellm",
    "/api/v1/usage-events/otel",
}
"""Where senders that are not ours say what they please beside what is read."""
EXAMPLES = [
    pytest.param(path, method, operation, body, id=f"{method} {path} {name}")
    for path, method, operation in operations()
    for name, body in (request_examples(operation) or {"": None}).items()
]


def test_every_operation_says_what_it_does_and_shows_it() -> None:
    missing = {
        f"{method} {path}": parts
        for path, method, operation in operations()
        if (parts := _not_shown(operation))
    }
    assert missing == {}, f"requests of REST's examples are written by people; the rest: {RECORD}"


def test_every_recorded_example_is_of_an_operation() -> None:
    known = {operation["operationId"] for _, _, operation in operations()}
    assert {file.stem for file in examples.RECORDED.glob("*.json")} - known == set()


@pytest.mark.parametrize(("path", "method", "operation", "body"), EXAMPLES)
def test_every_example_is_answered_as_it_is_shown(
    world: World, path: str, method: str, operation: dict[str, Any], body: Any
) -> None:
    response = send(world, asked(path, operation), method, body)

    assert response.status_code in {200, 201, 202}, response.content
    content = operation["responses"][str(response.status_code)]["content"]
    if "application/json" not in content:
        assert response.headers["Content-Type"] in content
        return
    described = content["application/json"]
    assert faults(response.json(), described["schema"]) == []
    shown = answer_examples(operation, str(response.status_code)).values()
    told = shape(response.json())
    other = [each for each in shown if not alike(shape(each), told)]
    assert other == [], f"{operation['operationId']} is not answered as its file shows: {RECORD}"
    assert [each for each in shown if faults(each, described["schema"])] == []


def test_recording_mends_what_has_another_shape_and_keeps_the_rest(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = examples.recorded("add_team")
    stale = {**held, "answers": {"200 201": {"A team": {"id": 4711, "colour": "red"}}}}
    monkeypatch.setattr(examples, "RECORDED", tmp_path)
    (tmp_path / "add_team.json").write_text(json.dumps(stale))

    record(world, "add_team", is_anew=False)

    made = examples.recorded("add_team")
    assert made["requests"] == held["requests"]
    ((name, answer),) = examples.answers_of("add_team")["200", "201"].items()
    assert (name, answer["id"], answer["name"]) == ("A team", 4711, "Vision")
    assert alike(shape(answer), shape(held["answers"]["200 201"]["Team"]))


def test_recording_makes_the_file_of_an_operation_that_has_none(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "RECORDED", tmp_path)

    record(world, "list_teams", is_anew=False)

    (answer,) = examples.answers_of("list_teams")["200",].values()
    assert len(answer["results"]) == 2


def test_recording_leaves_an_answer_that_is_still_of_its_shape(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = examples.recorded("list_teams")
    held["answers"]["200"]["Teams"]["results"][0]["name"] = "said by hand"
    text = json.dumps(held)
    monkeypatch.setattr(examples, "RECORDED", tmp_path)
    (tmp_path / "list_teams.json").write_text(text)

    record(world, "list_teams", is_anew=False)
    assert (tmp_path / "list_teams.json").read_text() == text

    record(world, "list_teams", is_anew=True)
    assert "said by hand" not in (tmp_path / "list_teams.json").read_text()


def test_a_name_nobody_reads_is_refused_by_every_operation(world: World) -> None:
    other = {}
    for path, method, operation in operations():
        if path in OTHERS_WIRES:
            continue
        bodies = list(request_examples(operation).values())
        with undone():
            if bodies:
                response = send(world, path, method, {**bodies[0], "colour": "green"})
            else:
                response = send(world, asked(path, operation, colour="green"), method, None)
        if not is_problem(response, 400) or fields_in(response) != ["colour"]:
            other[f"{method} {path}"] = (response.status_code, response.content)
    assert other == {}


def test_a_caller_without_a_credential_is_refused_with_a_problem(world: World) -> None:
    other = {}
    for path, method, operation in operations():
        body = next(iter(request_examples(operation).values()), None)
        response = send(World("", world.paths, {}), path, method, body)
        if not is_problem(response, 401) or "Bearer" not in response.headers["WWW-Authenticate"]:
            other[f"{method} {path}"] = (response.status_code, response.content)
    assert other == {}


def is_problem(response: Any, status: int) -> bool:
    """Refused so, in the form in which problems are told."""
    kind = response.headers["Content-Type"]
    return (response.status_code, kind) == (status, "application/problem+json")


def fields_in(response: Any) -> list[str]:
    """Which fields a refusal names."""
    return [error["field"] for error in response.json()["errors"]]


def _not_shown(operation: dict[str, Any]) -> list[str]:
    """What its description lacks."""
    shown = [answer_examples(operation, status) for status in operation["responses"]]
    missing = {
        "a description": not operation.get("description"),
        "an example of its body": "requestBody" in operation and not request_examples(operation),
        "an example of its answer": _answers_json(operation) and not any(shown),
    }
    return [what for what, is_missing in missing.items() if is_missing]


def _answers_json(operation: dict[str, Any]) -> bool:
    answers = [answer for status, answer in operation["responses"].items() if status[0] == "2"]
    return any("application/json" in answer.get("content", {}) for answer in answers)
