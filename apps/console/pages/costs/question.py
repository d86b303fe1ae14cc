"""What the address of a Costs page asks for: the same filters from the teams to the lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from urllib.parse import urlencode

from django.conf import settings
from django.http import QueryDict
from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.filters import Reading, basis_of, filter_of, one_of
from apps.console.kit.frame import Filter
from apps.console.kit.periods import PERIODS, PeriodWords, period_words
from apps.economics.states import State
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.ledger.queries.drill import Drill, Loading, tags_used
from apps.show.words import BASES

DEFAULTS: Mapping[str, str] = {
    "window": "7d",
    "team": "",
    "pool": "",
    "tag": "",
    "basis": str(ledger.Basis.EFFECTIVE),
    "cost": str(Loading.CHARGED),
    "sort": "-cost",
    "state": "",
    "lines": "-hour",
}
WORDS: Mapping[str, str] = {
    "window": "the last 7 days",
    "team": "all teams",
    "pool": "all pools",
    "tag": "all tags",
    "basis": "the effective cost",
    "cost": "the cost as charged",
    "sort": "the highest cost first",
    "state": "no device time",
    "lines": "the latest first",
}
LOADINGS = {
    Loading.CHARGED: "Idle stays with its owner",
    Loading.LOADED: "Loaded: idle is shared out",
    Loading.DIRECT: "Direct: shared costs left out",
}
SORTS = ("name", "cost", "bought", "not_worked", "gpu_hours", "unit_cost")
LINE_SORTS = ("hour", "node", "state", "status", "gpu_hours", "cost")
OF_ONE_PAGE = {key: DEFAULTS[key] for key in ("team", "sort", "state", "lines")}
FILTERS = ("window", "team", "pool", "tag", "basis", "cost")


@dataclass(frozen=True, slots=True)
class CostQuestion:
    """Which costs, in which order, with the words for both; as somebody."""

    drill: Drill
    viewer: accounts.Viewer
    organisation: accounts.OrganisationFact
    teams: Mapping[int, accounts.TeamFact]
    pools: Mapping[int, fleet.PoolFact]
    state: State | None
    today: date
    words: PeriodWords
    given: Mapping[str, str]
    problems: tuple[str, ...]

    @property
    def currency(self) -> str:
        """What amounts are in."""
        return self.organisation.currency

    @property
    def sort(self) -> str:
        """The column that rows are ordered by, `-` before it for the largest first."""
        return self.given["sort"]

    def of_team(self, team_id: int) -> Drill:
        """The same costs, of one team."""
        chosen = replace(self.drill.chosen, team_ids=frozenset({team_id}))
        return replace(self.drill, chosen=chosen)

    def of_workload(self, workload_id: int) -> Drill:
        """The same costs, of one workload."""
        chosen = replace(self.drill.chosen, workload_ids=frozenset({workload_id}))
        return replace(self.drill, chosen=chosen)

    def href(self, name: str, *place: object, **changes: str) -> str:
        """The address of a page with the same filters, changed; defaults are left out."""
        asked = {**self.given, **changes}
        kept = {key: value for key, value in asked.items() if value != DEFAULTS[key]}
        return reverse(name, args=place) + (f"?{urlencode(kept)}" if kept else "")

    def down(self, name: str, *place: object, **changes: str) -> str:
        """The address of the next page down, in its own order."""
        return self.href(name, *place, **{**OF_ONE_PAGE, **changes})

    def filters(self, drill: Drill) -> tuple[Filter, ...]:
        """The filter bar; tags only where any are used, and not of a single job."""
        periods = dict(PERIODS)
        periods.setdefault(self.given["window"], self.words.days)
        names = sorted(pool.name for pool in self.pools.values())
        tags = tags_used(drill, self.viewer) if drill.job_id is None else []
        bar = [filter_of("window", "Period", periods, self.given)]
        if drill is self.drill or self._is_of_named_team(drill):
            known = sorted(team.name for team in self.teams.values())
            bar.append(filter_of("team", "Team", _any_of("All teams", known), self.given))
        bar.append(filter_of("pool", "Pool", _any_of("All pools", names), self.given))
        if tags or self.given["tag"]:
            shown = sorted({*tags, *filter(None, [self.given["tag"]])})
            bar.append(filter_of("tag", "Tag", _any_of("All tags", shown), self.given))
        bases = {word.key: word.label for word in BASES}
        loadings = {str(key): text for key, text in LOADINGS.items()}
        bar.append(filter_of("basis", "Cost", bases, self.given))
        bar.append(filter_of("cost", "Idle and shared", loadings, self.given))
        return tuple(bar)

    def _is_of_named_team(self, drill: Drill) -> bool:
        same = drill.chosen.team_ids == self.drill.chosen.team_ids
        return bool(self.given["team"]) and same


def cost_question(given: QueryDict, viewer: accounts.Viewer, at: datetime) -> CostQuestion:
    """Parse the address; nothing in it is refused."""
    organisation = accounts.organisation()
    calendar = ledger.calendar_of(organisation.zone, organisation.week_starts_on, at)
    pools = fleet.pools()
    named = {pool.name: pool.id for pool in pools.values()}
    teams = {team.id: team for team in accounts.teams() if viewer.sees_team(team.id)}
    called = {team.name: team.id for team in teams.values()}
    reading = Reading(given, DEFAULTS, WORDS)
    chosen = ledger.CostFilter(
        window=reading.read("window", lambda text: ledger.window_of(text, calendar)),
        basis=reading.read("basis", basis_of),
        team_ids=reading.read("team", lambda name: one_of(called, name, "team")),
        pool_ids=reading.read("pool", lambda name: one_of(named, name, "pool")),
        tags=reading.read("tag", _tag),
    )
    drill = Drill(
        chosen=chosen,
        loading=reading.read("cost", _loading),
        core_pool_ids=frozenset(pool.id for pool in pools.values() if pool.counts_cores),
    )
    reading.read("sort", lambda text: _order(text, SORTS))
    reading.read("lines", lambda text: _order(text, LINE_SORTS))
    state = reading.read("state", _state)
    return CostQuestion(
        drill=drill,
        viewer=viewer,
        organisation=organisation,
        teams=teams,
        pools=pools,
        state=state,
        today=calendar.today,
        words=period_words(chosen.window, calendar.today),
        given=reading.texts,
        problems=tuple(reading.problems),
    )


def _any_of(whole: str, names: Sequence[str]) -> dict[str, str]:
    return {"": whole, **{name: name for name in names}}


def _tag(text: str) -> Mapping[str, str]:
    if not text:
        return {}
    key, _, value = text.partition("=")
    if key not in settings.TAG_KEYS or not value:
        raise ValueError(f"There is no tag {text!r}.")
    return {key: value}


def _loading(text: str) -> Loading:
    if text == "own":  # an address kept from before direct cost had one meaning
        return Loading.DIRECT
    try:
        return Loading(text)
    except ValueError:
        raise ValueError(f"Cost is charged, loaded or direct, not {text!r}.") from None


def _state(text: str) -> State | None:
    if not text:
        return None
    try:
        return State[text.upper()]
    except KeyError:
        raise ValueError(f"There is no state {text!r}.") from None


def _order(text: str, columns: Sequence[str]) -> str:
    if text.removeprefix("-") not in columns:
        raise ValueError(f"There is no column {text!r} to order by.")
    return text
