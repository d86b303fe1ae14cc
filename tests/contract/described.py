"""The OpenAPI document of the present code, and answers held against it."""

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import spectacular_settings
from jsonschema import Draft202012Validator

METHODS = ("get", "post", "put", "patch", "delete")


@cache
def document() -> dict[str, Any]:
    """As /api/v1/schema gives it."""
    schema = SchemaGenerator(api_version=spectacular_settings.VERSION).get_schema(public=True)
    return dict(schema)


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Every (path, method, operation)."""
    return [
        (path, method, operation)
        for path, item in document()["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    ]


def request_examples(operation: dict[str, Any]) -> dict[str, Any]:
    """Example bodies by name, in whatever form they are sent."""
    forms = operation.get("requestBody", {}).get("content", {}).values()
    return {name: body for form in forms for name, body in _examples(form).items()}


def answer_examples(operation: dict[str, Any], status: str) -> dict[str, Any]:
    """Example answers of one status by name."""
    return _examples(
        operation["responses"].get(status, {}).get("content", {}).get("application/json", {})
    )


def faults(value: Any, schema: dict[str, Any]) -> list[str]:
    """Where a value is not what a schema of the document says."""
    whole = {**schema, "components": document()["components"]}
    found = Draft202012Validator(whole).iter_errors(value)
    return [f"{'/'.join(str(part) for part in each.path)}: {each.message}" for each in found]


def shape(value: Any) -> Any:
    """Names and nesting alone; an empty list or a null could be of any shape."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else None


def alike(left: Any, right: Any) -> bool:
    """Whether two shapes agree wherever both say something."""
    if isinstance(left, dict) and isinstance(right, dict):
        return set(left) == set(right) and all(alike(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return alike(left[0], right[0])
    return left is None or right is None


def _examples(content: dict[str, Any]) -> dict[str, Any]:
    return {name: example["value"] for name, example in content.get("examples", {}).items()}
