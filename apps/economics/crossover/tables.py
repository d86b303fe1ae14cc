"""Tables of a document (TOML or JSON, as mappings): every key is known, every value is checked."""

from collections.abc import Mapping
from datetime import date
from math import isfinite
from typing import Any

from apps.economics import tiers
from apps.economics.crossover.uncertainty import InputPath, InputRange, path_label
from apps.economics.refusal import Refusal

ABOVE_NOTHING = 1e-9
"""The least of what has to be above 0."""
MOST_COUNT, MOST_HOURS = 100_000, 744
MOST_NUMBER = 1e15
MOST_CHARACTERS, MOST_TABLES = 500, 50


class ScenarioTable:
    """A table of the document whose keys are asked for; what nobody asked for is refused.

    Where there are `ranges` to keep it in, a number may be a table `{ low, likely, high }`: its
    likely value is answered. Tables within share them.
    """

    def __init__(
        self,
        table: Mapping[str, Any],
        path: InputPath = (),
        ranges: list[InputRange] | None = None,
    ) -> None:
        self.path = path
        self.ranges = ranges
        self._left = dict(table)

    def refuse(self, key: str, message: str) -> Refusal:
        """A refusal that names a key of this table as the file has it."""
        return Refusal(path_label((*self.path, key)), message)

    def number(
        self,
        key: str,
        otherwise: float | None = None,
        *,
        least: float = 0.0,
        most: float = MOST_NUMBER,
    ) -> float:
        """A number or a range of it; required where `otherwise` is None. Refuses a Refusal."""
        if otherwise is not None and key not in self._left:
            return otherwise
        value = self._taken(key)
        if not isinstance(value, Mapping):
            return self._checked(key, value, least, most)
        return self._ranged(key, value, least, most)

    def number_or_none(
        self, key: str, *, least: float = 0.0, most: float = MOST_NUMBER
    ) -> float | None:
        """A number, or None where the file does not say."""
        return self.number(key, least=least, most=most) if key in self._left else None

    def whole(
        self, key: str, otherwise: int | None = None, *, least: int = 0, most: int = MOST_COUNT
    ) -> int:
        """A whole number; required where `otherwise` is None."""
        if otherwise is not None and key not in self._left:
            return otherwise
        value = self._taken(key)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.refuse(key, f"{value!r} is not a whole number from {least} to {most:,}")
        return value

    def whole_or_none(self, key: str, *, least: int = 0) -> int | None:
        """A whole number, or None where the file does not say."""
        return self.whole(key, least=least) if key in self._left else None

    def text(self, key: str, otherwise: str | None = None) -> str:
        """A text that is not empty; required where `otherwise` is None."""
        if otherwise is not None and key not in self._left:
            return otherwise
        value = self._taken(key)
        if not isinstance(value, str) or not is_plain_text(value):
            raise self.refuse(key, f"{value!r} is not a text")
        if len(value) > MOST_CHARACTERS:
            raise self.refuse(key, f"has over {MOST_CHARACTERS:,} characters")
        return value.strip()

    def texts(self, key: str) -> tuple[str, ...]:
        """A text, or a list of some."""
        value = self._taken(key)
        entries = value if isinstance(value, list) else [value]
        if not entries or not all(isinstance(entry, str) and entry.strip() for entry in entries):
            raise self.refuse(key, f"{value!r} is not a text, nor a list of texts")
        return tuple(entry.strip() for entry in entries)

    def day(self, key: str) -> date:
        """A day from 1970 to 2999, as TOML has them or as text."""
        value = self._taken(key)
        try:
            day = value if type(value) is date else date.fromisoformat(value)
        except (TypeError, ValueError):
            raise self.refuse(key, f"{value!r} is not a day such as 2026-11-01") from None
        if not 1970 <= day.year <= 2999:
            raise self.refuse(key, f"{day} is not from 1970 to 2999")
        return day

    def day_or_none(self, key: str) -> date | None:
        """A day, or None where the file does not say."""
        return self.day(key) if key in self._left else None

    def hours(self, key: str) -> tuple[float, ...]:
        """Loads of hours, one at least above 0; one even hour where the file does not say."""
        value = self._left.pop(key, [1.0])
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_HOURS:
            raise self.refuse(key, f"must be a list of 1 to {MOST_HOURS} numbers")
        loads = tuple(
            self._checked(f"{key}[{at}]", load, 0.0, MOST_NUMBER) for at, load in enumerate(value)
        )
        if not any(loads):
            raise self.refuse(key, "every hour is 0")
        return loads

    def tiers(self, key: str) -> tuple[tiers.Tier, ...]:
        """Tiers such as `1000=0.9; 5000=0.8`, none where the file does not say."""
        text = self.text(key, "")
        try:
            return tiers.parsed(text)
        except tiers.NotTiers as refused:
            raise self.refuse(key, str(refused)) from None

    def amounts(self, key: str) -> dict[str, float]:
        """A table of amounts by names that the file chooses."""
        table = self.table(key, {})
        for name in table._left:
            if not is_plain_text(name) or len(name) > MOST_CHARACTERS:
                raise self.refuse(key, f"{name!r} is not a name")
        if len(table._left) > MOST_TABLES:
            raise self.refuse(key, f"has {len(table._left)} amounts: {MOST_TABLES} at most")
        return {name: table.number(name) for name in list(table._left)}

    def table(self, key: str, otherwise: Mapping[str, Any] | None = None) -> "ScenarioTable":
        """A table within; required where `otherwise` is None."""
        value = self._left.pop(key, otherwise)
        if not isinstance(value, Mapping):
            raise self.refuse(key, "is missing" if value is None else f"{value!r} is not a table")
        return ScenarioTable(value, (*self.path, key), self.ranges)

    def ranged(self, ranges: list[InputRange]) -> "ScenarioTable":
        """Return this table with ranges allowed, kept in `ranges`."""
        return ScenarioTable(self._left, self.path, ranges)

    def tables(self, key: str, *, least: int = 0, most: int = MOST_TABLES) -> list["ScenarioTable"]:
        """A list of tables (`[[key]]`), of `least` at least and `most` at most."""
        value = self._left.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
            raise self.refuse(key, f"{value!r} is not a list of tables")
        if len(value) < least:
            raise self.refuse(key, f"needs {least} at least")
        if len(value) > most:
            raise self.refuse(key, f"has {len(value)}: {most} at most")
        return [
            ScenarioTable(row, (*self.path, key, at), self.ranges) for at, row in enumerate(value)
        ]

    def __contains__(self, key: str) -> bool:
        """Whether the file says something there that was not asked for yet."""
        return key in self._left

    def refuse_unknown(self) -> None:
        """Refuse whatever nobody asked for, by its name."""
        for key in self._left:
            raise self.refuse(key, "is not a key of this table")

    def _taken(self, key: str) -> Any:
        if key not in self._left:
            raise self.refuse(key, "is missing")
        return self._left.pop(key)

    def _checked(self, key: str, value: Any, least: float, most: float) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or (isinstance(value, float) and not isfinite(value)):
            raise self.refuse(key, f"{value!r} is not a number")
        if not least <= value <= most:
            above = "above 0" if least == ABOVE_NOTHING else f"at least {least:g}"
            raise self.refuse(
                key, f"{value!r} must be {above if value < least else f'at most {most:g}'}"
            )
        return float(value)

    def _ranged(self, key: str, value: Mapping[str, Any], least: float, most: float) -> float:
        if self.ranges is None:
            raise self.refuse(key, "cannot be a range: only inputs of both sides can")
        table = ScenarioTable(value, (*self.path, key))
        low, likely, high = (
            table.number(name, least=least, most=most) for name in ("low", "likely", "high")
        )
        moves_with = table.text("moves_with", "")
        table.refuse_unknown()
        if not low <= likely <= high:
            raise self.refuse(key, f"{low:g}, {likely:g}, {high:g} do not rise")
        self.ranges.append(InputRange(table.path, low, likely, high, moves_with))
        return likely


def is_plain_text(value: str) -> bool:
    """Whether it says something, with no sign in it that cannot be shown."""
    words = value.split()
    return bool(words) and all(word.isprintable() for word in words)
