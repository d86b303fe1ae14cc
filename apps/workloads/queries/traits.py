"""What rules can tell jobs apart by."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from apps.workloads.models import Job


@dataclass(frozen=True, slots=True)
class Submitter:
    """Whose name a job bears at its scheduler: what a rule for it would most likely ask.

    The partition is told where nothing else is.
    """

    cluster_id: int
    cluster: str
    account: str
    namespace: str
    user: str
    partition: str = ""


def submitters(job_ids: Collection[int]) -> dict[int, Submitter]:
    """By job."""
    rows = Job.objects.filter(id__in=job_ids).order_by("id")
    columns = ("id", "cluster_id", "cluster__name", "account", "namespace", "user", "partition")
    return {job_id: _submitter_of_job(row) for job_id, *row in rows.values_list(*columns)}


def _submitter_of_job(row: Sequence[Any]) -> Submitter:
    cluster_id, cluster, account, namespace, user, partition = row
    is_named = account or namespace or user
    return Submitter(cluster_id, cluster, account, namespace, user, "" if is_named else partition)
