"""What the address of a page of services asks for; what is not understood is said."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from urllib.parse import urlencode

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.filters import Reading, basis_of, filter_of, one_of, period_filter
from apps.console.kit.frame import Filter
from apps.console.kit.periods import PeriodWords, period_words
from apps.console.kit.request import Context
from apps.console.pages.services.words import ALLOCATIONS, CHARGED, LOADED, LOADS
from apps.ledger import queries as ledger
from apps.ledger.queries.comparison import compared_spans
from apps.show.words import BASES, basis_words
from apps.unit_economics.queries.service_measures import Load
from apps.unit_economics.queries.unit_costs import AllocationBasis, UnitFilter

DEFAULTS: Mapping[str, str] = {
    "window": "30d",
    "team": "",
    "allocation": str(AllocationBasis.ALLOCATION),
    "load": str(Load.LOADED),
    "basis": str(ledger.Basis.EFFECTIVE),
    "show": "",
}
SHOWN = {"": "Without uncounted batch work", "all": "All services"}
DEFAULT_WORDS: Mapping[str, str] = {
    "window": "the last 30 days",
    "team": "all teams",
    "allocation": "what they held",
    "load": "the cost with what is shared",
    "basis": "the effective cost",
    "show": "services that are counted",
}


@dataclass(frozen=True, slots=True)
class ServicesQuestion:
    """Which services' units, of which days and how charged, with the words for it."""

    chosen: UnitFilter
    today: date
    at: datetime
    words: PeriodWords
    path: str
    given: Mapping[str, str]
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]

    @property
    def is_all(self) -> bool:
        """Whether batch work that nobody counts is asked for too."""
        return self.given["show"] == "all"

    @property
    def under(self) -> str:
        """How its numbers came to be, in one line."""
        basis = basis_words(str(self.chosen.basis)).label.lower()
        load = self.chosen.load
        said = "marginal cost" if load is Load.MARGINAL else f"{basis} cost"
        return f"{self.words.days}, {said}, {LOADED[load]}; {CHARGED[self.chosen.allocation]}"

    def compared(self) -> tuple[UnitFilter, UnitFilter] | None:
        """The same question of whole days that are over and of the same days before, where they are."""
        spans = compared_spans(self.chosen.window, self.at)
        if spans is None:
            return None
        return replace(self.chosen, window=spans[0]), replace(self.chosen, window=spans[1])

    def href(self, path: str = "", **changes: str) -> str:
        """The same question, changed, at this address or another; defaults are left out."""
        asked = {**self.given, **changes}
        kept = {key: text for key, text in asked.items() if text != DEFAULTS.get(key, "")}
        return (path or self.path) + (f"?{urlencode(kept)}" if kept else "")


def services_question(context: Context, service_id: int | None = None) -> ServicesQuestion:
    """Parse the address as this viewer's; nothing in it is refused.

    With `service_id` it is of that service, and the filters have no teams.
    """
    calendar = context.calendar
    teams = {team.name: team.id for team in accounts.teams() if context.viewer.sees_team(team.id)}
    reading = Reading(context.query, DEFAULTS, DEFAULT_WORDS)
    team_ids = None
    if service_id is None:
        team_ids = reading.read("team", lambda name: one_of(teams, name, "team"))
        team_ids = team_ids or context.seen_teams
    chosen = UnitFilter(
        window=reading.read("window", lambda text: ledger.window_of(text, calendar)),
        basis=reading.read("basis", basis_of),
        load=reading.read("load", _load),
        allocation=reading.read("allocation", _allocation),
        team_ids=team_ids,
        workload_ids=None if service_id is None else frozenset({service_id}),
    )
    reading.read("show", _shown)
    path = reverse("services") if service_id is None else reverse("service", args=[service_id])
    words = period_words(chosen.window, calendar.today)
    return ServicesQuestion(
        chosen=chosen,
        today=calendar.today,
        at=context.at,
        words=words,
        path=path,
        given=reading.texts,
        filters=_filters(reading.texts, words, None if service_id is not None else sorted(teams)),
        problems=tuple(reading.problems),
    )


def _filters(
    texts: Mapping[str, str], words: PeriodWords, teams: list[str] | None
) -> tuple[Filter, ...]:
    bar = [period_filter(texts, words)]
    if teams is not None:
        each_team = {"": "All teams", **{name: name for name in teams}}
        bar.append(filter_of("team", "Team", each_team, texts))
        bar.append(filter_of("show", "Show", SHOWN, texts))
    bar.append(filter_of("allocation", "Unit cost of", ALLOCATIONS, texts))
    bar.append(filter_of("load", "Cost", LOADS, texts))
    bases = {word.key: word.label for word in BASES}
    bar.append(filter_of("basis", "Basis", bases, texts))
    return tuple(bar)


def _shown(text: str) -> str:
    if text not in SHOWN:
        raise ValueError(f"There is no list named {text!r}.")
    return text


def _load(text: str) -> Load:
    if text not in LOADS:
        raise ValueError(f"There is no cost named {text!r}.")
    return Load(text)


def _allocation(text: str) -> AllocationBasis:
    if text not in ALLOCATIONS:
        raise ValueError(f"Units cannot carry {text!r}.")
    return AllocationBasis(text)
