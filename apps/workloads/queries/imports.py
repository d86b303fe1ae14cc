"""Imports of files of jobs: how far each is, and the rows it could not take."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from apps.economics.jobs import JobSource
from apps.uploads.imports import RejectedFact
from apps.workloads.models import ImportBatch, RejectedRow


@dataclass(frozen=True, slots=True)
class ImportFact:
    """One import; `seen` and `asked` are what a look at its file found and how it is read.

    `read_bytes` of `size_bytes` are read; `jobs_from` and `jobs_until` are when its jobs held
    something.
    """

    id: int
    kind: str
    name: str
    state: str
    size_bytes: int
    started_at: datetime
    ended_at: datetime | None
    rows: int
    imported: int
    unchanged: int
    rejected: int
    failure: str
    asked: Mapping[str, object]
    seen: Mapping[str, object]
    read_bytes: int
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
    rows = ImportBatch.objects.order_by("-id").values_list(*ImportFact.__slots__)
    return [ImportFact(*row) for row in rows[:limit]]


def import_batch(batch_id: int) -> ImportFact | None:
    """One import."""
    row = ImportBatch.objects.filter(id=batch_id).values_list(*ImportFact.__slots__).first()
    return None if row is None else ImportFact(*row)


def rejected_rows(batch_id: int, limit: int) -> Iterator[RejectedFact]:
    """The first rows that were not taken, by line."""
    rows = RejectedRow.objects.filter(batch_id=batch_id).order_by("line", "id")
    for row in rows.values_list("line", "field", "reason")[:limit]:
        yield RejectedFact(*row)
