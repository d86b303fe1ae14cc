"""What rules can tell jobs apart by."""

from collections.abc import Collection
from dataclasses import dataclass

from apps.workloads.models import Job


@dataclass(frozen=True, slots=True)
class Submitter:
    """Whose name a job bears at its scheduler: what a rule for it would most likely ask."""

    cluster_id: int
    cluster: str
    account: str
    namespace: str
    user: str


def submitters(job_ids: Collection[int]) -> dict[int, Submitter]:
    """By job."""
    rows = Job.objects.filter(id__in=job_ids).order_by("id")
    columns = ("id", "cluster_id", "cluster__name", "account", "namespace", "user")
    return {job_id: Submitter(*row) for job_id, *row in rows.values_list(*columns)}
