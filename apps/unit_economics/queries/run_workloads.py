"""Of which workload runs are: as their costs are, whoever named it."""

from apps.unit_economics.models import RunFigures


def workloads_of_runs() -> dict[int, int]:
    """By run; one whose costs have no workload, or that has no figures yet, is not in it."""
    rows = RunFigures.objects.exclude(workload=None).values_list("run_id", "workload_id")
    return {run_id: workload_id for run_id, workload_id in rows if workload_id is not None}
