"""Reading of what somebody wrote in a TOML file, field by field; each refuses by the exception it is given."""

import tomllib
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any

from apps.economics.refusal import Refusal
from apps.files.lines import FileUnreadable
from apps.files.unpacking import read_small_text


def read_toml(path: Path, unreadable: type[ValueError]) -> dict[str, Any]:
    """The tables of a file, figures as exact decimals; refuses `unreadable`, with the path."""
    try:
        return tomllib.loads(read_small_text(path), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, FileUnreadable, OSError) as problem:
        raise unreadable(f"{path}: {problem}") from problem


def read_fields(
    table: Mapping[str, Any],
    readers: Mapping[str, Callable[..., Any]],
    needed: Collection[str],
    refusal: type[Refusal],
) -> dict[str, Any]:
    """Each field as its reader understands it; refuses one that is unknown, and a needed one missing."""
    unknown = sorted(set(table) - set(readers))
    if unknown:
        raise refusal(unknown[0], "there is no such field")
    missing = [name for name in needed if name not in table]
    if missing:
        raise refusal(missing[0], "this is missing")
    return {name: readers[name](name, value, refusal) for name, value in table.items()}


def text_of(name: str, value: object, refusal: type[Refusal]) -> str:
    """A text."""
    if not isinstance(value, str):
        raise refusal(name, f"{value!r} is not a text")
    return value


def amount_of(name: str, value: object, refusal: type[Refusal]) -> Decimal:
    """An amount as it was written, exactly."""
    if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
        raise refusal(name, f"{value!r} is not an amount")
    try:
        return Decimal(value)
    except ArithmeticError:
        raise refusal(name, f"{value!r} is not an amount") from None


def truth_of(name: str, value: object, refusal: type[Refusal]) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise refusal(name, f"{value!r} is neither true nor false")
    return value


def count_of(name: str, value: object, refusal: type[Refusal]) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise refusal(name, f"{value!r} is not a whole number")
    return value


def amounts_of(name: str, value: object, refusal: type[Refusal]) -> dict[str, Decimal]:
    """A table of amounts by name."""
    if not isinstance(value, dict):
        raise refusal(name, "this is a table of amounts by name")
    return {key: amount_of(f"{name}.{key}", amount, refusal) for key, amount in value.items()}


def moment_of(
    name: str, value: object, refusal: type[Refusal], *, days_in: tzinfo = UTC
) -> datetime:
    """A moment, UTC where no offset is said; a day begins by the clock of `days_in`."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        moment = None
    if isinstance(moment, date) and not isinstance(moment, datetime):
        return datetime.combine(moment, time(), tzinfo=days_in).astimezone(UTC)
    if not isinstance(moment, datetime):
        raise refusal(name, f"{value!r} is not a day or a moment")
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
