"""Examples for the OpenAPI document; tests send the requests and compare the answers' shapes."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiExample


def sent(name: str, body: Mapping[str, Any]) -> OpenApiExample:
    """A request body; an id in it is replaced by one that exists when the example is run."""
    return OpenApiExample(name, dict(body), request_only=True)


def answered(name: str, body: Mapping[str, Any], *statuses: int) -> OpenApiExample:
    """An answer (200 where no status is said)."""
    return OpenApiExample(
        name,
        dict(body),
        response_only=True,
        media_type="application/json",
        status_codes=[str(status) for status in statuses or (200,)],
    )


def listed(name: str, row: Mapping[str, Any]) -> OpenApiExample:
    """A list of one row."""
    return answered(name, {"next": None, "previous": None, "results": [dict(row)]})


def dollars(amount: str) -> dict[str, str]:
    """An amount as MoneyOut tells it."""
    return {"amount": amount, "currency": "USD"}
