"""The tables of runs: the list, its days, and where one run's time and money went."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.console.kit.cells import (
    COUNT,
    DAY_OR_INSTANT,
    GPU_HOURS,
    INSTANT,
    MONEY,
    PROSE,
    RATIO,
    UNIT_COST,
    Locale,
    escaped,
    linked,
    quiet,
    strip_drawn,
    titled,
    warned,
)
from apps.console.kit.table import Table
from apps.console.pages.runs.picture import BucketSums
from apps.console.pages.runs.words import mfu_of, rate, span_of, status_of
from apps.economics.run_time import Bucket
from apps.show.amounts import per_cent
from apps.show.run_buckets import BUCKETS, in_order, strip_of_buckets
from apps.show.time import duration
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.unit_economics.queries.runs.values import RunRow, RunSort

PER_PAGE = 50


def _run_name(row: RunRow, locale: Locale) -> SafeString:
    """The run, with the box that chooses it to be compared, and what is small below it."""
    return format_html(
        '<label class="unseen" for="run-{0}">Compare {1}</label>'
        '<input type="checkbox" id="run-{0}" name="run" value="{0}"> {2}<small>{3} · {4}</small>',
        row.id,
        row.key,
        linked(row.key, locale.onward(reverse("run", args=[row.id]))),
        _workload_and_team(row, locale),
        _status_cell(row),
    )


def _run_of_workload(row: RunRow, locale: Locale) -> SafeString:
    return format_html(
        '<label class="unseen" for="run-{0}">Compare {1}</label>'
        '<input type="checkbox" id="run-{0}" name="run" value="{0}"> {2}<small>{3}</small>',
        row.id,
        row.key,
        linked(row.key, locale.onward(reverse("run", args=[row.id]))),
        _status_cell(row),
    )


def _workload_and_team(row: RunRow, locale: Locale) -> SafeString:
    workload = escaped("No workload")
    if row.workload_id is not None:
        workload = linked(
            row.workload or "", locale.onward(reverse("programme", args=[row.workload_id]))
        )
    return format_html("{} · {}", workload, row.team) if row.team else workload


def _status_cell(row: RunRow) -> str:
    status = status_of(row.status)
    status_text = status.label.lower()
    return (
        warned(status_text, status.explanation)
        if status.key == "failed"
        else titled(status_text, status.explanation)
    )


def _goodput_cell(row: RunRow, _: Locale) -> SafeString:
    strip = strip_drawn(strip_of_buckets(in_order(row.bucket_unit_ms)))
    ratio = row.known_goodput_ratio
    ratio_text = quiet("not reported") if ratio is None else per_cent(ratio)
    return format_html("{} <small>{}</small>", strip, ratio_text)


def _some_unpriced(row: RunRow) -> str:
    is_partly = row.unpriced_milliseconds and row.effective_micros is not None
    return "some unpriced" if is_partly else ""


def _lasted_words(of: Callable[[RunRow], float | None]) -> Callable[[RunRow, Locale], str]:
    def shown(row: RunRow, _: Locale) -> str:
        return duration(span_of(of(row)))

    return shown


def _number_column(csv: str, of: Callable[[RunRow], Any]) -> Column[RunRow]:
    return Column(csv, "", of, COUNT)


def _bucket_cost(bucket: Bucket) -> Column[RunRow]:
    def micros(row: RunRow) -> int | None:
        return in_order(row.bucket_micros).get(bucket)

    return Column(f"{bucket.name.lower()}_cost", "", micros, MONEY)


RUNS = Table[RunRow](
    "table",
    "Run by run",
    (
        _number_column("id", lambda row: row.id),
        Column("name", "Run", lambda row: row.key, PROSE, csv="key", sql=RunSort.NAME,
               shown=_run_name),
        Column("team", "", lambda row: row.team),
        Column("workload", "", lambda row: row.workload),
        Column("status", "", lambda row: row.status),
        Column("began", "Started", lambda row: row.began_at, DAY_OR_INSTANT, csv="started_at",
               sql=RunSort.BEGAN),
        Column("ended_at", "", lambda row: row.ended_at, INSTANT),
        Column("wall_time", "Duration", lambda row: row.wall_seconds, COUNT, csv="wall_seconds",
               sql=RunSort.WALL_TIME, shown=_lasted_words(lambda row: row.wall_seconds)),
        Column("gpus", "GPUs", lambda row: row.gpus, COUNT, sql=RunSort.GPUS,
               note=lambda row: row.gpu_model.removeprefix("NVIDIA ")),
        Column("gpu_model", "", lambda row: row.gpu_model),
        _number_column("jobs", lambda row: row.jobs),
        _number_column("attempts", lambda row: row.attempts),
        Column("cost", "Cost", lambda row: row.effective_micros, MONEY,
               sql=RunSort.COST, note=_some_unpriced),
        CURRENCY_COLUMN,
        Column("gpu_time", "GPU-hours", lambda row: row.unit_milliseconds, GPU_HOURS,
               csv="gpu_hours", sql=RunSort.GPU_TIME),
        Column("unpriced_hours", "", lambda row: row.unpriced_milliseconds, GPU_HOURS),
        _number_column("energy_joules", lambda row: row.energy_joules),
        _number_column("told_ratio", lambda row: row.told_ratio),
        Column("goodput", "Time by bucket", lambda row: row.known_goodput_ratio,
               csv="goodput_ratio", sql=RunSort.GOODPUT, shown=_goodput_cell,
               written=lambda row, _: "" if row.known_goodput_ratio is None
               else f"{row.known_goodput_ratio:.6f}"),
        _number_column("tokens", lambda row: row.tokens),
        _number_column("examples", lambda row: row.examples),
        Column("tokens_per_second", "Tokens a second", lambda row: row.tokens_per_second, COUNT,
               sql=RunSort.TOKENS_PER_SECOND, shown=lambda row, _: rate(row.tokens_per_second)),
        Column("mfu", "MFU", lambda row: row.mfu_ratio, RATIO, csv="mfu_ratio", sql=RunSort.MFU,
               shown=lambda row, _: mfu_of(row).cell()),
        Column("mfu_doubt", "", lambda row: row.mfu_doubt),
        _number_column("tensor_active_ratio", lambda row: row.tensor_active_ratio),
        Column("scaling", "Scaling", lambda row: row.scaling_ratio, RATIO, csv="scaling_ratio",
               sql=RunSort.SCALING),
        Column("first_good", "Time to first good checkpoint", lambda row: row.first_good_seconds, COUNT,
               csv="first_good_seconds", sql=RunSort.FIRST_GOOD,
               shown=_lasted_words(lambda row: row.first_good_seconds)),
        _number_column("good_checkpoints", lambda row: row.good_checkpoints),
        Column("checkpoint_cost", "Cost per good checkpoint", lambda row: row.checkpoint_micros, MONEY,
               csv="cost_per_checkpoint", sql=RunSort.CHECKPOINT_COST),
        Column("million_tokens", "Cost per million tokens", lambda row: row.million_tokens_micros,
               UNIT_COST, csv="cost_per_million_tokens", sql=RunSort.MILLION_TOKENS),
        *map(_bucket_cost, BUCKETS),
    ),
    noun=("run", "runs"),
    about="{said}; each as a whole, before and after the period included",
    empty="No run lived in the period; what is above is of runs without a start that is known.",
    sort="sort",
    default_sort="-began",
    page_name="cursor",
    css="runs",
)  # fmt: skip
RUNS_OF_ONE = replace(
    RUNS,
    columns=tuple(
        replace(column, shown=_run_of_workload) if column.key == "name" else column
        for column in RUNS.columns
    ),
)
"""The runs of one workload: it and its team are said above them."""
HOW_TO_READ = (
    "The bar divides a run’s GPU time; goodput, beside it, is the part of reported time that was "
    "kept training steps. MFU is the model’s arithmetic against the dense peak of its GPUs. Scaling "
    "is against the smallest runs of the workload."
)


def _day_cost(bucket: Bucket) -> Column[tuple[date, BucketSums]]:
    return Column(bucket.name.lower(), "", lambda row: row[1].micros.get(bucket, 0), MONEY)


RUN_DAYS = Table[tuple[date, BucketSums]](
    "days",
    "By day",
    (
        Column("day", "", lambda row: row[0].isoformat()),
        *map(_day_cost, BUCKETS),
        Column("total", "", lambda row: row[1].total, MONEY),
        CURRENCY_COLUMN,
    ),
)
