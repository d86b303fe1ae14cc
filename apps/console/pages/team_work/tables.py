"""The tables of teams' work: by workload, teams by waste, and how long work waited."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    FIGURE,
    GPU_HOURS,
    MONEY,
    PROSE,
    RATIO,
    SIGNED_MONEY,
    SIGNED_RATIO,
    quiet,
)
from apps.console.kit.table import Table
from apps.economics.waiting import WaitQuantile
from apps.show.amounts import change, counted, difference, share
from apps.show.money import unit_cost
from apps.show.time import duration
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.unit_economics.queries.team_work import TeamWork
from apps.unit_economics.queries.time_to_work import Waits
from apps.unit_economics.queries.waste import NOT_HELD, WastePart

UNDEFINED = quiet("undefined")


class WorkRow(NamedTuple):
    """The work of a team's workload; or of the whole team, at its `place` by waste."""

    work: TeamWork
    team: str
    workload: str = ""
    currency: str = ""
    place: int = 0


class WaitRow(NamedTuple):
    """How long a workload's work waited from its entry in the queue until it did something."""

    waits: Waits
    workload: str
    team: str


def waste_parts(work: TeamWork) -> tuple[int | None, ...]:
    """Failed or redone, no requests, idle while allocated, not held by a job: micro-units."""
    return (
        work.wasted(WastePart.FAILED),
        work.wasted(WastePart.NO_REQUESTS),
        work.wasted(WastePart.HELD_IDLE),
        work.wasted(*NOT_HELD),
    )


def within(quantile: WaitQuantile) -> str:
    """`12 min`, or `over 3 h` where it is not over yet."""
    return f"over {duration(quantile.length)}" if quantile.is_longer else duration(quantile.length)


def _amount_column(
    key: str, text: str, of: Callable[[TeamWork], int | None], csv: str | None = None
) -> Column[WorkRow]:
    return Column(key, text, lambda row: of(row.work), MONEY, csv=csv)


def _ratio_column(key: str, text: str, of: Callable[[TeamWork], Any], csv: str) -> Column[WorkRow]:
    return Column(key, text, lambda row: of(row.work), RATIO, csv=csv, missing=UNDEFINED)


def _waste_column(key: str, text: str, place: int) -> Column[WorkRow]:
    return _amount_column(key, text, lambda work: waste_parts(work)[place])


def _workload_href(row: WorkRow) -> str:
    if row.work.workload_id is None:
        return reverse("costs-team", args=[row.work.team_id])
    return reverse("costs-workload", args=[row.work.workload_id])


def _unit_words(row: WorkRow) -> str:
    """Return what a work's units cost, and of what."""
    if row.work.thousand_micros is not None:
        return f"{unit_cost(row.work.thousand_micros, row.currency)} for 1,000 requests"
    if row.work.million_micros is not None:
        return f"{unit_cost(row.work.million_micros, row.currency)} for 1 M tokens trained"
    return "none"


def _wait_source(row: WaitRow) -> str:
    reported_count, observed_source = row.waits.told, "first minute in which a GPU was active"
    if reported_count == row.waits.count:
        return "first step reported by its runs"
    return (
        observed_source
        if not reported_count
        else f"first step reported by {counted(reported_count, 'run')}; else {observed_source}"
    )


def _wait_column(
    key: str, text: str, csv: str, of: Callable[[Waits], WaitQuantile]
) -> Column[WaitRow]:
    def seconds(row: WaitRow) -> str:
        quantile = of(row.waits)
        return "" if quantile.is_longer else f"{quantile.length.total_seconds():.0f}"

    return Column(
        key,
        text,
        lambda row: within(of(row.waits)),
        FIGURE,
        csv=csv,
        written=lambda row, _: seconds(row),
    )


WASTE = _amount_column("waste", "Waste", lambda work: work.wasted_micros, "wasted_cost")
DATA_WAIT = _amount_column("starved", "Data wait", lambda work: work.starved_micros, "starved_cost")
WORK = Table[WorkRow](
    "table",
    "By workload",
    (
        Column("workload", "Workload", lambda row: row.workload, PROSE, href=_workload_href),
        Column("team", "Team", lambda row: row.team),
        _amount_column("cost", "Cost", lambda work: work.micros),
        _amount_column("cost_compared", "", lambda work: work.now_micros),
        _amount_column("cost_before", "", lambda work: work.before_micros),
        Column(
            "difference",
            "Difference",
            lambda row: difference(row.work.now_micros, row.work.before_micros),
            SIGNED_MONEY,
        ),
        Column(
            "change",
            "Change",
            lambda row: share(
                difference(row.work.now_micros, row.work.before_micros), row.work.before_micros
            ),
            SIGNED_RATIO,
            shown=lambda row, _: change(row.work.now_micros, row.work.before_micros),
        ),
        Column("gpu_hours_held", "", lambda row: row.work.held_ms, GPU_HOURS),
        _ratio_column(
            "active", "Active share of held time", lambda work: work.active_ratio, "active_ratio"
        ),
        WASTE,
        _ratio_column("wasted", "Share of cost", lambda work: work.wasted_ratio, "wasted_ratio"),
        _waste_column("failed_cost", "", 0),
        _waste_column("no_requests_cost", "", 1),
        _waste_column("idle_cost", "", 2),
        _waste_column("not_held_cost", "", 3),
        DATA_WAIT,
        _amount_column("cost_per_1000_requests", "", lambda work: work.thousand_micros),
        _amount_column("cost_per_million_tokens_trained", "", lambda work: work.million_micros),
        Column("unit", "Unit cost", _unit_words, FIGURE, csv="", sorts=False),
        CURRENCY_COLUMN,
    ),
    noun=("workload", "workloads"),
    about="{said}; unknown is not 0: whether unobserved time was waste is not known",
    sort="sort",
    css="wide",
)
LEAGUE = Table[WorkRow](
    "waste",
    "Teams by waste",
    (
        Column("place", "Rank", lambda row: row.place, COUNT),
        Column("team", "Team", lambda row: row.team),
        _amount_column("cost", "Cost", lambda work: work.micros),
        WASTE,
        _ratio_column("wasted", "Share of cost", lambda work: work.wasted_ratio, "wasted_ratio"),
        _waste_column("failed_cost", "Failed or redone", 0),
        _waste_column("no_requests_cost", "No requests", 1),
        _waste_column("idle_cost", "Otherwise idle while allocated", 2),
        _waste_column("not_held_cost", "Not held by a job", 3),
        DATA_WAIT,
        CURRENCY_COLUMN,
    ),
    css="wide",
)
WAITS = Table[WaitRow](
    "waits",
    "Queue wait",
    (
        Column("workload", "Workload", lambda row: row.workload, PROSE),
        Column("team", "Team", lambda row: row.team),
        Column("waits", "Runs and jobs", lambda row: row.waits.count, COUNT),
        Column("told_first_step", "", lambda row: row.waits.told, COUNT),
        Column("still_waiting", "Still waiting", lambda row: row.waits.waiting, COUNT),
        _wait_column("p50", "p50", "median_wait_seconds", lambda waits: waits.median),
        _wait_column("p90", "p90", "ninth_decile_wait_seconds", lambda waits: waits.ninth),
        Column("source", "Measured by", _wait_source, PROSE, csv=""),
    ),
    about="from submission to the first step, of what was submitted in this time, still waiting "
    "included; of jobs whose runs report no step, the newest 500",
    empty="No job reported when it was submitted. Schedulers send submitted_at; a run reports its "
    "first step with the SDK.",
)
