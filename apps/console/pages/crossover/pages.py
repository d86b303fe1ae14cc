"""The pages of crossover: all kept scenarios, and one with its answer, its sliders and its runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.urls import path, reverse

from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.gates import gate_list, gate_notes
from apps.console.kit.page import ConsolePage, Section, SideBySide, SwappedPart, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table, TableSection
from apps.console.pages.crossover import changes, tables, words
from apps.console.pages.crossover.tornado import tornado_picture
from apps.console.pages.crossover.trying import (
    cost_picture,
    get_scenario_or_404,
    key_figures,
    tried_run,
)
from apps.console.pages.forecasts.tables import MADE
from apps.console.pages.managers import step_for
from apps.planning.queries.crossover import (
    SavedScenarioFact,
    ScenarioRunFact,
    may_keep,
    may_keep_any,
    saved_scenarios,
    scenario_runs,
)
from apps.planning.queries.crossover_reach import forecast_volumes
from apps.planning.queries.crossover_tried import ExploredRun
from apps.show.amounts import counted
from apps.show.time import instant

LOOK_AGAIN_SECONDS = 5
PARTS: dict[str, Callable[[ExploredRun, SavedScenarioFact], tuple[Any, list[Any]]]] = {
    "curve": lambda answered_run, _: (tables.CURVE, tables.curve_rows(answered_run)),
    "crossings": lambda answered_run, _: (tables.CROSSINGS, tables.crossing_rows(answered_run)),
    "tornado": lambda answered_run, _: (tables.TORNADO, tables.in_currency(answered_run.answer.tornado, answered_run)),
    "needed": lambda answered_run, _: (tables.NEEDED, tables.in_currency(answered_run.answer.must_be_true, answered_run)),
    "months": lambda answered_run, fact: (
        tables.MONTHS, tables.month_rows(forecast_volumes(fact.service_id), answered_run)
    ),
    "levers": lambda answered_run, _: (tables.LEVERS, tables.in_currency(answered_run.answer.levers, answered_run)),
    "costs": lambda answered_run, _: (
        tables.COSTS, tables.in_currency(tables.cost_parts(answered_run.answer), answered_run)
    ),
    "pools": lambda answered_run, _: (tables.POOLS, list(answered_run.answer.costs.pools)),
    "ways": lambda answered_run, _: (tables.WAYS, tables.in_currency(answered_run.answer.cheapest_ways, answered_run)),
    "moves": lambda answered_run, fact: (
        tables.MOVES, tables.in_currency(fact.answered.moved if fact.answered else (), answered_run)
    ),
}  # fmt: skip
"""The tables of an answer by their names in addresses, in the order of the page but for the first."""
OPTIONAL = {"levers", "months", "moves", "ways"}


@shown(EVERYONE, "crossover")
def scenario_list(context: Context) -> ConsolePage:
    """Every scenario that the viewer may see, with its newest advice."""
    scenarios = saved_scenarios(context.seen_teams)
    may = may_keep_any(context.viewer)
    links = (Link("From a service of yours", reverse("new-crossover-of-service")),
             Link("New scenario", reverse("new-crossover")))  # fmt: skip
    return ConsolePage(
        context=context,
        finding=_list_finding(scenarios),
        under=("every scenario runs once a week, and when you ask for it",) if scenarios else (),
        actions=links if scenarios and may else (),
        sections=(tables.SCENARIOS.section(scenarios, context, csv_name="crossover-scenarios"),),
        empty=None if scenarios else _no_scenario(context),
    )


@shown(EVERYONE, "crossover")
def scenario_page(context: Context, scenario_id: int) -> ConsolePage:
    """One scenario: its newest answer, what it would be with other inputs, and how it came to be."""
    fact = get_scenario_or_404(context, scenario_id)
    runs = scenario_runs(fact.id)
    about: dict[str, Any] = {
        "context": context,
        "back": Link("All scenarios", reverse("crossovers")),
        "actions": _actions(fact, context),
        "refresh_seconds": LOOK_AGAIN_SECONDS if fact.is_waiting else 0,
        "notes": _notes(fact, context),
    }
    if fact.answered is None:
        return ConsolePage(
            finding=f"{fact.name} has no answer yet",
            problems=_refusal(fact),
            sections=(_history(fact, runs, context),),
            **about,
        )
    form, answered_run = tried_run(context, fact.answered)
    parts = {name: part(answered_run, fact) for name, part in PARTS.items()}
    files = {name: _part_file(name, table, rows, context) for name, (table, rows) in parts.items()}
    about["notes"] += gate_notes(answered_run.answer.gates)
    ran_at = instant(fact.answered.ran_at, context.zone)
    return ConsolePage(
        finding=words.scenario_finding(fact, answered_run),
        under=(
            f"at {words.million_tokens(answered_run.answer.costs.million_tokens)} tokens a month",
            f"prices of {answered_run.question.scenario.on}",
            f"run {ran_at}",
            *answered_run.answer.reasons,
        ),
        problems=(*_refusal(fact), *form.problems),
        sections=(
            key_figures(answered_run),
            SideBySide(
                (
                    SwappedPart("picture-part", (cost_picture(fact, answered_run, context, files["curve"]),)),
                    form.section(
                        "try", reverse("crossover", args=[fact.id]), "Answer with these",
                        title="Try other values", method="get",
                        about="taken as certain; 200 draws of the other ranges",
                        swaps=("picture-part", "figures", "answer-part"),
                    ),
                ),
                css="cols",
            ),
            SwappedPart("answer-part", tuple(_parts(parts, files, fact, answered_run, context))),
            _history(fact, runs, context),
            MADE.section(_method_facts(fact.answered, answered_run), context, title="How it came to be", about=""),
        ),
        csv_files=tuple(files.values()),
        **about,
    )  # fmt: skip


def _list_finding(scenarios: Sequence[SavedScenarioFact]) -> str:
    if not scenarios:
        return "No scenario yet"
    flipped = [
        (scenario_fact.flipped.ran_at, scenario_fact.name, scenario_fact.flipped)
        for scenario_fact in scenarios
        if scenario_fact.flipped
    ]
    if flipped:
        _, name, run = max(flipped, key=lambda flip: flip[0])
        return f"{name}: recommendation changed {words.flip_words(run)}"
    api = sum(
        scenario_fact.answered is not None and scenario_fact.answered.advice == "api"
        for scenario_fact in scenarios
    )
    self_hosted = sum(
        scenario_fact.answered is not None and scenario_fact.answered.advice == "self_host"
        for scenario_fact in scenarios
    )
    return f"{counted(len(scenarios), 'scenario')}: {self_hosted} cheaper to serve yourself, {api} cheaper from an API"


def _actions(fact: SavedScenarioFact, context: Context) -> tuple[Link, ...]:
    if not may_keep(context.viewer, fact.team_id):
        return ()
    return (
        Link("Change scenario", reverse("change-crossover", args=[fact.id])),
        Link("Delete scenario", reverse("remove-crossover", args=[fact.id])),
    )


def _notes(fact: SavedScenarioFact, context: Context) -> tuple[str, ...]:
    """The newest flip, and whether a run is under way."""
    flip, notes = fact.flipped, []
    if flip is not None:
        moved = words.moved_words(flip)
        why = f". What moved most: {moved}" if moved else ""
        notes.append(
            f"Recommendation changed {instant(flip.ran_at, context.zone)} {words.flip_words(flip)}{why}."
        )
    if fact.is_waiting:
        notes.append("A run is under way; this page shows it when it is there.")
    return tuple(notes)


def _refusal(fact: SavedScenarioFact) -> tuple[str, ...]:
    if fact.newest is None or not fact.newest.refusal:
        return ()
    stays = " Its last answer stands below." if fact.answered is not None else ""
    return (f"The newest run was refused: {fact.newest.refusal}.{stays}",)


def _part_file(name: str, table: Table[Any], rows: Sequence[Any], context: Context) -> CsvFile:
    return table.file(f"crossover-{name}", context, lambda: rows)


def _parts(
    parts: Mapping[str, tuple[Any, list[Any]]],
    files: Mapping[str, CsvFile],
    fact: SavedScenarioFact,
    answered_run: ExploredRun,
    context: Context,
) -> list[Section]:
    """The tables of the answer, those of OPTIONAL where there are some."""
    sections: list[Section] = [*filter(None, [gate_list(answered_run.answer.gates)])]
    for name, (table, rows) in list(parts.items())[1:]:
        if name == "tornado" and rows:
            sections.append(tornado_picture(answered_run, context, files[name]))
        elif rows or name not in OPTIONAL:
            sections.append(_part_section(name, table, rows, fact, answered_run, context))
    return sections


def _part_section(
    name: str,
    table: Any,
    rows: list[Any],
    fact: SavedScenarioFact,
    answered_run: ExploredRun,
    context: Context,
) -> TableSection:
    options: dict[str, Any] = {"csv_name": f"crossover-{name}"}
    volumes = forecast_volumes(fact.service_id) if name in {"crossings", "months"} else None
    if name == "crossings":
        options["about"] = words.searched_words(answered_run, volumes)
        options["empty"] = "The two sides never change places."
    if volumes is not None and name == "months":
        options["links"] = (Link("The forecast", reverse("forecast", args=[volumes.forecast_id])),)
        if volumes.refusal:
            options["remark"] = f"A fallback, which says little of later months: {volumes.refusal}."
    section: TableSection = table.section(rows, context, **options)
    return section


def _history(
    fact: SavedScenarioFact, runs: Sequence[ScenarioRunFact], context: Context
) -> TableSection:
    options: dict[str, Any] = {
        "csv_name": "crossover-runs",
        "is_shown": bool(runs) or fact.answered is not None,
    }
    if may_keep(context.viewer, fact.team_id):
        options |= {
            "form": Link("Run now", reverse("run-crossover", args=[fact.id])),
            "is_sent": True,
        }
    return tables.RUNS.section(runs, context, **options)


def _method_facts(run: ScenarioRunFact, answered_run: ExploredRun) -> list[tuple[str, str]]:
    scenario = answered_run.question.scenario
    facts = [
        ("Method", f"{answered_run.answer.method}; docs/guides/crossover.md has the formulas"),
        ("API", f"{scenario.api.name}; {scenario.api.source or 'no source is stated'}"),
        ("Quality", scenario.quality or "nothing is said of it: this compares costs alone"),
        ("Digest of its inputs", run.digest),
    ]
    if run.measured is not None:
        measurement = words.measured_words(run.measured, scenario.currency)
        facts.insert(0, (f"Measured of {run.measured['service']}", measurement))
    return [*facts, *(("Risk", risk) for risk in answered_run.answer.risks)]


def _no_scenario(context: Context) -> EmptyState:
    may = may_keep_any(context.viewer)
    return EmptyState(
        title="No scenario yet",
        sentence="A scenario compares what a month of a service’s tokens costs on replicas of your own with what an"
        " API charges: whole replicas, peaks, people, cached and batch prices. It says from which volume on the"
        " cheaper side changes, how sure that is and what it hangs on, runs every week, and says when the answer"
        " flips.",
        steps=(
            step_for(
                "Demand, throughput and the price of a GPU-hour of a service of yours are measured; you add the API’s prices.",
                Link("From a service of yours", reverse("new-crossover-of-service")),
                "adds one",
                may=may,
            ),
            step_for(
                "Or state everything yourself, in the same form as docs/guides/crossover.toml.",
                Link("New scenario", reverse("new-crossover")),
                "adds one",
                may=may,
            ),
        ),
    )


urlpatterns = [
    path("crossover", scenario_list, name="crossovers"),
    path("crossover/new", changes.new_scenario, name="new-crossover"),
    path("crossover/of-service", changes.new_of_service, name="new-crossover-of-service"),
    path("crossover/<int:scenario_id>", scenario_page, name="crossover"),
    path("crossover/<int:scenario_id>/change", changes.change_scenario, name="change-crossover"),
    path("crossover/<int:scenario_id>/delete", changes.delete_scenario, name="remove-crossover"),
    path("crossover/<int:scenario_id>/run", changes.run_now, name="run-crossover"),
]
