"""One TOML table read key by key, with errors that name the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# A parsed TOML value: the edge where types are not yet known.
Parsed = Mapping[str, Any]


class ScenarioUnreadable(Exception):
    """The scenario breaks a rule; the message names the key."""


class Table:
    """Reads each key at most once, so that keys nobody read can be refused by name."""

    def __init__(self, values: object, place: str) -> None:
        if not isinstance(values, dict):
            raise ScenarioUnreadable(f"{place}: expected a table")
        self._values: dict[str, object] = dict(values)
        self.place = place

    def text(self, key: str, default: str | None = None) -> str:
        value = self._take(key, default)
        if not isinstance(value, str):
            raise self.refusal(key, "expected a text")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.refusal(key, "expected a number")
        return float(value)

    def ratio(self, key: str, default: float | None = None) -> float:
        value = self.number(key, default)
        if not 0 <= value <= 1:
            raise self.refusal(key, f"expected a number from 0 to 1, not {value:g}")
        return value

    def count(self, key: str, default: int | None = None) -> int:
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.refusal(key, "expected a whole number, 0 or more")
        return value

    def minutes(self, key: str, default: float | None = None) -> int:
        """A number of hours, as whole minutes."""
        minutes = self.number(key, default) * 60
        if abs(minutes - round(minutes)) > 1e-6:
            raise self.refusal(key, "expected hours that make whole minutes")
        return round(minutes)

    def truth(self, key: str, *, default: bool) -> bool:
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.refusal(key, "expected true or false")
        return value

    def texts(self, key: str) -> dict[str, str]:
        """A table of texts; empty where the key is absent."""
        inner = self.table(key)
        return {name: inner.text(name) for name in inner.keys_left()}

    def table(self, key: str) -> Table:
        return Table(self._take(key, {}), self._path(key))

    def tables(self, key: str) -> Iterator[Table]:
        values = self._take(key, [])
        if not isinstance(values, list):
            raise self.refusal(key, f"expected [[{key}]] tables")
        for number, each in enumerate(values):
            name = each.get("name", number) if isinstance(each, dict) else number
            yield Table(each, f"{self._path(key)}[{name}]")

    def has(self, key: str) -> bool:
        return key in self._values

    def keys_left(self) -> list[str]:
        return list(self._values)

    def end(self) -> None:
        """Refuse keys that nobody asked for: a misspelt key must not pass for its default."""
        for key in self._values:
            raise self.refusal(key, "unknown key")

    def refusal(self, key: str, reason: str) -> ScenarioUnreadable:
        return ScenarioUnreadable(f"{self._path(key)}: {reason}")

    def _take(self, key: str, default: object) -> object:
        value = self._values.pop(key, default)
        if value is None:
            raise self.refusal(key, "missing")
        return value

    def _path(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key
