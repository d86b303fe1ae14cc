"""What the address of an Overview asks for, parsed once; what is not understood is said."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeVar
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.pages.frame import Choice, Filter
from apps.console.pages.overview.periods import PERIODS, PeriodWords, period_words
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.ledger.queries.drill import scoped
from apps.show.words import BASES

DEFAULTS: Mapping[str, str] = {
    "window": "7d",
    "team": "",
    "pool": "",
    "basis": str(ledger.Basis.EFFECTIVE),
    "sort": "-cost",
}
DEFAULT_WORDS: Mapping[str, str] = {
    "window": "the last 7 days",
    "team": "all teams",
    "pool": "all pools",
    "basis": "the effective cost",
    "sort": "the highest cost first",
}
LONGEST_TEXT = 100
SORTS = ("team", "cost", "change", "bought", "waste", "gpu_hours", "unit_cost")

Meant = TypeVar("Meant")


@dataclass(frozen=True, slots=True)
class Question:
    """A filter and an order, with the words for both; `given` is what the address says of them.

    `problems` has a sentence for each parameter that was not understood and left at its default.
    """

    chosen: ledger.CostFilter
    today: date
    words: PeriodWords
    team: str
    pool: str
    sort: str
    filters: tuple[Filter, ...]
    problems: tuple[str, ...]
    organisation: accounts.OrganisationFact
    viewer: accounts.Viewer
    teams: Mapping[str, int]
    every_team: Mapping[int, accounts.TeamFact]
    pools: Mapping[int, fleet.PoolFact]
    given: Mapping[str, str]

    @property
    def currency(self) -> str:
        """What amounts are in."""
        return self.organisation.currency

    @property
    def sort_key(self) -> str:
        """The column that rows are ordered by."""
        return self.sort.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        """Whether the largest comes first."""
        return self.sort.startswith("-")

    @property
    def who(self) -> str:
        """Whose costs these are, and where; empty for everything there is."""
        team = self.team or ("" if self.viewer.sees_everything else self._own)
        return f"{team} on {self.pool}" if team and self.pool else team or self.pool

    @property
    def _own(self) -> str:
        return next(iter(self.teams)) if len(self.teams) == 1 else "Your teams"

    def down(self, team_id: int) -> str:
        """The page of this team's costs, of the same period, pool and basis."""
        kept = {
            key: self.given[key]
            for key in ("window", "pool", "basis")
            if self.given[key] != DEFAULTS[key]
        }
        return reverse("costs-team", args=[team_id]) + (f"?{urlencode(kept)}" if kept else "")

    def href(self, name: str = "overview", **changes: str) -> str:
        """The address of the same question, changed; defaults are left out."""
        asked = {**self.given, **changes}
        kept = {key: value for key, value in asked.items() if value != DEFAULTS[key]}
        return reverse(name) + (f"?{urlencode(kept)}" if kept else "")


class Reading:
    """Reads one parameter after the other and collects what was not understood.

    `defaults` are the parameters that there are, `words` what each default shows.
    """

    def __init__(
        self, given: QueryDict, defaults: Mapping[str, str], words: Mapping[str, str]
    ) -> None:
        self.given = given
        self.defaults = defaults
        self.words = words
        self.texts = dict(defaults)
        self.problems: list[str] = []

    def read(self, name: str, meaning: Callable[[str], Meant]) -> Meant:
        """What the parameter means; its default where that refuses with ValueError."""
        text = self.given.get(name, "")[:LONGEST_TEXT] or self.defaults[name]
        try:
            meant = meaning(text)
        except ValueError as problem:
            self.problems.append(f"{_sentence(problem)} Shown instead: {self.words[name]}.")
            return meaning(self.defaults[name])
        self.texts[name] = text
        return meant


def question(given: QueryDict, viewer: accounts.Viewer, at: datetime) -> Question:
    """Parse the address as this viewer's; nothing in it is refused.

    A team that they do not see is as if there were none.
    """
    organisation = accounts.organisation()
    calendar = ledger.calendar_of(organisation.zone, organisation.week_starts_on, at)
    every_team = {team.id: team for team in accounts.teams()}
    teams = {team.name: team.id for team in every_team.values() if viewer.sees_team(team.id)}
    every_pool = fleet.pools()
    pools = {pool.name: pool.id for pool in every_pool.values()}
    reading = Reading(given, DEFAULTS, DEFAULT_WORDS)
    chosen = ledger.CostFilter(
        window=reading.read("window", lambda text: ledger.window_of(text, calendar)),
        basis=reading.read("basis", basis_of),
        team_ids=reading.read("team", lambda name: one_of(teams, name, "team")),
        pool_ids=reading.read("pool", lambda name: one_of(pools, name, "pool")),
    )
    chosen = scoped(chosen, viewer)
    reading.read("sort", _order)
    texts = reading.texts
    words = period_words(chosen.window, calendar.today)
    return Question(
        chosen=chosen,
        today=calendar.today,
        words=words,
        team=texts["team"],
        pool=texts["pool"],
        sort=texts["sort"],
        filters=_filters(texts, words, sorted(teams), sorted(pools)),
        problems=tuple(reading.problems),
        organisation=organisation,
        viewer=viewer,
        teams=teams,
        every_team=every_team,
        pools=every_pool,
        given=texts,
    )


def basis_of(text: str) -> ledger.Basis:
    try:
        return ledger.Basis(text)
    except ValueError:
        raise ValueError(f"There is no basis {text!r}.") from None


def one_of(ids: Mapping[str, int], name: str, noun: str) -> frozenset[int] | None:
    if not name:
        return None
    if name not in ids:
        raise ValueError(f"There is no {noun} named {name!r}.")
    return frozenset({ids[name]})


def _order(text: str) -> str:
    if text.removeprefix("-") not in SORTS:
        raise ValueError(f"There is no column {text!r} to order by.")
    return text


def _sentence(problem: ValueError) -> str:
    text = str(problem)
    if text.endswith("."):
        return text
    return f"The period is not understood: {text.removeprefix('window: ')}."


def _filters(
    texts: Mapping[str, str], words: PeriodWords, teams: Sequence[str], pools: Sequence[str]
) -> tuple[Filter, ...]:
    periods = dict(PERIODS)
    periods.setdefault(texts["window"], words.days)
    return (
        filter_of("window", "Period", periods, texts),
        filter_of("team", "Team", {"": "All teams", **{name: name for name in teams}}, texts),
        filter_of("pool", "Pool", {"": "All pools", **{name: name for name in pools}}, texts),
        filter_of("basis", "Cost", {word.key: word.label for word in BASES}, texts),
    )


def filter_of(
    name: str, label: str, choices: Mapping[str, str], texts: Mapping[str, str]
) -> Filter:
    return Filter(
        name,
        label,
        tuple(Choice(value, text, value == texts[name]) for value, text in choices.items()),
    )
