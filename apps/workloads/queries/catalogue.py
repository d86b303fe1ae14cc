"""The workloads there are, and what runs are called."""

from collections.abc import Collection
from dataclasses import dataclass

from apps.accounts.queries.reading import once
from apps.workloads.models import Run, Workload
from apps.workloads.queries.run_names import runs_by_team


@dataclass(frozen=True, slots=True)
class WorkloadFact:
    """A stable thing with an owner; `name` is unique in its team."""

    id: int
    name: str
    team_id: int
    kind: str


@once
def workloads() -> dict[int, WorkloadFact]:
    """Every workload by id."""
    rows = Workload.objects.order_by("id").values_list(*WorkloadFact.__slots__)
    return {row[0]: WorkloadFact(*row) for row in rows}


def run_keys(run_ids: Collection[int]) -> dict[int, str]:
    """The keys of these runs by id."""
    return dict(Run.objects.filter(id__in=run_ids).values_list("id", "key"))


def runs_of_keys(keys: Collection[str]) -> dict[str, list[int]]:
    """The runs of these keys, of those that there are; each team may have one."""
    runs = runs_by_team(Run.objects.filter(key__in=keys))
    return {key: list(of_key.values()) for key, of_key in runs.items()}
