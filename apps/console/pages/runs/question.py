"""The question that the address of the list of runs asks; what is not understood is said."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.core import signing
from django.http import QueryDict

from apps.accounts import queries as accounts
from apps.accounts.queries.paging import Page, PageRequest
from apps.console.kit.filters import (
    Reading,
    filter_of,
    key_parser,
    name_filter,
    named_in,
    one_of,
    period_filter,
)
from apps.console.kit.frame import Filter, Link
from apps.console.kit.periods import (
    DEFAULT_PERIOD,
    DEFAULT_PERIOD_WORDS,
    PeriodWords,
    period_words,
)
from apps.console.kit.request import Context
from apps.console.kit.table import Part
from apps.console.pages.runs.tables import PER_PAGE, RUNS
from apps.console.pages.runs.words import STATUSES
from apps.ledger import queries as ledger
from apps.show.amounts import counted
from apps.unit_economics.queries.runs.values import Order, RunRow, RunSort, RunsWanted
from apps.workloads import queries as workloads

SALT = "runs"
DEFAULTS: Mapping[str, str] = {
    "window": DEFAULT_PERIOD,
    "team": "",
    "workload": "",
    "status": "",
}
WORDS: Mapping[str, str] = {
    "window": DEFAULT_PERIOD_WORDS,
    "team": "all teams",
    "workload": "all workloads",
    "status": "however they ended",
}
OF_ONE = {**DEFAULTS, "window": "90d"}
"""A programme is looked at over a longer time: its trend is the point."""
WORDS_OF_ONE = {**WORDS, "window": "the last 90 days"}
ENDED = {"": "All", **{key: word.label for key, word in STATUSES.items() if key}}
UNTOLD = "untold"
ENDED |= {UNTOLD: STATUSES[""].label}


@dataclass(frozen=True, slots=True)
class RunsQuestion:
    """The question of which runs, in which order, which fifty; with the words for all of it."""

    wanted: RunsWanted
    window: ledger.Window
    words: PeriodWords
    asked: PageRequest
    context: Context
    reading: Reading
    filters: tuple[Filter, ...]

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the window leaves runs out."""
        return any(self.reading.texts[name] for name in ("team", "workload", "status"))

    def href(self, path: str = "", **changes: str) -> str:
        """Return the address of this question, changed, at this path or another; defaults are left out."""
        return self.reading.href(path or self.context.path, **changes)

    @property
    def order(self) -> dict[str, str]:
        """The order as an address says it."""
        column, falls = RUNS.chosen(self.context.query)
        key = column.key if column is not None else ""
        return {RUNS.sort: f"-{key}" if falls else key}

    def part(self, page: Page[RunRow], total: int) -> Part:
        """Return which of the runs are shown, and the ways to those before and after."""
        shown, runs = len(page.rows), counted(total, "run")
        return Part(
            runs if shown == total else f"{shown} of {runs}",
            self._turned_link("Previous", "before", page.before),
            self._turned_link("Next", "after", page.after),
        )

    def _turned_link(self, text: str, side: str, key: tuple[object, ...] | None) -> Link | None:
        if key is None:
            return None
        cursor = signing.dumps([side, *map(_plain_key, key)], salt=SALT)
        return Link(text, RUNS.href(self.context, **self.order, cursor=cursor))


def runs_question(context: Context, workload_id: int | None = None) -> RunsQuestion:
    """Parse the address as this viewer's; nothing in it is refused.

    With `workload_id` the runs are that workload's, and the filters have no teams.
    """
    teams = {team.name: team.id for team in accounts.teams() if context.viewer.sees_team(team.id)}
    trained = _trained_workloads(context) if workload_id is None else {}
    defaults, shown = (DEFAULTS, WORDS) if workload_id is None else (OF_ONE, WORDS_OF_ONE)
    reading = Reading(context.query, defaults, shown)
    window = reading.read("window", lambda text: ledger.window_of(text, context.calendar))
    team_ids = reading.read("team", lambda name: one_of(teams, name, "team"))
    workload_ids = reading.read("workload", lambda text: _workloads_named(text, trained))
    status = reading.read("status", key_parser(ENDED, "Runs cannot be chosen by {!r}."))
    column, falls = RUNS.chosen(context.query)
    wanted = RunsWanted(
        team_ids=team_ids or context.seen_teams,
        workload_ids=workload_ids if workload_id is None else frozenset({workload_id}),
        status=(status if status != UNTOLD else "") if status else None,
        starts_at=window.starts_at,
        ends_at=window.ends_at,
        sort=RunSort.BEGAN if column is None else column.sql,
        order=Order.FALLING if falls else Order.RISING,
    )
    words = period_words(window, context.calendar.today)
    return RunsQuestion(
        wanted=wanted,
        window=window,
        words=words,
        asked=_parse_page_request(context.query),
        context=context,
        reading=reading,
        filters=_filters_of(reading.texts, words, sorted(teams), sorted(trained), workload_id),
    )


def _filters_of(
    texts: Mapping[str, str],
    words: PeriodWords,
    teams: list[str],
    names: list[str],
    workload_id: int | None,
) -> tuple[Filter, ...]:
    bar = [period_filter(texts, words)]
    if workload_id is None:
        bar.append(name_filter("team", "Team", teams, texts, "All teams"))
        bar.append(name_filter("workload", "Workload", names, texts, "All workloads"))
    bar.append(filter_of("status", "Ended", ENDED, texts))
    return tuple(bar)


def _trained_workloads(context: Context) -> dict[str, frozenset[int]]:
    """The viewer's workloads by name; one name may be of several teams."""
    ids_by_name: dict[str, frozenset[int]] = {}
    for workload in workloads.workloads().values():
        if context.viewer.sees_team(workload.team_id) and workload.kind in {
            "training",
            "batch",
            "other",
        }:
            ids_by_name[workload.name] = ids_by_name.get(workload.name, frozenset()) | {workload.id}
    return ids_by_name


def _workloads_named(text: str, ids_by_name: Mapping[str, frozenset[int]]) -> frozenset[int] | None:
    return frozenset().union(*named_in(text, ids_by_name, "workload")) or None


def _parse_page_request(params: QueryDict) -> PageRequest:
    """The rows that a signed cursor names; what is none of ours is the first ones."""
    try:
        side, *key = signing.loads(params.get("cursor", ""), salt=SALT)
    except (signing.BadSignature, ValueError):
        return PageRequest(limit=PER_PAGE)
    return PageRequest(limit=PER_PAGE, **{side: tuple(key)})


def _plain_key(value: object) -> object:
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if isoformat else value
