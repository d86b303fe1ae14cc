"""The table of what waiting and outages cost."""

from apps.economics.priced_time import PricedTime
from apps.economics.waiting import WaitQuantile
from apps.planning.queries.waiting_costs import WaitingCost, WaitingRow
from apps.show.amounts import gpu_hours
from apps.show.cell_formats import DURATION, FIGURE, GPU_HOURS, MONEY, PROSE
from apps.tables.column import CURRENCY_COLUMN, Column, field
from apps.tables.table import Table


def redone_note(milliseconds: int) -> str:
    """Return ` 3.00 redone`; empty of nothing."""
    return f" {gpu_hours(milliseconds)} redone" if milliseconds else ""


def _partial_cost_note(row: WaitingRow) -> bool | str:
    waits = row.cost.waits_of_gpus
    unpriced = row.cost.wait_unpriced_ms if waits is not None and waits.micros is not None else 0
    return unpriced > 0 and f"At least: no policy prices {gpu_hours(unpriced)} GPU-hours of it"


def _for_outages(cost: WaitingCost) -> str:
    waited = cost.for_outages.milliseconds
    return f" {gpu_hours(waited)} for outages" if waited else ""


def _waiting_part(row: WaitingRow, part: PricedTime) -> int | None:
    return None if row.cost.waits_of_gpus is None else part.milliseconds


def _length(quantile: WaitQuantile | None) -> object:
    return quantile and quantile.length


WAITING_COSTS = Table[WaitingRow](
    "waiting",
    "Who waited, and what it cost",
    (
        Column("of", "Of", format=PROSE, formerly=("name",)),
        Column("team", "", field("beside")),
        Column("jobs", "Jobs", field("cost.jobs"), definition="submitted in the window",
               note=lambda row: f" {row.cost.still_waiting:,} waiting" if row.cost.still_waiting else ""),
        Column("still_waiting", "", field("cost.still_waiting"), definition="of them"),
        Column("median_wait_seconds", "p50", field("cost.median.known_seconds"), FIGURE,
               order=lambda row: _length(row.cost.median), formerly=("p50",),
               definition="from submission to start; null: longer than anything waited yet"),
        Column("ninth_decile_wait_seconds", "p90", field("cost.ninth.known_seconds"), FIGURE,
               order=lambda row: _length(row.cost.ninth), formerly=("p90",)),
        Column("waited_seconds", "Waited", lambda row: row.cost.waited, DURATION, formerly=("waited",)),
        Column("undated_jobs", "", field("cost.undated_jobs"),
               definition="nobody said when they were submitted"),
        Column("unsized_jobs", "", field("cost.unsized_jobs"),
               definition="never started, so nobody says for how many GPUs: in no GPU-hours and no cost"),
        Column("waits", "GPU-hours", field("cost.waits_of_gpus.milliseconds"), GPU_HOURS, csv="",
               note=lambda row: _for_outages(row.cost)),
        Column("waited_for_capacity_gpu_hours", "", lambda row: _waiting_part(row, row.cost.for_capacity),
               GPU_HOURS),
        Column("waited_for_outages_gpu_hours", "", lambda row: _waiting_part(row, row.cost.for_outages),
               GPU_HOURS, definition="while as many GPUs of the pool were out"),
        Column("wait_cost", "Waits, cost", field("cost.waits_of_gpus.micros"), MONEY,
               definition="at the cost of being short of the policies", warns=_partial_cost_note),
        Column("unpriced_wait_gpu_hours", "", field("cost.wait_unpriced_ms"), GPU_HOURS,
               definition="of which no policy says what an hour costs"),
        Column("lost_gpu_hours", "Out, GPU-hours", field("cost.lost.milliseconds"), GPU_HOURS,
               formerly=("lost",), note=lambda row: redone_note(row.cost.redone.milliseconds)),
        Column("redone_gpu_hours", "", field("cost.redone.milliseconds"), GPU_HOURS,
               definition="active time that jobs lost which ended in an outage, as their runs report"),
        Column("lost_held_gpu_hours", "", field("cost.lost_held.milliseconds"), GPU_HOURS,
               definition="out, held by jobs and not active"),
        Column("lost_cost", "Out, cost", field("cost.lost.micros"), MONEY,
               definition="what these three cost, effective"),
        Column("cost", "Cost", field("cost.micros"), MONEY),
        CURRENCY_COLUMN,
        Column("lost_not_held_gpu_hours", "", field("cost.lost_free.milliseconds"), GPU_HOURS,
               definition="out of service, held by no job"),
        Column("unpriced_lost_gpu_hours", "", field("cost.lost.unpriced_ms"), GPU_HOURS),
        Column("gpu_model", "", lambda row: row.cost.of.gpu_model),
        Column("team_id", "", field("team.id")),
        Column("workload_id", "", field("workload.id")),
        Column("pool_id", "", field("pool.id")),
    ),
    noun=("row", "rows"),
    about="p50 and p90 from submission to start, of jobs submitted in this time; waits at the cost of being short of the "
    "headroom policies; out: paid for and not usable, or to be done again, at what it cost",
    sort="waiting",
    row=WaitingRow,
    unique=lambda row: row.cost.of.order,
)  # fmt: skip
