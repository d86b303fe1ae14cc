"""The question that the address of a page of costs asks: the same from the Overview to the lines."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, QueryDict
from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.filters import compare_filter, filter_of, name_filter, period_filter
from apps.console.kit.frame import EmptyState, Filter, Link, Step
from apps.console.kit.periods import (
    DEFAULT_PERIOD,
    DEFAULT_PERIOD_WORDS,
    PeriodWords,
    period_words,
)
from apps.console.kit.request import Context
from apps.console.kit.sticky_filters import carried_texts
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.ledger.queries.comparison import BEFORE, Comparison, comparison_of
from apps.ledger.queries.cube import CostQuestion, CubeQuestion, filter_word, read_question
from apps.ledger.queries.drill import tags_used
from apps.show.words import BASES, joined

LOADINGS = {
    "charged": "Idle stays with its owner",
    "loaded": "Loaded: idle is shared out",
    "direct": "Direct: shared costs left out",
}
INSTEAD = {
    "window": DEFAULT_PERIOD_WORDS,
    "compare": "no comparison",
    "basis": "the effective cost",
    "cost": "the cost as charged",
    "group_by": "each team",
}
"""What stands in the place of a parameter that was not understood."""


@dataclass(frozen=True, slots=True)
class CostQuery:
    """A question about costs, as a page asks it: with its words, its links and its filters."""

    context: Context
    asked: CostQuestion

    @property
    def question(self) -> CubeQuestion:
        """The question of which costs are asked for."""
        return self.asked.question

    @property
    def texts(self) -> Mapping[str, str]:
        """The parameters as they count."""
        return self.asked.texts

    @property
    def currency(self) -> str:
        """The currency of amounts."""
        return self.context.currency

    @property
    def words(self) -> PeriodWords:
        """Its window in words."""
        return period_words(self.question.window, self.context.calendar.today)

    @property
    def comparison(self) -> Comparison:
        """The comparison that its window is held against; the span before where the address says nothing that is understood."""
        try:
            return comparison_of(self._compared_text or BEFORE, self.context.calendar)
        except Refusal:
            return Comparison()

    @property
    def _compared_text(self) -> str:
        return self.context.query.get("compare", "")

    def compare_filter(self) -> Filter:
        """Return the filter of what the window is compared with."""
        comparison = self.comparison
        return compare_filter(comparison.text, comparison.own)

    @property
    def teams(self) -> dict[int, accounts.TeamFact]:
        """The teams that the viewer sees."""
        viewer = self.context.viewer
        return {team.id: team for team in accounts.teams() if viewer.sees_team(team.id)}

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each parameter that was not understood, or that this page cannot be asked."""
        not_understood = {
            **self.asked.problems,
            **self._comparison_not_understood(),
            **self._tags_left_out(),
        }
        return tuple(
            f"{name.replace('_', ' ').capitalize()}: {text}."
            f" Shown instead: {INSTEAD.get(name, 'all of them')}."
            for name, text in not_understood.items()
        )

    def _comparison_not_understood(self) -> dict[str, str]:
        """Return what is wrong with the days to compare with, of a page that holds its figures against some."""
        if "compare" in self.asked.defaults:
            return {}
        try:
            comparison_of(self._compared_text or BEFORE, self.context.calendar)
        except Refusal as refusal:
            return {"compare": refusal.message}
        return {}

    def _tags_left_out(self) -> dict[str, str]:
        """Return what is wrong with each tag of the address that narrows nothing here."""
        tag_params = {f"tag.{key}" for key in settings.TAG_KEYS}
        return {
            name: "this page is not narrowed by tags"
            if name in tag_params
            else f"there is no such tag, but {joined(settings.TAG_KEYS)}"
            for name, values in parameters_of(self.context.query).items()
            if name.partition(".")[0] == "tag" and any(values) and name not in self.texts
        }

    def team_name(self, team_id: int) -> str:
        """The name of a team the viewer sees; any other is as if there were none."""
        if team_id not in self.teams:
            raise Http404("There is no such team.")
        return self.teams[team_id].name

    def href(self, name: str, *place: object, **changes: str) -> str:
        """The address of a page with the same filters, changed; defaults are left out."""
        own_texts = self.asked.with_texts(**changes)
        carried = carried_texts(self.context.query, {*self.asked.texts, *changes})
        params = {key: text for key, text in {**carried, **own_texts}.items() if text}
        return reverse(name, args=place) + (f"?{urlencode(params)}" if params else "")

    def down(self, name: str, *place: object, **changes: str) -> str:
        """The address of the next page down, which is of one team at most."""
        return self.href(name, *place, **{"team": "", **changes})

    def team_link(self, team_id: int | None) -> list[Link]:
        """The team's page, for who sees the team."""
        if team_id is None or team_id not in self.teams:
            return []
        return [Link(self.teams[team_id].name, self.down("costs-team", team_id))]

    def filters(self, *, is_of_job: bool = False) -> tuple[Filter, ...]:
        """The filter bar of a page below the explorer; tags where any are used, and not of a job."""
        pools = [pool.name for pool in fleet.pools_by_name()]
        used = {} if is_of_job else tags_used(self.question)
        bar = [
            period_filter(self.texts, self.words),
            name_filter("pool", "Pool", pools, self.texts),
        ]
        tags = [
            name_filter(f"tag.{key}", f"Tag {key}", used.get(key, []), self.texts)
            for key in settings.TAG_KEYS
            if used.get(key) or self.texts.get(f"tag.{key}")
        ]
        return (*bar, *tags, self.compare_filter(), *self.measure_filters())

    def measure_filters(self) -> tuple[Filter, Filter]:
        """Return the filters of which amount is meant, and what counts in it."""
        return self.basis_filter(), filter_of("cost", "Idle and shared", LOADINGS, self.texts)

    def basis_filter(self) -> Filter:
        """Return the filter of which amount is meant."""
        return filter_of("basis", "Cost", {word.key: word.label for word in BASES}, self.texts)

    def nothing(self, name: str, *place: object) -> EmptyState:
        """Nothing was charged in what was asked for; the same page with less left out."""
        longer = Link("Show the last 90 days", self.href(name, *place, window="90d"))
        steps = [Step("There may be costs in a longer period.", link=longer)]
        if self.question.filters:
            window = {"window": self.texts["window"]}
            unfiltered_link = Link(
                "Show everything", f"{reverse(name, args=place)}?{urlencode(window)}"
            )
            steps.append(Step("Without filters there may be more.", link=unfiltered_link))
        return EmptyState("Nothing to show", "No charge matches what was asked for.", tuple(steps))


@dataclass(frozen=True, slots=True)
class CostPlace:
    """A page of costs: its name in addresses, what it is of, the table behind its figures and its order by idle cost."""

    name: str
    of: tuple[int, ...] = ()
    table: str = ""
    by_idle: str = "-not_worked"

    @property
    def team_ids(self) -> frozenset[int]:
        """The team that the page is of; empty where it is of none."""
        return frozenset(self.of) if self.name in ("costs-team", "costs-no-job") else frozenset()

    @property
    def workload_id(self) -> int | None:
        """The workload that the page is of."""
        return self.of[0] if self.name == "costs-workload" else None

    def rows(self, cost_query: CostQuery, sort: str) -> str:
        """The rows behind a figure, in the order that shows it."""
        return f"{cost_query.href(self.name, *self.of, sort=sort)}#{self.table}"


DEFAULTS = {"window": DEFAULT_PERIOD, "basis": "effective", "cost": "charged"}


def requested_cost_query(context: Context) -> CostQuery:
    """Return what a page below the explorer is asked: by team, pool and tags, for any window."""
    tags = [f"tag.{key}" for key in settings.TAG_KEYS]
    return _build_cost_query(context, ["team", "pool", *tags], DEFAULTS)


def requested_charged_cost_query(context: Context) -> CostQuery:
    """Return what a page is asked by team and pool alone, as costs are charged: waste is told of nothing else."""
    charged = {name: text for name, text in DEFAULTS.items() if name != "cost"}
    return _build_cost_query(context, ["team", "pool"], charged)


def _build_cost_query(
    context: Context, filters: list[str], defaults: Mapping[str, str]
) -> CostQuery:
    return CostQuery(
        context,
        read_question(
            parameters_of(context.query),
            viewer=context.viewer,
            organisation=context.organisation,
            calendar=context.calendar,
            defaults=defaults,
            filters=filters,
        ),
    )


def parameters_of(query: QueryDict) -> dict[str, list[str]]:
    """The parameters of an address; what they were called in older ones, as they are now."""
    params = {name: query.getlist(name) for name in query}
    for text in params.pop("tag", []):
        key, _, value = text.partition("=")
        params.setdefault(f"tag.{key}" if value else "tag", [filter_word(value or text)])
    if params.get("cost") == ["own"]:
        params["cost"] = ["direct"]
    return params
