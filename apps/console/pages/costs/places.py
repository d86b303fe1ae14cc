"""Costs by team, a team's by workload, and what of a team's no job held."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.console.kit.request import EVERYONE, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.costs.asking import (
    all_costs,
    answer,
    asked_by,
    nothing,
    team_link,
    team_name,
)
from apps.console.pages.costs.lines import LinesOf, line_table, lines_csv
from apps.console.pages.costs.meters import meters_of_rows
from apps.console.pages.costs.picture import Place, daily_chart
from apps.console.pages.costs.question import CostQuestion
from apps.console.pages.costs.table import (
    CSV_OWNER,
    Heading,
    cost_row,
    cost_table,
    csv_cells,
    csv_headings,
    csv_owner,
    ordered,
)
from apps.console.pages.costs.values import CostRow, CostTable
from apps.console.pages.costs.words import spent
from apps.console.pages.overview.sums import state_key, sums_of
from apps.economics.states import State
from apps.ledger.queries import StateSum
from apps.ledger.queries.drill import (
    Drill,
    NoWorkload,
    costs_by_day,
    costs_by_team,
    costs_by_workload,
    costs_by_workload_and_of_none,
    costs_of_no_workload,
    lines_of_no_job,
)
from apps.show.money import whole_amount
from apps.show.words import state_words
from apps.workloads import queries as workloads

States = Sequence[StateSum]
Named = Mapping[int, workloads.WorkloadFact]
NOTES = {"platform": "not held by a job", "unowned": "no rule names an owner"}
HELD_BY_NO_JOB = (State.UNALLOCATED, State.STRANDED, State.OUT_OF_SERVICE)
MOST_LINES = 200
MOST_CSV_LINES = 50_000


@require_safe
@shown_to(EVERYONE)
def costs(request: HttpRequest) -> HttpResponse:
    """Every team that the viewer sees."""
    asked, at = asked_by(request)
    by_team = costs_by_team(asked.drill, asked.viewer)
    rows = [
        cost_row(
            asked.teams[team_id].name,
            states,
            asked.down("costs-team", team_id),
            NOTES.get(asked.teams[team_id].kind, ""),
        )
        for team_id, states in by_team.items()
    ]
    heading = Heading(
        id="by-team",
        title="By team",
        note="cost of each, by state of its GPU time",
        first="Team",
        csv_href=asked.href("costs-csv"),
        sorts=lambda sort: asked.href("costs", sort=sort),
    )
    whole = _together(by_team)
    daily, known = costs_by_day(asked.drill, asked.viewer, at)
    finding = _highest_team(asked, rows, whole)
    if not rows:
        return answer(request, asked, asked.drill, (), finding, empty=nothing(asked, "costs"))
    table = cost_table(asked, heading, ordered(rows, asked.sort), whole)
    place = Place("costs", table="by-team")
    return answer(
        request,
        asked,
        asked.drill,
        (),
        finding,
        tables=[table],
        place=place,
        daily=daily,
        known=known,
        meters=meters_of_rows(asked, asked.drill, "team", "Team", lambda key: _team(asked, key)),
    )


@require_safe
@shown_to(EVERYONE)
def costs_csv(request: HttpRequest) -> HttpResponse:
    """The table by team."""
    asked, _ = asked_by(request)
    rows = [
        csv_cells(asked, csv_owner(asked, team_id), states)
        for team_id, states in costs_by_team(asked.drill, asked.viewer).items()
    ]
    return csv_answer("costs by team", csv_headings(*CSV_OWNER), rows)


@require_safe
@shown_to(EVERYONE)
def team(request: HttpRequest, team_id: int) -> HttpResponse:
    """One team by workload, and what no job held of its."""
    asked, at = asked_by(request)
    name = team_name(asked, team_id)
    drill = asked.of_team(team_id)
    by_workload, rest = costs_by_workload_and_of_none(drill, asked.viewer)
    whole = _together(by_workload)
    finding = spent(asked, name, sums_of(whole))
    trail = [all_costs(asked)]
    if not by_workload:
        empty = nothing(asked, "costs-team", team_id)
        return answer(request, asked, drill, trail, finding, empty=empty)
    named = workloads.workloads()
    heading = Heading(
        id="by-workload",
        title="By workload",
        note="cost of each, by state of its GPU time",
        first="Workload",
        csv_href=asked.href("costs-team-csv", team_id),
        sorts=lambda sort: asked.href("costs-team", team_id, sort=sort),
    )
    rows = ordered(_workload_rows(asked, team_id, named, by_workload, rest), asked.sort)
    tables = [cost_table(asked, heading, rows, whole)]
    if rest.of_none:
        tables.append(_no_job_table(asked, team_id, rest))
    place = Place("costs-team", (team_id,), "by-workload")
    daily, known = costs_by_day(drill, asked.viewer, at)
    return answer(
        request,
        asked,
        drill,
        trail,
        finding,
        tables=tables,
        place=place,
        daily=daily,
        known=known,
        meters=meters_of_rows(
            asked, drill, "workload", "Workload", lambda key: _workload(asked, team_id, named, key)
        ),
    )


@require_safe
@shown_to(EVERYONE)
def team_csv(request: HttpRequest, team_id: int) -> HttpResponse:
    """The table by workload; what no job held by pool."""
    asked, _ = asked_by(request)
    name = team_name(asked, team_id)
    drill = asked.of_team(team_id)
    named = workloads.workloads()
    rest = costs_of_no_workload(drill, asked.viewer)
    rows = [
        csv_cells(asked, [*csv_owner(asked, team_id), named[workload_id].name, ""], states)
        for workload_id, states in costs_by_workload(drill, asked.viewer).items()
        if workload_id is not None
    ]
    if rest.of_jobs:
        rows.append(csv_cells(asked, [*csv_owner(asked, team_id), "No workload", ""], rest.of_jobs))
    for pool_id, states in rest.of_none.items():
        rows.append(
            csv_cells(
                asked,
                [*csv_owner(asked, team_id), "Not held by a job", _pool(asked, pool_id)],
                states,
            )
        )
    return csv_answer(f"costs of {name}", csv_headings(*CSV_OWNER, "workload", "pool"), rows)


@require_safe
@shown_to(EVERYONE)
def no_job_pools(request: HttpRequest, team_id: int) -> HttpResponse:
    """The table of what no job held, by pool and state."""
    asked, _ = asked_by(request)
    name = team_name(asked, team_id)
    rest = costs_of_no_workload(asked.of_team(team_id), asked.viewer)
    rows = [
        csv_cells(
            asked,
            [*csv_owner(asked, team_id), _pool(asked, pool_id), state_key(each.state)],
            [each],
        )
        for pool_id, states in rest.of_none.items()
        for each in states
    ]
    headings = csv_headings(*CSV_OWNER, "pool", "state")
    return csv_answer(f"costs of {name} without a job", headings, rows)


@require_safe
@shown_to(EVERYONE)
def no_job(request: HttpRequest, team_id: int) -> HttpResponse:
    """The lines behind what no job held of a team's, in one pool and state."""
    asked, at = asked_by(request)
    name = team_name(asked, team_id)
    drill = asked.of_team(team_id)
    rest = costs_of_no_workload(drill, asked.viewer)
    states = [
        each for of_pool in rest.of_none.values() for each in of_pool if each.state == asked.state
    ]
    words = state_words(state_key(asked.state))
    who = f"{words.label} time of {name}" if asked.state else f"Other charges of {name}"
    if asked.given["pool"]:
        who = f"{who} on {asked.given['pool']}"
    sums = sums_of(states)
    finding = f"{who} cost {whole_amount(sums.total, asked.currency)} {asked.words.within}."
    if sums.total is None:
        finding = f"What {who[0].lower()}{who[1:]} cost {asked.words.within} is not known."
    trail = [all_costs(asked), *team_link(asked, team_id)]
    found = lines_of_no_job(drill, asked.viewer, asked.state, MOST_LINES + 1)
    drill = in_state(drill, asked.state)
    if not found:
        empty = nothing(asked, "costs-no-job", team_id)
        return answer(request, asked, drill, trail, finding, empty=empty)
    place = Place("costs-no-job", (team_id,), "lines")
    of_lines = LinesOf(
        name=place.name,
        of=place.of,
        csv_href=asked.href("costs-no-job-csv", team_id),
        whole=sums,
        most=MOST_LINES,
    )
    lines = line_table(asked, found, of_lines)
    chart = None
    if asked.state in HELD_BY_NO_JOB:
        chart = daily_chart(asked, place, costs_by_day(drill, asked.viewer, at)[0].days)
    return answer(request, asked, drill, trail, finding, lines=lines, chart=chart)


@require_safe
@shown_to(EVERYONE)
def no_job_csv(request: HttpRequest, team_id: int) -> HttpResponse:
    """The same lines, 50,000 at most."""
    asked, _ = asked_by(request)
    name = team_name(asked, team_id)
    drill = asked.of_team(team_id)
    found = lines_of_no_job(drill, asked.viewer, asked.state, MOST_CSV_LINES)
    return lines_csv(asked, f"lines of {name} without a job", found)


def _team(asked: CostQuestion, team_id: int) -> tuple[str, str]:
    return asked.teams[team_id].name, asked.down("costs-team", team_id)


def _workload(
    asked: CostQuestion, team_id: int, named: Named, workload_id: int | None
) -> tuple[str, str]:
    if workload_id is None:
        return "No workload", asked.down("costs-team-jobs", team_id)
    return named[workload_id].name, asked.down("costs-workload", workload_id)


def in_state(drill: Drill, state: State | None) -> Drill:
    """The same costs in one state and of no workload; None: in all."""
    states = None if state is None else frozenset({int(state)})
    return replace(drill, is_of_no_workload=True, chosen=replace(drill.chosen, states=states))


def _workload_rows(
    asked: CostQuestion,
    team_id: int,
    named: Named,
    by_workload: Mapping[int | None, States],
    rest: NoWorkload,
) -> list[CostRow]:
    rows = [
        cost_row(
            named[workload_id].name,
            states,
            asked.down("costs-workload", workload_id),
            named[workload_id].kind,
        )
        for workload_id, states in by_workload.items()
        if workload_id is not None
    ]
    if rest.of_jobs:
        href = asked.down("costs-team-jobs", team_id)
        rows.append(cost_row("No workload", rest.of_jobs, href))
    if rest.of_none:
        rows.append(cost_row("Not held by a job", _together(rest.of_none), "#no-job"))
    return rows


def _no_job_table(asked: CostQuestion, team_id: int, rest: NoWorkload) -> CostTable:
    rows = [
        _no_job_row(asked, team_id, pool_id, each)
        for pool_id, states in rest.of_none.items()
        for each in states
    ]
    heading = Heading(
        id="no-job",
        title="Not held by a job",
        note="by pool and state; and charges without GPU time of their own",
        first="Pool and state",
        csv_href=asked.href("costs-no-job-pools", team_id),
        sorts=lambda sort: f"{asked.href('costs-team', team_id, sort=sort)}#no-job",
    )
    return cost_table(asked, heading, ordered(rows, asked.sort), _together(rest.of_none))


def _no_job_row(asked: CostQuestion, team_id: int, pool_id: int | None, each: StateSum) -> CostRow:
    words = state_words(state_key(each.state))
    pool = _pool(asked, pool_id)
    state = "" if each.state is None else each.state.name.lower()
    href = asked.down("costs-no-job", team_id, pool=pool, state=state)
    return cost_row(f"{pool or 'No pool'}: {words.label.lower()}", [each], href)


def _highest_team(asked: CostQuestion, rows: Sequence[CostRow], whole: States) -> str:
    sums = sums_of(whole)
    first = max(rows, key=lambda row: row.cost_micros or 0, default=None)
    if first is None:
        who = "anybody" if asked.viewer.sees_everything else "your teams"
        return f"Nothing was charged to {who} {asked.words.within}."
    if len(rows) == 1 or sums.total is None or first.cost_micros is None:
        return spent(asked, first.name if len(rows) == 1 else "Everything", sums)
    most = whole_amount(first.cost_micros, asked.currency)
    of_all = whole_amount(sums.total, asked.currency)
    return f"{first.name} cost the most {asked.words.within}: {most} of {of_all}."


def _together(parts: Mapping[int | None, States] | Mapping[int, States]) -> list[StateSum]:
    return [each for states in parts.values() for each in states]


def _pool(asked: CostQuestion, pool_id: int | None) -> str:
    return "" if pool_id is None else asked.pools[pool_id].name
