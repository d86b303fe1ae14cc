"""RunFigures: a run's own figures, by its rows of days and what it told."""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import connection, transaction

from apps.economics.run_figures import Sized, scaling_ratios
from apps.ledger.queries.tables import run
from apps.logs.changes import logged_pass
from apps.unit_economics.actions.runs.figured import Compute, RunInputs, figures_of
from apps.unit_economics.models import RunFigures
from apps.unit_economics.queries.runs.slices import compute_held
from apps.unit_economics.queries.runs.sums import due_runs, run_sums
from apps.workloads.queries.run_facts import run_summaries
from apps.workloads.queries.run_totals import run_clocks, run_wholes

# Arbitrary but fixed: what several write of runs and of runs like them, they write in turn.
FIGURING = 7_305_051
AT_ONCE = 1_000


def write_run_figures(*, run_ids: Collection[int], at: datetime) -> None:
    """Write the figures of these runs anew, in the caller's transaction, after what they rest on.

    Whoever comes second waits for the first to commit, and then sees what it wrote.
    """
    if not run_ids:
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FIGURING])
    ids = sorted(run_ids)
    were = RunFigures.objects.filter(run_id__in=ids).values_list("workload_id", flat=True)
    workloads = set(were.order_by("run_id"))
    wholes, summaries, clocks = run_wholes(ids), run_summaries(ids), run_clocks(ids)
    sums, compute = run_sums(ids), compute_held(ids)
    run_figures = [
        figures_of(
            run_id,
            RunInputs(
                wholes[run_id],
                summaries.get(run_id),
                clocks.get(run_id),
                Compute(compute[run_id]) if run_id in compute else None,
            ),
            sums.get(run_id, ()),
            at,
        )
        for run_id in ids
        if run_id in wholes
    ]
    RunFigures.objects.bulk_create(
        run_figures, update_conflicts=True, unique_fields=["run"], update_fields=WRITTEN
    )
    _compare_scaling(workloads | {figures.workload_id for figures in run_figures})


@logged_pass("figure_runs")
def figure_due_runs(*, at: datetime) -> int:
    """Write the figures of runs that have none or were folded since; how many."""
    written = 0
    while True:
        with transaction.atomic():
            due = due_runs(AT_ONCE)
            write_run_figures(run_ids=due, at=at)
        written += len(due)
        if len(due) < AT_ONCE:
            return written


def _compare_scaling(workload_ids: Collection[int | None]) -> None:
    """Scaling is against the smallest runs of a workload, so one run's figures move the others'."""
    rate_rows = list(
        RunFigures.objects.filter(
            workload_id__in=[
                workload_id for workload_id in workload_ids if workload_id is not None
            ],
            tokens_per_second__isnull=False,
        )
        .order_by("run_id")
        .values_list("run_id", "workload_id", "gpu_model", "gpus", "tokens_per_second")
    )
    summaries = run_summaries([run_id for run_id, *_ in rate_rows])
    runs = [
        Sized(run_id, (workload_id, gpu_model, str(summaries[run_id].model)), gpus, rate)
        for run_id, workload_id, gpu_model, gpus, rate in rate_rows
        if gpus and rate
    ]
    _write_scaling(list(scaling_ratios(runs).items()))


def _write_scaling(ratios: Sequence[tuple[int, float]]) -> None:
    if ratios:
        ids, values = (list(column) for column in zip(*ratios, strict=True))
        run(SCALING, {"ids": ids, "ratios": values})


WRITTEN = [
    field.name
    for field in RunFigures._meta.concrete_fields
    if field.name not in ("run", "scaling_ratio")
]
SCALING = """
UPDATE ledger_runfigures AS figures SET scaling_ratio = new.ratio
FROM unnest(%(ids)s::int8[], %(ratios)s::float8[]) AS new (run_id, ratio)
WHERE figures.run_id = new.run_id AND figures.scaling_ratio IS DISTINCT FROM new.ratio
"""
