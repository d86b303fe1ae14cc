"""Single values of a report: each is what it should be, or unknown with a remark."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from apps.economics.machines import plain
from apps.telemetry.actions.windows import SENTINELS, TOLERANCE

MOST_TEXT = 500
MOST_LISTED = 100
LARGEST = 2**62


class Ignored(msgspec.Struct, frozen=True):
    """A row that was refused or a field that was left out, by its place and name."""

    index: int | None
    field: str
    reason: str


class Remarks:
    """The remarks so far; only so many are kept, lest a broken agent fill the answer."""

    def __init__(self) -> None:
        self.kept: list[Ignored] = []

    def say(self, index: int | None, field: str, reason: str) -> None:
        """Note one."""
        if len(self.kept) < MOST_LISTED:
            self.kept.append(Ignored(index, field[:200], reason))

    def unknown_fields(
        self, fields: Mapping[str, Any], known_names: Sequence[str], where: str
    ) -> None:
        """A newer agent's fields are left out, and listed."""
        for name in sorted(fields.keys() - set(known_names)):
            self.say(None, f"{where}{storable(name)}", "unknown field")


def storable(text: str) -> str:
    """The text as it is kept: no markup, nothing that is not seen, no endless line."""
    return plain(text[:MOST_TEXT].encode("utf-8", "replace").decode())


def text_of(value: object) -> str:
    """A text; "" where it is none."""
    return storable(value) if isinstance(value, str) else ""


def parse_nonnegative_integer(value: object) -> int | None:
    """A whole number from 0; None where it is none."""
    return value if type(value) is int and 0 <= value < LARGEST else None


def real_of(value: object) -> float | None:
    """A finite number from 0; None where it is none."""
    if type(value) not in (int, float):
        return None
    number = float(value)  # type: ignore[arg-type]  # one of the two, by the line above
    return number if math.isfinite(number) and number >= 0 else None


def cell_trouble(name: str, value: object, seconds: float) -> str | None:
    """Why this cell of a row of `seconds` is not to be kept; None: it is sound."""
    if type(value) not in (int, float):
        return "not a number"
    number = float(value)  # type: ignore[arg-type]  # one of the two, by the line above
    if not math.isfinite(number):
        return "not a finite number"
    if number < 0:
        return "negative"
    if number in SENTINELS:
        return "not-supported sentinel"
    if name.endswith("_ratio") and number > TOLERANCE:
        return "more than 1"
    if name.endswith("_seconds") and number > seconds * TOLERANCE:
        return "more than the window is long"
    return None
