"""Problem documents (RFC 9457): what every refusal over the wire looks like."""

from collections.abc import Mapping
from typing import Any

from rest_framework import exceptions
from rest_framework.response import Response


def problem(
    status: int, title: str, detail: str, errors: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """An RFC 9457 document; `errors` are {field, row, message}."""
    document: dict[str, Any] = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
    }
    if errors:
        document["errors"] = errors
    return document


def title_of(refusal: Exception) -> str:
    """The class of a refusal in words: `RateOverlaps` → "Rate overlaps"."""
    name = type(refusal).__name__
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    return spaced.strip().capitalize()


def problem_answer(status: int, document: dict[str, Any]) -> Response:
    """A problem document as the answer of a DRF view."""
    return Response(document, status=status, content_type="application/problem+json")


def framework_problem(refusal: exceptions.APIException) -> Response:
    """The answer to what DRF itself refuses: forms, permissions, limits."""
    status = refusal.status_code
    errors = None
    detail = str(refusal.detail) if isinstance(refusal.detail, str) else "The request is not valid."
    if isinstance(refusal, exceptions.ValidationError):
        errors = list(_field_errors(refusal.detail))
    response = problem_answer(status, problem(status, title_of(refusal), detail, errors))
    if isinstance(refusal, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        response["WWW-Authenticate"] = getattr(refusal, "auth_header", "Bearer")
    wait = getattr(refusal, "wait", None)
    if wait is not None:
        response["Retry-After"] = str(int(wait) + 1)
    return response


def _field_errors(detail: Any, path: str = "") -> "list[dict[str, Any]]":
    if isinstance(detail, Mapping):
        return [
            error
            for key, value in detail.items()
            for error in _field_errors(value, f"{path}.{key}" if path else str(key))
        ]
    if isinstance(detail, list):
        return [error for value in detail for error in _field_errors(value, path)]
    return [{"field": _encodable(path), "row": None, "message": _encodable(str(detail))}]


def _encodable(text: str) -> str:
    """Return a text that UTF-8 can hold: what was sent may be quoted in it, and half of a surrogate pair has no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
