"""Imports of files of jobs: how far each is, and the rows it could not take."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from apps.accounts.queries.facts import facts_of
from apps.economics.jobs import JobSource
from apps.uploads.imports import RejectedFact, UploadedFact
from apps.workloads.models import ImportBatch, RejectedRow


@dataclass(frozen=True, slots=True)
class ImportFact(UploadedFact):
    """One import of a file of jobs; `jobs_from` and `jobs_until` are when its jobs held something."""

    kind: str
    jobs_from: datetime | None
    jobs_until: datetime | None


def reported_gpu_types() -> dict[tuple[str, str], str]:
    """Return what accounting files call the GPUs of a node, by cluster and node; the latest file's word."""
    rows = ImportBatch.objects.exclude(gpu_types={}).order_by("id").values_list("gpu_types")
    return {
        (cluster, node): gpu_type
        for (types_by_cluster,) in rows
        for cluster, nodes in types_by_cluster.items()
        for node, gpu_type in nodes.items()
    }


TRACKING = """
SELECT DISTINCT cluster.name
FROM fleet_cluster_fact AS cluster
WHERE EXISTS (
    SELECT 1 FROM workloads_job AS job JOIN workloads_allocation AS held ON held.job_id = job.id
    WHERE job.cluster_id = cluster.id AND job.source_rank = %s AND held.gpus_numerator > 0
)
"""


def clusters_with_gpus_accounted() -> frozenset[str]:
    """Return the names of clusters whose accounting said of some job how many GPUs it held."""
    with connection.cursor() as cursor:
        cursor.execute(TRACKING, [int(JobSource.ACCOUNTING)])
        return frozenset(name for (name,) in cursor.fetchall())


def imports(limit: int) -> list[ImportFact]:
    """The latest imports, the newest first."""
    return list(facts_of(ImportFact, ImportBatch.objects.order_by("-id")[:limit]))


def import_batch(batch_id: int) -> ImportFact | None:
    """One import."""
    return next(iter(facts_of(ImportFact, ImportBatch.objects.filter(id=batch_id))), None)


def rejected_rows(batch_id: int, limit: int) -> Iterator[RejectedFact]:
    """The first rows that were not taken, by line."""
    rows = RejectedRow.objects.filter(batch_id=batch_id).order_by("line", "id")
    for row in rows.values_list("line", "field", "reason")[:limit]:
        yield RejectedFact(*row)
