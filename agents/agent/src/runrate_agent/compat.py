"""What Pythons from 3.9 on lack, until the last of them that a supported system brings is gone."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import TypeVar

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["SLOTS", "UTC", "moment_of", "pairwise", "tomllib"]

Item = TypeVar("Item")
UTC = timezone.utc
SLOTS: dict[str, bool] = {"slots": True} if sys.version_info >= (3, 10) else {}
"""For `dataclass`: instances without a dictionary, where they can be."""


def pairwise(items: Iterable[Item]) -> Iterator[tuple[Item, Item]]:
    """Each item with the one after it."""
    rest = iter(items)
    for before in rest:
        for item in rest:
            yield before, item
            before = item


def moment_of(text: str) -> datetime:
    """A moment in ISO 8601, with a Z too; refuses ValueError."""
    return datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)
