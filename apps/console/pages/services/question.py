"""The question that the address of a page of services asks; what is not understood is said."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from apps.accounts import queries as accounts
from apps.console.kit.filters import (
    Reading,
    basis_of,
    compare_filter,
    filter_of,
    key_parser,
    name_filter,
    one_of,
    period_filter,
    requested_comparison,
)
from apps.console.kit.frame import Filter
from apps.console.kit.periods import (
    DEFAULT_PERIOD,
    DEFAULT_PERIOD_WORDS,
    PeriodWords,
    period_words,
)
from apps.console.kit.request import Context
from apps.console.pages.services.words import ALLOCATIONS, CHARGED, LOADED, LOADS
from apps.ledger import queries as ledger
from apps.ledger.queries.comparison import Comparison, compared_spans
from apps.ledger.queries.windows import Window
from apps.show.words import BASES, basis_words
from apps.unit_economics.queries.service_measures import Load
from apps.unit_economics.queries.unit_costs import AllocationBasis, UnitFilter

DEFAULTS: Mapping[str, str] = {
    "window": DEFAULT_PERIOD,
    "compare": "",
    "team": "",
    "allocation": str(AllocationBasis.ALLOCATION),
    "load": str(Load.LOADED),
    "basis": str(ledger.Basis.EFFECTIVE),
    "show": "",
}
SHOWN = {"": "Without uncounted batch work", "all": "All services"}
DEFAULT_WORDS: Mapping[str, str] = {
    "window": DEFAULT_PERIOD_WORDS,
    "compare": "the span before",
    "team": "all teams",
    "allocation": "what they held",
    "load": "the cost with what is shared",
    "basis": "the effective cost",
    "show": "services that are counted",
}


@dataclass(frozen=True, slots=True)
class ServicesQuestion:
    """The question of which services' units, of which days and how charged, with the words for it.

    `spans` are the days of it that are over, and those they are held against; None where there is nothing to compare with.
    """

    chosen: UnitFilter
    spans: tuple[Window, Window] | None
    words: PeriodWords
    context: Context
    reading: Reading
    filters: tuple[Filter, ...]

    @property
    def is_all(self) -> bool:
        """Whether batch work that nobody counts is asked for too."""
        return self.reading.texts["show"] == "all"

    @property
    def under(self) -> str:
        """How its numbers came to be, in one line."""
        basis = basis_words(str(self.chosen.basis)).label.lower()
        load = self.chosen.load
        cost_label = "marginal cost" if load is Load.MARGINAL else f"{basis} cost"
        return f"{self.words.days}, {cost_label}, {LOADED[load]}; {CHARGED[self.chosen.allocation]}"

    def compared(self) -> tuple[UnitFilter, UnitFilter] | None:
        """Return the question of whole days that are over and that of the days they are held against, where they are."""
        if self.spans is None:
            return None
        now, before = self.spans
        return replace(self.chosen, window=now), replace(self.chosen, window=before)

    def href(self, path: str = "", **changes: str) -> str:
        """Return the address of this question, changed, at this path or another; defaults are left out."""
        return self.reading.href(path or self.context.path, **changes)


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
        load=Load(reading.read("load", key_parser(LOADS, "There is no cost named {!r}."))),
        allocation=AllocationBasis(
            reading.read("allocation", key_parser(ALLOCATIONS, "Units cannot carry {!r}."))
        ),
        team_ids=team_ids,
        workload_ids=None if service_id is None else frozenset({service_id}),
    )
    reading.read("show", key_parser(SHOWN, "There is no list named {!r}."))
    words = period_words(chosen.window, calendar.today)
    comparison = requested_comparison(reading, context)
    return ServicesQuestion(
        chosen=chosen,
        spans=compared_spans(chosen.window, context.at, comparison),
        words=words,
        context=context,
        reading=reading,
        filters=_filters_of(
            reading.texts, words, comparison, None if service_id is not None else sorted(teams)
        ),
    )


def _filters_of(
    texts: Mapping[str, str],
    words: PeriodWords,
    comparison: Comparison,
    teams: list[str] | None,
) -> tuple[Filter, ...]:
    bar = [period_filter(texts, words)]
    if teams is not None:
        bar.append(name_filter("team", "Team", teams, texts, "All teams"))
        bar.append(filter_of("show", "Show", SHOWN, texts))
    bar.append(compare_filter(comparison.text, comparison.own))
    bar.append(filter_of("allocation", "Unit cost of", ALLOCATIONS, texts))
    bar.append(filter_of("load", "Cost", LOADS, texts))
    bases = {word.key: word.label for word in BASES}
    bar.append(filter_of("basis", "Basis", bases, texts))
    return tuple(bar)
