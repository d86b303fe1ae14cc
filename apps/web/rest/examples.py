"""The OpenAPI document's examples: people write the requests, `tests/contract/record.py` the answers.

A file for each operation, `recorded/<operation id>.json`: `requests` holds bodies by name, `answers`
bodies by name under the statuses they come with, apart by spaces.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from drf_spectacular.utils import OpenApiExample

RECORDED = Path(__file__).parent / "recorded"
Named = Mapping[str, Any]
"""Bodies by name."""


def recorded(operation_id: str) -> dict[str, dict[str, Any]]:
    """Return the document of an operation's file: nothing of one that has none."""
    file = RECORDED / f"{operation_id}.json"
    if not file.exists():
        return {}
    document: dict[str, dict[str, Any]] = json.loads(file.read_bytes())
    return document


def requests_of(operation_id: str) -> Named:
    """Bodies that may be sent; an id in one is replaced by one that exists when it is sent."""
    return recorded(operation_id).get("requests", {})


def answers_of(operation_id: str) -> Mapping[tuple[str, ...], Named]:
    """Answers under their statuses."""
    answers = recorded(operation_id).get("answers", {})
    return {tuple(statuses.split()): named for statuses, named in answers.items()}


def examples_of(operation_id: str, media_type: str | None) -> list[OpenApiExample]:
    """As drf-spectacular takes them; requests are sent as `media_type`."""
    requests = [
        OpenApiExample(name, body, request_only=True, media_type=media_type)
        for name, body in requests_of(operation_id).items()
    ]
    answers = [
        OpenApiExample(
            name, body, response_only=True, media_type="application/json", status_codes=statuses
        )
        for statuses, named in answers_of(operation_id).items()
        for name, body in named.items()
    ]
    return requests + answers
