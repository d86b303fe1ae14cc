"""The tables of services: units by service, feature and day; latency, objectives, changes."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    DAY,
    FIGURE,
    GPU_HOURS,
    INSTANT,
    MONEY,
    PROSE,
    RATIO,
    SIGNED_MONEY,
    SIGNED_RATIO,
    UNIT_COST,
    linked,
    quiet,
    undefined,
)
from apps.console.kit.table import Table
from apps.console.pages.services.words import (
    MEASURES,
    PARTS,
    budget_words,
    promise_words,
    quantile_words,
)
from apps.economics.serving import Purpose, UnitCosts
from apps.show.amounts import difference, share
from apps.show.csv_cells import csv_text
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.unit_economics.queries.unit_costs import UnitCost, UnitFilter, unit_cost_groups
from apps.workloads.queries.answer_times import QUANTILES, Attainment, Latency
from apps.workloads.queries.requests import CHANGE_KINDS, ChangeFact

UNDEFINED = quiet("undefined")
NO_UNIT = undefined("nothing was answered, or its cost or count is not known")


class ComparedUnits(NamedTuple):
    """Unit costs in whole days that are over and in those they are held against; None: nothing was charged there."""

    now: UnitCost | None
    before: UnitCost | None


class ComparedServices(NamedTuple):
    """The cost of each service in whole days that are over and in those they are held against, by its id."""

    now: Mapping[int, UnitCost]
    before: Mapping[int, UnitCost]

    def of(self, service_id: int) -> ComparedUnits:
        """One of them."""
        return ComparedUnits(self.now.get(service_id), self.before.get(service_id))


class UnitRow(NamedTuple):
    """The units of a service, a feature, a part or a day; `compared` is None where there is nothing to compare with."""

    cost: UnitCost
    name: str = ""
    team: str = ""
    note: str = ""
    href: str = ""
    compared: ComparedUnits | None = None


def rounded_micros(micros: Fraction | None) -> int | None:
    """To the micro-unit."""
    return None if micros is None else round(micros)


def unasked_ratio(cost: UnitCost) -> Fraction | None:
    """Hours without requests ÷ the whole cost; None where nobody counted, or nothing has a cost."""
    total = cost.parts.total
    return Fraction(cost.parts.idle or 0, total) if total and cost.parts.counted else None


def _compared_cost(row: UnitRow, place: int) -> int | None:
    """Return what a service cost in the days that are compared: 0 where nothing was charged; None where that is not known."""
    if row.compared is None:
        return None
    cost = row.compared[place]
    return 0 if cost is None else cost.parts.total


def _compared_thousand(row: UnitRow, place: int) -> int | None:
    """Return what 1,000 requests cost in the compared days; None where nothing was answered, or that is not known."""
    cost = None if row.compared is None else row.compared[place]
    return None if cost is None else rounded_micros(cost.units.thousand_requests)


def _cost_difference(row: UnitRow) -> int | None:
    return difference(_compared_cost(row, 0), _compared_cost(row, 1))


def _thousand_change(row: UnitRow) -> Fraction | None:
    now, before = (_compared_thousand(row, place) for place in (0, 1))
    return share(difference(now, before), before)


def _failed_requests(row: UnitRow) -> int | None:
    requests, succeeded = row.cost.told.requests, row.cost.told.succeeded
    return None if requests is None or succeeded is None else requests - succeeded


def _all_tokens(row: UnitRow) -> int | None:
    sent, answered = row.cost.told.prompt_tokens, row.cost.told.output_tokens
    return None if sent is None or answered is None else sent + answered


def _part_name(row: UnitRow) -> str | None:
    return None if row.cost.purpose is None else row.cost.purpose.name.lower()


def _amount_column(csv: str, of: Callable[[UnitCost], int | None]) -> Column[UnitRow]:
    return Column(csv, "", lambda row: of(row.cost), MONEY)


def _count_column(csv: str, of: Callable[[UnitCost], int | None]) -> Column[UnitRow]:
    return Column(csv, "", lambda row: of(row.cost), COUNT)


def _unit_column(
    key: str, text: str, csv: str, of: Callable[[UnitCosts], Fraction | None]
) -> Column[UnitRow]:
    return Column(
        key,
        text,
        lambda row: rounded_micros(of(row.cost.units)),
        UNIT_COST,
        csv=csv,
        missing=NO_UNIT,
    )


def _quantile_column(ratio: float) -> Column[tuple[str, Latency]]:
    name = "median" if ratio == 0.5 else f"p{ratio * 100:g}"
    return Column(name, name, lambda row: quantile_words(row[1], ratio), FIGURE)


UNITS: tuple[Column[UnitRow], ...] = (
    Column("cost", "Cost", lambda row: row.cost.parts.total, MONEY),
    _amount_column("answered_cost", lambda cost: cost.parts.answered),
    _amount_column("idle_cost", lambda cost: cost.parts.idle),
    _amount_column("unattributed_cost", lambda cost: cost.parts.unattributed),
    _amount_column("uncounted_cost", lambda cost: cost.parts.uncounted),
    _amount_column("charged_cost", lambda cost: cost.micros),
    Column("unasked", "No requests", lambda row: unasked_ratio(row.cost), RATIO, csv="",
           missing=UNDEFINED),
    Column("requests", "Requests", lambda row: row.cost.told.requests, COUNT),
    Column("failed", "Failed", _failed_requests, COUNT, csv=""),
    _count_column("succeeded_requests", lambda cost: cost.told.succeeded),
    _count_column("prompt_tokens", lambda cost: cost.told.prompt_tokens),
    _count_column("cached_tokens", lambda cost: cost.told.cached_tokens),
    _count_column("output_tokens", lambda cost: cost.told.output_tokens),
    Column("tokens", "Tokens", _all_tokens, COUNT, csv=""),
    _unit_column("thousand", "Per 1,000 requests", "cost_per_1000_requests",
          lambda units: units.thousand_requests),
    _unit_column("million", "", "cost_per_million_tokens", lambda units: units.million_tokens),
    _unit_column("prompt", "Per M input", "cost_per_million_prompt_tokens",
          lambda units: units.million_prompt),
    _unit_column("cached", "Per M cached", "cost_per_million_cached_tokens",
          lambda units: units.million_cached),
    _unit_column("output", "Per M output", "cost_per_million_output_tokens",
          lambda units: units.million_output),
    Column("counted", "Counted", lambda row: row.cost.counted_ratio, RATIO, csv="",
           missing=UNDEFINED),
    CURRENCY_COLUMN,
    Column("gpu_hours", "", lambda row: row.cost.unit_milliseconds, GPU_HOURS),
    Column("unpriced_gpu_hours", "", lambda row: row.cost.unpriced_milliseconds, GPU_HOURS),
)  # fmt: skip
"""What a file tells of units, and what pages may show of them."""


COMPARED: tuple[Column[UnitRow], ...] = (
    Column("difference", "Difference", _cost_difference, SIGNED_MONEY),
    Column("change", "Change", _thousand_change, SIGNED_RATIO),
    Column("compared_cost", "", lambda row: _compared_cost(row, 0), MONEY),
    Column("before_cost", "", lambda row: _compared_cost(row, 1), MONEY),
    Column("compared_thousand", "", lambda row: _compared_thousand(row, 0), UNIT_COST,
           csv="compared_cost_per_1000_requests"),
    Column("before_thousand", "", lambda row: _compared_thousand(row, 1), UNIT_COST,
           csv="before_cost_per_1000_requests"),
)  # fmt: skip
"""Against the days that the period is held against; empty where there is nothing to compare with."""


def _columns_showing(*keys: str) -> tuple[Column[UnitRow], ...]:
    """All of them in CSV, these on the page."""
    return tuple(column if column.key in keys else replace(column, text="") for column in UNITS)


SERVICES = Table[UnitRow](
    "table",
    "One by one",
    (
        Column(
            "name",
            "Service",
            lambda row: row.name,
            PROSE,
            csv="service",
            href=lambda row: row.href,
            note=lambda row: row.note,
        ),
        Column("team", "Team", lambda row: row.team),
        *_columns_showing("cost", "unasked", "requests", "thousand", "prompt", "output", "counted"),
        *COMPARED,
    ),
    noun=("service", "services"),
    about="{said}; undefined is not 0: such a service answered no request that was counted; the difference is of the "
    "cost, the change of 1,000 requests",
    sort="sort",
    css="wide",
)
FEATURES = Table[UnitRow](
    "features",
    "By feature",
    (
        Column(
            "feature",
            "Feature",
            lambda row: row.name,
            PROSE,
            note=lambda row: row.note,
            written=lambda row, _: csv_text(row.cost.keys[0] or ""),
        ),
        Column("part", "", _part_name),
        *_columns_showing(
            "cost", "requests", "failed", "tokens", "thousand", "prompt", "cached", "output"
        ),
    ),
    about="hours are divided by the work of their tokens; the rows sum to what the service cost",
)
DAYS = Table[UnitRow](
    "days",
    "What each day’s units cost",
    (
        Column("day", "Day", lambda row: row.cost.keys[0], DAY),
        *_columns_showing("cost", "unasked", "requests", "thousand", "prompt", "output"),
    ),
)
LATENCY = Table[tuple[str, Latency]](
    "latency",
    "How fast it answered",
    (
        Column("measure", "What", lambda row: row[0]),
        Column("source", "Source", lambda row: row[1].source),
        Column("requests", "Requests", lambda row: row[1].requests, COUNT),
        *map(_quantile_column, QUANTILES),
    ),
    about="from histograms, so linear between two bounds",
    empty="No latency reported: send latency_bounds_seconds and latency_counts with its counts, or "
    "let the agent read the engine.",
)
OBJECTIVES = Table[Attainment](
    "objectives",
    "Objectives",
    (
        Column("promise", "Objective", promise_words, PROSE),
        Column("feature", "Feature", lambda row: row.feature or "all"),
        Column("requests", "Requests", lambda row: row.requests, COUNT),
        Column("met_ratio", "Kept", lambda row: row.met_ratio, RATIO, missing=UNDEFINED),
        Column(
            "at_least_ratio", "At least", lambda row: row.at_least_ratio, RATIO, missing=UNDEFINED
        ),
        Column(
            "budget",
            "Error budget",
            budget_words,
            warns=lambda row: row.budget_left_ratio is not None and row.budget_left_ratio < 0,
        ),
        Column("end", "Change", lambda row: None, shown=lambda row, _: _way_to_end(row)),
    ),
    about="the error budget is what an objective allows to miss, in its own days up to the end of "
    "this period",
    empty="No SLO set: add one, or POST /api/v1/service-objectives.",
)
CHANGED = Table[ChangeFact](
    "changes",
    "What changed",
    (
        Column("at", "When", lambda row: row.at, INSTANT),
        Column("kind", "Kind", lambda row: CHANGE_KINDS.get(row.kind, row.kind)),
        Column("name", "What", lambda row: row.name, PROSE),
        Column("feature", "Feature", lambda row: row.feature or "all"),
    ),
    about="marked in the picture too",
    empty="No change reported in this time: a deployment reports itself with "
    "POST /api/v1/workload-changes.",
)


def grouped_units(chosen: UnitFilter, by: str) -> list[UnitRow]:
    """Return what is chosen by `by`; the parts that no feature has are rows of their own."""
    return [UnitRow(cost) for cost in unit_cost_groups(chosen, [by])]


def feature_row(cost: UnitCost) -> UnitRow:
    """A feature by its name; what no feature has by what it is."""
    if cost.purpose is Purpose.ANSWERED or cost.purpose is None:
        return UnitRow(cost, cost.keys[0] or "(feature not reported)")
    part = PARTS[cost.purpose]
    return UnitRow(cost, part.label, note=part.explanation)


def latency_rows(
    times: tuple[Latency | None, Latency | None],
) -> list[tuple[str, Latency]]:
    """Of whole answers and of first tokens, where anybody reported them."""
    named = zip(MEASURES.values(), times, strict=True)
    return [(words, latency) for words, latency in named if latency is not None]


def _way_to_end(row: Attainment) -> str:
    if row.ends_at:
        return ""
    return linked("End", reverse("end-objective", args=[row.workload_id, row.objective_id]))
