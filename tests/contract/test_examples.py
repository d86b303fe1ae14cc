"""Each example of the OpenAPI document is sent, and answered as the document shows."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.apps.console.people import signed_in
from tests.contract.described import (
    alike,
    answer_examples,
    faults,
    operations,
    request_examples,
    shape,
)
from tests.contract.world import World, with_world
from tests.planted import undone

FOR_PEOPLE = {
    ("post", "/api/v1/closes"),
    ("post", "/api/v1/bills/imports/{import_id}/accept"),
    ("post", "/api/v1/bills/twins/{bill_twin_id}/decide"),
    ("post", "/api/v1/capacity-requests/{capacity_request_id}/decision"),
}
"""What no token may do: asked by somebody of finance who signed in."""
OTHERS_WIRES = {
    "/api/v1/schedulers/skypilot/policy",
    "/api/v1/usage-events/litellm",
    "/api/v1/usage-events/otel",
}
"""Where senders that are not ours say what they please beside what is read."""
OF_ANOTHER = {
    "/api/v1/bills/imports/{import_id}/call-off": {"import_id": "waiting_import_id"},
    "/api/v1/bills/imports/{import_id}/read-again": {"import_id": "failed_import_id"},
}
"""Where what is asked for has to be in another state than everywhere else: which of what was made it is."""
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
    assert missing == {}


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
    examples = answer_examples(operation, str(response.status_code)).values()
    assert [each for each in examples if faults(each, described["schema"])] == []
    assert [each for each in examples if not alike(shape(each), shape(response.json()))] == []


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


def asked(path: str, operation: dict[str, Any], **more: str) -> str:
    """The path with those query parameters that must be given, as the document shows them."""
    needed = {
        each["name"]: each["schema"]["examples"][0]
        for each in operation.get("parameters", ())
        if each["in"] == "query" and each.get("required")
    }
    query = urlencode({**needed, **more})
    return f"{path}?{query}" if query else path


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


def send(world: World, path: str, method: str, body: Any) -> Any:
    others = {name: world.paths[made] for name, made in OF_ANOTHER.get(path, {}).items()}
    address = path.format(**{**world.paths, **others})
    client, headers = Client(), world.headers if world.secret else {}
    if world.secret and (method, path) in FOR_PEOPLE:
        client, headers = signed_in("finance"), {}
    told = {} if body is None else {"data": with_world(body, world)}
    if isinstance(body, dict) and "file" in body:
        file = SimpleUploadedFile("july.csv", body["file"].encode())
        told["data"] = {**told["data"], "file": file}
    elif method != "get":
        if isinstance(body, str):
            # Of what is text Django's client takes it to be JSON already.
            told["data"] = json.dumps(body)
        told["content_type"] = "application/json"
    return getattr(client, method)(address, headers=headers, **told)
