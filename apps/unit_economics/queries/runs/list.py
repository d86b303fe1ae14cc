"""Runs a page at a time, sorted by any of their figures."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db.models import Case, DateTimeField, F, IntegerField, Q, Value, When
from django.db.models.functions import Coalesce

from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.accounts.queries.reading import once
from apps.unit_economics.models import RunFigures
from apps.unit_economics.queries.runs.values import Order, RunRow, RunSort, RunsWanted

EVER = datetime(1970, 1, 1, tzinfo=UTC)
COLUMNS: Mapping[RunSort, str] = {
    RunSort.BEGAN: "began_at",
    RunSort.NAME: "key",
    RunSort.COST: "effective_micros",
    RunSort.GPU_TIME: "unit_milliseconds",
    RunSort.GPUS: "gpus",
    RunSort.WALL_TIME: "wall_seconds",
    RunSort.ENERGY: "energy_joules",
    RunSort.TOKENS: "tokens",
    RunSort.TOKENS_PER_SECOND: "tokens_per_second",
    RunSort.MFU: "mfu_ratio",
    RunSort.SCALING: "scaling_ratio",
    RunSort.FIRST_GOOD: "first_good_seconds",
    RunSort.CHECKPOINT_COST: "checkpoint_micros",
    RunSort.MILLION_TOKENS: "million_tokens_micros",
    RunSort.GOODPUT: "goodput_ratio",
    RunSort.DATA_WAIT: "data_wait_ratio",
    RunSort.ATTEMPTS: "attempts",
}


def run_page(wanted: RunsWanted, page_request: PageRequest) -> Page[RunRow]:
    """The asked page of the wanted runs; those whose figure is not known come last either way."""
    column = COLUMNS[wanted.sort]
    figures = (
        RunFigures.objects.filter(_runs_filter(wanted))
        .annotate(
            is_unknown=Case(
                When(**{f"{column}__isnull": True}, then=1), default=0, output_field=IntegerField()
            ),
            sorted_by=Coalesce(F(column), _lowest_value(column)),
        )
        .values("is_unknown", "sorted_by", *READ)
    )
    way = "-" if wanted.order is Order.FALLING else ""
    page = page_of(figures, page_request, "is_unknown", f"{way}sorted_by", f"{way}run_id")
    return Page([_run_row(row) for row in page.rows], page.after, page.before)


@once
def run_rows(run_ids: Collection[int]) -> dict[int, RunRow]:
    """These runs by id, whoever's they are."""
    figures = RunFigures.objects.filter(run_id__in=run_ids).order_by("run_id").values(*READ)
    return {row["run_id"]: _run_row(row) for row in figures}


def _runs_filter(wanted: RunsWanted) -> Q:
    chosen = Q()
    if wanted.team_ids is not None:
        chosen &= Q(team_id__in=wanted.team_ids)
    if wanted.workload_ids is not None:
        chosen &= Q(workload_id__in=wanted.workload_ids)
    if wanted.status is not None:
        chosen &= Q(status=wanted.status)
    if wanted.ends_at is not None:
        chosen &= Q(began_at__lt=wanted.ends_at)
    if wanted.starts_at is not None:
        chosen &= Q(ended_at=None) | Q(ended_at__gt=wanted.starts_at)
    return chosen


def _lowest_value(column: str) -> Value:
    """Stands where a figure is not known, among its like."""
    field = next(
        concrete_field
        for concrete_field in RunFigures._meta.concrete_fields
        if concrete_field.name == column
    )
    if isinstance(field, DateTimeField):
        return Value(EVER, output_field=field)
    return Value("" if column == "key" else 0, output_field=field)


def _run_row(row: Mapping[str, Any]) -> RunRow:
    fields = {NAMED.get(name, name): row[name] for name in READ}
    fields["bucket_micros"] = tuple(fields["bucket_micros"])
    fields["bucket_unit_ms"] = tuple(fields["bucket_unit_ms"])
    return RunRow(**fields)


NAMED = {"run_id": "id", "team__name": "team", "workload__name": "workload"}
OF_FIGURES = {name: column for column, name in NAMED.items()}
READ = tuple(OF_FIGURES.get(name, name) for name in RunRow.__slots__)
