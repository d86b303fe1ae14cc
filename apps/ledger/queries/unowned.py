"""Work that nobody owns, by what a rule would ask of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.economics.money import sum_of_known
from apps.ledger.queries.ownership import JobCost, unowned_costs
from apps.ledger.queries.windows import Window
from apps.show.entries import Micros, Milliseconds
from apps.workloads import queries as workloads


@dataclass(frozen=True, slots=True)
class UnownedWork:
    """Jobs alike that no rule gives to a team; `micros` is null where nothing of them is priced."""

    submitter: workloads.Submitter
    jobs: int
    micros: Micros | None
    gpu_milliseconds: Milliseconds
    unpriced_milliseconds: Milliseconds

    @property
    def cluster_id(self) -> int:
        """The cluster that they were submitted to."""
        return self.submitter.cluster_id

    @property
    def cluster(self) -> str:
        """Its name."""
        return self.submitter.cluster

    @property
    def rank(self) -> tuple[int, int, str, str, str, str, str]:
        """The dearest first, then the longest; unique."""
        submitter = self.submitter
        named = (
            submitter.cluster,
            submitter.account,
            submitter.namespace,
            submitter.user,
            submitter.partition,
        )
        return (-(self.micros or 0), -self.gpu_milliseconds, *named)


def unowned_work(window: Window, team_id: int) -> list[UnownedWork]:
    """Jobs of this team (*Unowned*) in the window's local days, as settled, by who submitted them."""
    costs = unowned_costs(window, team_id)
    of_job = workloads.submitters([cost.job_id for cost in costs])
    alike: dict[workloads.Submitter, list[JobCost]] = {}
    for cost in costs:
        alike.setdefault(of_job[cost.job_id], []).append(cost)
    return sorted((_work_of(*item) for item in alike.items()), key=lambda one: one.rank)


def _work_of(submitter: workloads.Submitter, jobs: Sequence[JobCost]) -> UnownedWork:
    return UnownedWork(
        submitter=submitter,
        jobs=len(jobs),
        micros=sum_of_known(job.micros for job in jobs),
        gpu_milliseconds=sum(job.unit_milliseconds for job in jobs),
        unpriced_milliseconds=sum(job.unpriced_milliseconds for job in jobs),
    )
