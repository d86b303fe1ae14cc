"""Workloads: the stable things that jobs and runs are done for."""

from apps.accounts.actions.constraints import refusing
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.workloads.models import Workload, WorkloadKind


class WorkloadExists(Refusal):
    """A team has one workload of a name."""


class WorkloadKindUnknown(Refusal):
    """A workload is of a kind that has no economics."""


@logged_change()
def add_workload(*, name: str, team_id: int, kind: str = WorkloadKind.OTHER) -> int:
    """A workload of a team; answers its id. Refuses WorkloadExists and WorkloadKindUnknown."""
    if kind not in WorkloadKind.values:
        raise WorkloadKindUnknown("kind", f"{kind!r} is none of {', '.join(WorkloadKind.values)}")
    with refusing(
        {"workload_once": WorkloadExists("name", f"the team has a workload {name} already")}
    ):
        return Workload.objects.create(name=name, team_id=team_id, kind=kind).id
