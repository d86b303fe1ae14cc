"""A review's values as JSON and back: one canonical text of each, and its digest."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Value = TypeVar("Value")


def as_json(value: Any) -> dict[str, Any]:
    """A frozen value's fields, those within too, as JSON has them: tuples are lists."""
    text = canonical_text(asdict(value))
    plain: dict[str, Any] = json.loads(text, parse_float=_as_stored)
    return plain


def canonical_text(plain: object) -> str:
    """The one JSON text of it: keys in order, no blanks, no NaN (ValueError)."""
    return json.dumps(
        plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _as_stored(text: str) -> float:
    """A number as the database gives it back, so that its text, and with it the digest, stays.

    It keeps JSON's numbers as decimals: of -0.0 the sign is gone, and 1e16 is a whole number.
    """
    number = float(text)
    return int(number) if "e+" in text else number + 0.0


def digest_of_json(plain: object) -> str:
    """SHA-256 of the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical_text(plain).encode()).hexdigest()


def from_json(kind: type[Value], plain: Mapping[str, Any]) -> Value:
    """A frozen value of a dataclass; fields that an older schema did not have get their defaults."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind) if field.name in plain]  # type: ignore[arg-type]
    return kind(**{name: _as_hinted(hints[name], plain[name]) for name in names})


def _as_hinted(hint: Any, value: Any) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is UnionType:
        one = next(inner_type for inner_type in inner if inner_type is not NoneType)
        return None if value is None else _as_hinted(one, value)
    if origin is tuple:
        # Either any number of one kind, or as many as there are kinds, all the same here.
        return tuple(_as_hinted(inner[0], item) for item in value)
    if is_dataclass(hint):
        return from_json(hint, value)  # type: ignore[arg-type]
    return value
