"""What the address of the list of nodes asks for; what is not understood is said."""

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from apps.console.kit.filters import filter_of
from apps.console.kit.frame import Filter

SHOWS = {
    "": "In service",
    "trouble": "Silent or out of service",
    "unconfirmed": "Not confirmed",
    "ended": "Ended in 30 days",
}
LONGEST_TEXT = 100


@dataclass(frozen=True, slots=True)
class FleetQuestion:
    """Which nodes; `sort` is the order that its links keep."""

    pool: str
    show: str
    sort: str
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]

    def href(self, name: str = "fleet", part: str = "", **changes: str) -> str:
        """The address of the same question, changed; defaults are left out, so is the page."""
        asked = {"pool": self.pool, "show": self.show, "sort": self.sort} | changes
        kept = {key: value for key, value in asked.items() if value not in ("", "name", "1")}
        anchor = f"#{part}" if part else ""
        return reverse(name) + (f"?{urlencode(kept)}" if kept else "") + anchor


def fleet_question(query: QueryDict, pools: Collection[str]) -> FleetQuestion:
    """Parse the address; nothing in it is refused."""
    problems = []
    pool, show, sort = (query.get(name, "")[:LONGEST_TEXT] for name in ("pool", "show", "sort"))
    if pool and pool not in pools:
        problems.append(f"There is no pool named {pool!r}. Shown instead: all pools.")
        pool = ""
    if show not in SHOWS:
        problems.append(f"Nodes cannot be chosen by {show!r}. Shown instead: those in service.")
        show = ""
    names = {"": "All pools", **{name: name for name in sorted(pools)}}
    return FleetQuestion(
        pool=pool,
        show=show,
        sort=sort,
        filters=(
            filter_of("pool", "Pool", names, {"pool": pool}),
            filter_of("show", "Nodes", SHOWS, {"show": show}),
        ),
        problems=tuple(problems),
    )
