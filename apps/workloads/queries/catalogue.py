"""The workloads there are."""

from dataclasses import dataclass

from apps.workloads.models import Workload


@dataclass(frozen=True, slots=True)
class WorkloadFact:
    """A stable thing with an owner; `name` is unique in its team."""

    id: int
    name: str
    team_id: int
    kind: str


def workloads() -> dict[int, WorkloadFact]:
    """Every workload by id."""
    rows = Workload.objects.order_by("id").values_list(*WorkloadFact.__slots__)
    return {row[0]: WorkloadFact(*row) for row in rows}
