"""A team by workload, and what of a team's no job held."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.urls import path

from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, files_page, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table, TableSection
from apps.console.pages.costs.days import day_chart, days_file
from apps.console.pages.costs.drilldown import (
    cost_page,
    empty_page,
    export_link,
    meters_of,
)
from apps.console.pages.costs.lines import LinesOf, line_section, lines_file
from apps.console.pages.costs.outlook import (
    outlook,
    team_tabs,
)
from apps.console.pages.costs.question import CostPlace, CostQuery, requested_cost_query
from apps.console.pages.costs.sums import state_key, sums_of
from apps.console.pages.costs.tables import OWNER_KEYS, CostRow, cost_table
from apps.console.pages.costs.team_models import (
    GPU_MODEL,
    StatesByKeys,
    model_files,
    model_sections,
    states_of_key,
)
from apps.console.pages.costs.words import spent
from apps.economics.states import State
from apps.fleet import queries as fleet
from apps.ledger.queries import States, StateSum
from apps.ledger.queries.cube import CubeQuestion, filter_word
from apps.ledger.queries.cube.days import costs_by_day
from apps.ledger.queries.cube.states import state_sums
from apps.ledger.queries.drill import lines_of_no_job
from apps.show.money import rounded_amount
from apps.show.words import state_words
from apps.workloads import queries as workloads

HELD_BY_NO_JOB = (State.UNALLOCATED, State.STRANDED, State.OUT_OF_SERVICE)
NO_WORKLOAD = "No workload"
NOT_HELD = "Not held by a job"
MOST_LINES = 200
MOST_CSV_LINES = 50_000


@dataclass(frozen=True, slots=True)
class NoWorkload:
    """Costs of no workload: jobs', and by pool (None: of none) and state what no job held."""

    of_jobs: Sequence[StateSum]
    of_none: Mapping[int | None, States]


@shown(EVERYONE, "costs")
def team(context: Context, team_id: int) -> ConsolePage:
    """One team by workload, and what no job held of its."""
    cost_query = requested_cost_query(context)
    name, question = cost_query.team_name(team_id), cost_query.question.of(team=[team_id])
    files = {file.table: file for file in _team_files(cost_query, team_id)}
    if context.csv_table is not None:
        return files_page(context, *files.values(), main="by-workload")
    daily = costs_by_day(question, context.at, cost_query.comparison)
    finding = spent(cost_query, name, sums_of(daily.states))
    trail = [all_costs(cost_query)]
    tabs = team_tabs(cost_query, team_id, "costs-team")
    if not daily.days:
        empty = empty_page(cost_query, finding, trail, cost_query.nothing("costs-team", team_id))
        return replace(empty, tabs=tabs)
    without_workload = _no_workload(question)
    sums = state_sums(question.by("workload", GPU_MODEL))
    rows, none = (
        _workload_rows(cost_query, team_id, without_workload, sums),
        _none_rows(cost_query, team_id, without_workload),
    )
    none_sums = sums_of(state for states in without_workload.of_none.values() for state in states)
    if none:
        rows.append(CostRow(("", "", NOT_HELD), none_sums, NOT_HELD, "#no-job"))
    total = CostRow(("", "", ""), sums_of(daily.states), "Total")
    tables = [
        _workload_table(cost_query).section(
            by_name(rows), context, total=total,
            csv=files["by-workload"], states=total.sums.states,
        )
    ]  # fmt: skip
    tables.extend(model_sections(cost_query, team_id, sums, total, files))
    if none:
        tables.append(
            _none_table(cost_query).section(
                by_name(none), context, csv=files["no-job"],
                total=CostRow(("",) * 4, none_sums, "Total"), states=none_sums.states,
            )
        )  # fmt: skip
    place = CostPlace("costs-team", (team_id,), "by-workload")
    meters = _workload_meters(cost_query, question, team_id)
    page = cost_page(
        cost_query, finding, place, daily, trail, files["by-day"], tables=tables, meters=meters
    )
    return replace(page, tabs=tabs)


def _team_files(cost_query: CostQuery, team_id: int) -> Iterator[CsvFile]:
    """By workload, with what no job held by pool; by day, by model, and what no job held by state."""
    name, context = cost_query.team_name(team_id), cost_query.context
    question = cost_query.question.of(team=[team_id])

    def by_workload() -> list[CostRow]:
        without_workload, sums = _no_workload(question), state_sums(question.by("workload"))
        rows = by_name(_workload_rows(cost_query, team_id, without_workload, sums))
        for pool_id, states in without_workload.of_none.items():
            keys = (*owner(cost_query, team_id), NOT_HELD, _pool_name(pool_id))
            rows.append(CostRow(keys, sums_of(states), NOT_HELD))
        return rows

    def of_no_job() -> list[CostRow]:
        return by_name(_none_rows(cost_query, team_id, _no_workload(question)))

    yield _workload_table(cost_query).file(f"costs of {name}", context, by_workload)
    yield days_file(
        cost_query, f"costs of {name} by day", lambda: costs_by_day(question, context.at).days
    )
    yield _none_table(cost_query).file(f"costs of {name} without a job", context, of_no_job)
    yield from model_files(cost_query, team_id)


@shown(EVERYONE, "costs")
def no_job(context: Context, team_id: int) -> ConsolePage:
    """The lines behind what no job held of a team's, in one pool and state."""
    cost_query, state = requested_cost_query(context), _requested_state(context)
    name, question = cost_query.team_name(team_id), cost_query.question.of(team=[team_id])
    lines_csv = lines_file(
        cost_query,
        f"lines of {name} without a job",
        lambda: lines_of_no_job(question, state, MOST_CSV_LINES),
    )
    days_csv = days_file(
        cost_query,
        f"costs of {name} without a job by day",
        lambda: costs_by_day(_in_state(question, state), context.at).days,
    )
    if context.csv_table is not None:
        # Of a state that jobs are in too, no days are those of no job.
        days_if_any = days_csv if state in HELD_BY_NO_JOB else None
        return files_page(context, lines_csv, days_if_any, main="lines")
    states = [
        state_sum
        for of_pool in _no_workload(question).of_none.values()
        for state_sum in of_pool
        if state_sum.state == state
    ]
    sums = sums_of(states)
    subject = f"{_state_label(state)} time of {name}" if state else f"Other charges of {name}"
    if cost_query.texts.get("pool"):
        subject = f"{subject} on {cost_query.texts['pool']}"
    finding = f"{subject} cost {rounded_amount(sums.total, cost_query.currency)} {cost_query.words.within}."
    if sums.total is None:
        finding = (
            f"What {subject[0].lower()}{subject[1:]} cost {cost_query.words.within} is not known."
        )
    trail = [all_costs(cost_query), *cost_query.team_link(team_id)]
    lines = lines_of_no_job(question, state, MOST_LINES + 1)
    if not lines:
        return empty_page(cost_query, finding, trail, cost_query.nothing("costs-no-job", team_id))
    place = CostPlace("costs-no-job", (team_id,), "lines")
    chart = None
    if state in HELD_BY_NO_JOB:
        days = costs_by_day(_in_state(question, state), context.at).days
        chart = day_chart(cost_query, place, days, days_csv)
    of_lines = LinesOf(lines_csv, sums, MOST_LINES)
    return ConsolePage(
        context=context,
        finding=finding,
        filters=cost_query.filters(),
        problems=cost_query.problems,
        trail=tuple(trail),
        sections=(chart, line_section(cost_query, lines, of_lines)),
        actions=(export_link(cost_query, place),),
    )


def all_costs(cost_query: CostQuery) -> Link:
    """The top of the way down."""
    return Link("Cost explorer", cost_query.down("costs"))


def by_name(rows: list[CostRow]) -> list[CostRow]:
    """In the order of their names: where nothing else tells rows apart."""
    return sorted(rows, key=lambda row: row.name.casefold())


def owner(cost_query: CostQuery, team_id: int) -> tuple[str, str]:
    """A team's name and the cost centre that it is booked to, under `OWNER_KEYS`."""
    of_team = cost_query.teams[team_id]
    return of_team.name, of_team.cost_centre


def _workload_rows(
    cost_query: CostQuery, team_id: int, without_workload: NoWorkload, sums: StatesByKeys
) -> list[CostRow]:
    """Each workload, of sums that have it for their first key; and the jobs of none."""
    named = workloads.workloads()
    keys = owner(cost_query, team_id)
    rows = [
        CostRow(
            (*keys, named[workload_id].name, ""),
            sums_of(states),
            named[workload_id].name,
            cost_query.down("costs-workload", workload_id),
            named[workload_id].kind,
        )
        for workload_id, states in states_of_key(sums, 0).items()
        if isinstance(workload_id, int)
    ]
    if without_workload.of_jobs:
        href = cost_query.down("costs-team-jobs", team_id)
        rows.append(
            CostRow((*keys, NO_WORKLOAD, ""), sums_of(without_workload.of_jobs), NO_WORKLOAD, href)
        )
    return rows


def _no_workload(question: CubeQuestion) -> NoWorkload:
    """Return what jobs of no workload cost, and by pool (None: of none) what no job held."""
    states_by_key = state_sums(question.of(workload=[None]).by("held", "pool"))
    return NoWorkload(
        of_jobs=[
            state for (is_held, _), states in states_by_key.items() if is_held for state in states
        ],
        of_none={
            pool_id if isinstance(pool_id, int) else None: states
            for (is_held, pool_id), states in states_by_key.items()
            if not is_held
        },
    )


def _none_rows(cost_query: CostQuery, team_id: int, without_workload: NoWorkload) -> list[CostRow]:
    """Of each pool and state; and charges without GPU time of their own."""
    return [
        CostRow(
            (*owner(cost_query, team_id), pool, state_key(state.state)),
            sums_of([state]),
            f"{pool or 'No pool'}: {_state_label(state.state).lower()}",
            cost_query.down(
                "costs-no-job", team_id,
                pool=filter_word(pool), state="" if state.state is None else state_key(state.state),
            ),
        )
        for pool_id, states in without_workload.of_none.items()
        for pool in [_pool_name(pool_id)]
        for state in states
    ]  # fmt: skip


def _workload_meters(
    cost_query: CostQuery, question: CubeQuestion, team_id: int
) -> TableSection | None:
    """How hard the GPUs of each workload worked."""
    named = workloads.workloads()
    return meters_of(
        cost_query,
        question,
        "workload",
        "Workload",
        lambda key: (
            (NO_WORKLOAD, cost_query.down("costs-team-jobs", team_id))
            if key is None
            else (named[key].name, cost_query.down("costs-workload", key))
        ),
    )


def _workload_table(cost_query: CostQuery) -> Table[CostRow]:
    keys = (*OWNER_KEYS, "workload", "pool")
    return cost_table(cost_query, "by-workload", "Workload", keys, "By workload")


def _none_table(cost_query: CostQuery) -> Table[CostRow]:
    keys = (*OWNER_KEYS, "pool", "state")
    return cost_table(cost_query, "no-job", "Pool and state", keys, NOT_HELD)


def _in_state(question: CubeQuestion, state: State | None) -> CubeQuestion:
    """Return the question of the costs of no workload in one state; None: in all."""
    of_none = question.of(workload=[None])
    return of_none if state is None else of_none.of(state=[int(state)])


def _requested_state(context: Context) -> State | None:
    """The state of the address; None where it names none."""
    return State.__members__.get(context.query.get("state", "").upper())


def _state_label(state: State | None) -> str:
    return state_words(state_key(state)).label


def _pool_name(pool_id: int | None) -> str:
    return "" if pool_id is None else fleet.pools()[pool_id].name


urlpatterns = [
    path("costs/teams/<int:team_id>", team, name="costs-team"),
    path("costs/teams/<int:team_id>/outlook", outlook, name="costs-team-outlook"),
    path("costs/teams/<int:team_id>/no-job", no_job, name="costs-no-job"),
]
