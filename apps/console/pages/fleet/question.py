"""What the address of the list of nodes asks for; what is not understood is said."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from apps.console.kit.frame import Choice, Filter
from apps.console.pages.listed import Asked

SHOWS = {
    "": "In service",
    "trouble": "Silent or out of service",
    "unconfirmed": "Not confirmed",
    "ended": "Ended in 30 days",
}
SORTS = ("name", "pool", "units", "held", "seen")
PER_PAGE = 50
LONGEST_TEXT = 100


@dataclass(frozen=True, slots=True)
class FleetQuestion:
    """Which nodes, in which order, which fifty of them."""

    pool: str
    show: str
    sort: str
    page: int
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    of_pools: Asked

    @property
    def sort_key(self) -> str:
        """The column that rows are ordered by."""
        return self.sort.removeprefix("-")

    def href(self, name: str = "fleet", part: str = "", **changes: str) -> str:
        """The address of the same question, changed; defaults are left out, so is the page."""
        asked = {"pool": self.pool, "show": self.show, "sort": self.sort} | changes
        kept = {key: value for key, value in asked.items() if value not in ("", "name", "1")}
        anchor = f"#{part}" if part else ""
        return reverse(name) + (f"?{urlencode(kept)}" if kept else "") + anchor


def fleet_question(given: QueryDict, pools: Mapping[str, int]) -> FleetQuestion:
    """Parse the address; nothing in it is refused."""
    problems = []
    pool, show, sort = (given.get(name, "")[:LONGEST_TEXT] for name in ("pool", "show", "sort"))
    if pool and pool not in pools:
        problems.append(f"There is no pool named {pool!r}. Shown instead: all pools.")
        pool = ""
    if show not in SHOWS:
        problems.append(f"Nodes cannot be chosen by {show!r}. Shown instead: those in service.")
        show = ""
    if sort and sort.removeprefix("-") not in SORTS:
        problems.append(f"There is no column {sort!r} to order by. Shown instead: by name.")
        sort = ""
    names = {"": "All pools", **{name: name for name in sorted(pools)}}
    return FleetQuestion(
        pool=pool,
        show=show,
        sort=sort or "name",
        page=_page(given.get("page", "")),
        filters=(_filter("pool", "Pool", names, pool), _filter("show", "Nodes", SHOWS, show)),
        problems=tuple(problems),
        of_pools=Asked(given, reverse("fleet"), name="pools", part="pools"),
    )


def _page(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 6 and int(text) else 1


def _filter(name: str, label: str, choices: Mapping[str, str], chosen: str) -> Filter:
    return Filter(
        name,
        label,
        tuple(Choice(value, text, value == chosen) for value, text in choices.items()),
    )
