"""Descriptions that every operation has: its problem answers, its paging, its repeat key."""

from collections.abc import Iterable, Mapping
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter
from rest_framework.permissions import SAFE_METHODS

from apps.files.limits import size_words
from apps.web.rest.body_limits import kind_of, most_bytes_of
from apps.web.rest.examples import examples_of
from apps.web.rest.pages import DEFAULT_LIMIT, MOST_CSV_ROWS, MOST_ROWS

JSON = "application/json"
LARGEST_BODY = "x-largest-body-bytes"
WRITES = frozenset({"post", "put", "patch", "delete"})
METHODS = WRITES | {"get"}

CURSOR = OpenApiParameter(
    "cursor", OpenApiTypes.STR, description="from `next` or `previous` of another page"
)
LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": DEFAULT_LIMIT},
    description=f"rows of a page; as CSV up to {MOST_CSV_ROWS}, which is then the default",
)
PAGES: list[OpenApiParameter | type[Any]] = [CURSOR, LIMIT]
REPEAT_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="your own name of this request: the same request under the same name within 24 "
    "hours is answered the same and changes nothing again",
)

PROBLEM = {
    "type": "object",
    "description": "An RFC 9457 problem document.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "const": "about:blank"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "row", "message"],
                "properties": {
                    "field": {"type": "string"},
                    "row": {"type": ["integer", "null"]},
                    "message": {"type": "string"},
                },
            },
        },
    },
}
EVERYWHERE = {
    "400": "Something in the request is not understood; `errors` names it.",
    "401": "No credential, or none that is valid now.",
    "403": "The credential does not allow this.",
    "404": "There is no such thing, or none that you may see.",
    "406": "The answer has no such media type.",
    "409": "What is on record stands against it.",
    "429": "Too many requests in this minute; see Retry-After.",
    "503": "The database is away; see Retry-After.",
}
OF_WRITES = {
    "415": "The body has another media type than application/json.",
}
OF_INVITATIONS = {"410": "The invitation has expired."}


class BoundedSchema(AutoSchema):
    """How operations are described, with the bytes that a body of each may have and its recorded examples."""

    def get_extensions(self) -> dict[str, Any]:
        """`x-largest-body-bytes`, of what changes something."""
        if self.method in SAFE_METHODS:
            return {}
        return {LARGEST_BODY: most_bytes_of(kind_of(type(self.view), self.method))}

    def get_examples(self) -> list[OpenApiExample]:
        """Those that are recorded of the operation."""
        taken = self.map_parsers()
        return examples_of(self.get_operation_id(), JSON if JSON in taken else taken[0])


def with_problems(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """drf-spectacular's last step: every operation may answer with a problem document."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    for path, method, operation in operations_of(result):
        answers = dict(EVERYWHERE)
        if method in WRITES:
            most = size_words(operation[LARGEST_BODY])
            answers |= OF_WRITES | {
                "413": f"The body is larger than the {most} that are taken at once."
            }
        if path.endswith("/enrolments"):
            answers |= OF_INVITATIONS
        for status, description in answers.items():
            operation["responses"].setdefault(status, _problem_response(description))
        _describe_csv_responses(operation)
        operation["responses"] = dict(sorted(operation["responses"].items()))
    return result


def operations_of(schema: Mapping[str, Any]) -> Iterable[tuple[str, str, dict[str, Any]]]:
    """Every (path, method, operation) of an OpenAPI document."""
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if method in METHODS:
                yield path, method, operation


def _describe_csv_responses(operation: dict[str, Any]) -> None:
    """CSV is text: a row for each result, columns as the fields of the JSON are named."""
    for answer in operation["responses"].values():
        if "text/csv" in answer.get("content", {}):
            answer["content"]["text/csv"] = {"schema": {"type": "string"}}


def _problem_response(description: str) -> dict[str, Any]:
    reference = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": description,
        "content": {"application/problem+json": {"schema": reference}},
    }
