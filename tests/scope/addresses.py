"""Every address of the service, read from Django's own table: a new one is walked by itself."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import URLResolver, get_resolver

from apps.console.csv_addresses import OLD_ADDRESSES, csv_of_page
from apps.console.kit.page import PAGES

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
LEAD_ELSEWHERE = {route for route, _, _ in OLD_ADDRESSES}
"""Where tables were answered before: these say no more than where to ask, and test_csv_of_pages.py asks each."""
REGULAR_EXPRESSION = re.compile(r"[\^$()\\?]")


class TeachTheWalker(LookupError):
    """An address has a parameter, or is written in a way, that the walk cannot fill."""


@dataclass(frozen=True, slots=True)
class Address:
    """One pattern, as Django keeps it: `costs/teams/<int:team_id>`."""

    pattern: str

    @property
    def is_rest(self) -> bool:
        """Whether programs ask here, not people."""
        return self.pattern.startswith("api/")

    def filled(self, planted: Mapping[str, Any]) -> str:
        """The path with what was planted in place of its parameters; refuses TeachTheWalker."""
        if REGULAR_EXPRESSION.search(self.pattern):
            raise TeachTheWalker(f"/{self.pattern} is a regular expression: write it as a path")

        def value(found: re.Match[str]) -> str:
            if found[1] not in planted:
                raise TeachTheWalker(
                    f"/{self.pattern} asks for {found[1]!r}: teach the walker, that is, plant one"
                    " that belongs to the Zephyrines in tests/scope/world.py and name it there"
                )
            return str(planted[found[1]])

        return f"/{PARAMETER.sub(value, self.pattern)}"


def every_address() -> list[Address]:
    """Each pattern once, by name; each page with where its tables are answered."""
    return sorted(set(_walk(get_resolver(), "")), key=lambda each: each.pattern)


def by_room() -> dict[str, list[Address]]:
    """Return every address, by the first part of its path that is not where all of REST is: as one test walks them."""
    rooms: dict[str, list[Address]] = {}
    for address in every_address():
        where = "rest " if address.is_rest else ""
        part = address.pattern.removeprefix("api/v1/").partition("/")[0].partition(".")[0]
        rooms.setdefault(f"{where}{part}" or "overview", []).append(address)
    return rooms


def _walk(resolver: URLResolver, before: str) -> Iterator[Address]:
    for entry in resolver.url_patterns:
        pattern = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from _walk(entry, pattern)
            continue
        patterns = {pattern} - LEAD_ELSEWHERE
        if entry.callback in PAGES:
            patterns |= {f"{pattern or 'overview'}.csv"} - LEAD_ELSEWHERE
        yield from map(Address, patterns if entry.callback is not csv_of_page else ())
