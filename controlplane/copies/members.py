"""What the members of a copy that are JSON have to hold: whoever reads them finds each key, of its kind."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from controlplane.copies.refusal import CopyRefused

Json = dict[str, Any]
Test = Callable[[Any], bool]


class CopyDamaged(CopyRefused):
    """The file is no whole copy; the message names the member."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_id(value: Any) -> bool:
    """A folder is called by it."""
    return _is_text(value) and re.fullmatch(r"[0-9a-f]{8,64}", value) is not None


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_migrations(value: Any) -> bool:
    return isinstance(value, list) and all(_are_texts(name) and len(name) == 2 for name in value)


def _by_name(test: Test) -> Test:
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


def _is_digest(value: Any) -> bool:
    return (
        isinstance(value, dict) and _is_text(value.get("digest")) and _is_count(value.get("rows"))
    )


def _is_position(value: Any) -> bool:
    """Of a sequence: its last value, and whether that was given out."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and type(value[0]) is int
        and isinstance(value[1], bool)
    )


OF_MANIFEST: Mapping[str, Test] = {
    "id": _is_id,
    "made_at": _is_text,
    "runrate": _by_name(_is_text),
    "postgres": _is_count,
    "database_bytes": _is_count,
    "secret_key_mark": _is_text,
    "migrations": _are_migrations,
    "tables": _by_name(_are_texts),
}
OF_DIGESTS: Mapping[str, Test] = {"members": _by_name(_is_text), "tables": _by_name(_is_digest)}


def check_keys(member: str, content: Json, keys: Mapping[str, Test]) -> Json:
    """Return the content; refuses CopyDamaged where a key is missing or is not of its kind."""
    for key, is_right in keys.items():
        if key not in content:
            raise CopyDamaged(f"{member}: it is damaged: {key} is missing")
        if not is_right(content[key]):
            raise CopyDamaged(f"{member}: it is damaged: {key} is not what a copy has there")
    return content


def check_sequences(member: str, content: Json) -> Json:
    """Return where sequences stand, by name; refuses CopyDamaged where one does not say it."""
    return check_keys(member, content, dict.fromkeys(content, _is_position))
