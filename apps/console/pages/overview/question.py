"""What the address of an Overview asks for, parsed once; what is not understood is said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.filters import Reading, basis_of, filter_of, one_of, period_filter
from apps.console.kit.frame import Filter
from apps.console.kit.periods import PeriodWords, period_words
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
SORTS = ("team", "cost", "change", "bought", "waste", "gpu_hours", "unit_cost")


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


def _order(text: str) -> str:
    if text.removeprefix("-") not in SORTS:
        raise ValueError(f"There is no column {text!r} to order by.")
    return text


def _filters(
    texts: Mapping[str, str], words: PeriodWords, teams: Sequence[str], pools: Sequence[str]
) -> tuple[Filter, ...]:
    return (
        period_filter(texts, words),
        filter_of("team", "Team", {"": "All teams", **{name: name for name in teams}}, texts),
        filter_of("pool", "Pool", {"": "All pools", **{name: name for name in pools}}, texts),
        filter_of("basis", "Cost", {word.key: word.label for word in BASES}, texts),
    )
