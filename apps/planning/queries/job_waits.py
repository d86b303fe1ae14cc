"""Jobs that waited for capacity: submitted, not started; how long, for how many GPUs, and what an hour of it cost."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cache, partial
from typing import Any

from apps.accounts import queries as accounts
from apps.economics.hours import HOUR_MS, epoch_ms
from apps.economics.money import MICROS
from apps.economics.outages import GpuSpan, waited_for_outages
from apps.economics.waiting import Wait
from apps.ledger.queries.tables import named_rows
from apps.ledger.queries.windows import Window
from apps.planning.queries.headroom import HeadroomPolicyFact, headroom_policies
from apps.planning.queries.measured import WAITED
from apps.planning.queries.series import GPU_MODEL, POOL, WORKLOAD_CLASS
from apps.unit_economics.queries.time_to_work import queued_jobs
from apps.workloads import queries as workloads

SPECIFIC_FIRST = (WORKLOAD_CLASS, POOL, GPU_MODEL)
"""Which policy says what a wait cost: that of its class in its pool, else of the pool, else of the GPU model."""

STARTED = (
    WAITED
    + """
SELECT id, pool_id, submitted_at, started_at, gpus FROM started
WHERE gpus > 0 AND coalesce(submitted_at, started_at) < %(until)s ORDER BY id, pool_id
"""
)


@dataclass(frozen=True, slots=True)
class JobWait:
    """A job's wait in a span, in one pool; `pool_id` and `gpus` None: it has not started, nobody says.

    `submitted_at` None: nobody said when it was submitted, so how long it waited is not known. `begins` to `ends`
    is the wait as far as it is in the span; `outage_ms` what of its GPU time was for GPUs that were out.
    `hour_cost` is what a GPU-hour of waiting costs by the policy, in micro-units, None: no policy says it.
    """

    job_id: int
    team_id: int
    workload_id: int | None
    pool_id: int | None
    submitted_at: datetime | None
    over_at: datetime | None
    begins: datetime
    ends: datetime
    is_started: bool
    gpus: float | None
    hour_cost: Fraction | None = None
    outage_ms: int = 0

    @property
    def length(self) -> timedelta:
        """How long it waited in the span, by the clock."""
        return self.ends - self.begins

    @property
    def gpu_span(self) -> GpuSpan:
        """Return the wait as GPU time; of no GPUs where nobody says how many."""
        return GpuSpan(self.gpus or 0.0, epoch_ms(self.begins), epoch_ms(self.ends))

    @property
    def capacity_ms(self) -> int:
        """GPU-milliseconds that were for lack of capacity, and not for an outage."""
        return self.gpu_span.milliseconds - self.outage_ms

    @property
    def price(self) -> Fraction | None:
        """Of a GPU-millisecond, in micro-units."""
        return price_of(self.hour_cost)

    def whole_wait(self, at: datetime) -> Wait | None:
        """From its submission, also before the span; None where nobody said when that was."""
        if self.submitted_at is None:
            return None
        length = (self.over_at or at) - self.submitted_at
        return Wait(max(length, timedelta(0)), is_over=self.is_started)


def price_of(hour_cost: Fraction | None) -> Fraction | None:
    """Of a GPU-millisecond, by what a GPU-hour costs."""
    return None if hour_cost is None else hour_cost / HOUR_MS


def job_waits(
    window: Window,
    out: Mapping[int, Sequence[GpuSpan]],
    policies: Sequence[HeadroomPolicyFact],
    at: datetime,
) -> list[JobWait]:
    """Every job that waited in the window, or started in it; `out` are by pool the GPUs that were out."""
    until = min(window.ends_at, at)
    if until <= window.starts_at:
        return []
    span = {"from": window.starts_at, "to": at, "until": until}
    rows = named_rows(STARTED, span)
    queued = queued_jobs(window, most=None)
    owners = workloads.owners({row.id for row in rows} | {job_id for job_id, *_ in queued}, at)
    # Of some ten thousand jobs: each policy is looked for once a pool and workload.
    cost_of = cache(partial(_hour_cost, policies))
    waits = [_started_wait(row, owners[row.id], window.starts_at, until, cost_of) for row in rows]
    waits += [_queued_wait(job, owners[job[0]], window.starts_at, until) for job in queued]
    return _with_outages(waits, out)


def _started_wait(
    row: Any,
    owner: workloads.OwnerFact,
    starts_at: datetime,
    until: datetime,
    cost_of: Callable[[int, int | None], Fraction | None],
) -> JobWait:
    begins = max(row.submitted_at or row.started_at, starts_at)
    return JobWait(
        job_id=row.id,
        team_id=_team_of(owner),
        workload_id=owner.workload_id,
        pool_id=row.pool_id,
        submitted_at=row.submitted_at,
        over_at=row.started_at,
        begins=begins,
        ends=max(begins, min(row.started_at, until)),
        is_started=True,
        gpus=row.gpus,
        hour_cost=cost_of(row.pool_id, owner.workload_id),
    )


def _queued_wait(
    job: Sequence[Any], owner: workloads.OwnerFact, starts_at: datetime, until: datetime
) -> JobWait:
    job_id, submitted_at, ended_at = job
    begins = max(submitted_at, starts_at)
    return JobWait(
        job_id=job_id,
        team_id=_team_of(owner),
        workload_id=owner.workload_id,
        pool_id=None,
        submitted_at=submitted_at,
        over_at=ended_at,
        begins=begins,
        ends=max(begins, min(ended_at or until, until)),
        is_started=False,
        gpus=None,
    )


def _team_of(owner: workloads.OwnerFact) -> int:
    """Where no rule says whose a job is, what it costs is Unowned's, and so is its wait."""
    return accounts.special_teams().unowned_id if owner.team_id is None else owner.team_id


def _hour_cost(
    policies: Sequence[HeadroomPolicyFact], pool_id: int, workload_id: int | None
) -> Fraction | None:
    """The cost of being short, of the most specific policy; of several of the same kind the least."""
    for dimension in SPECIFIC_FIRST:
        costs = [
            policy.short_cost
            for policy in policies
            if policy.dimension == dimension and _is_of(policy, pool_id, workload_id)
        ]
        if costs:
            return Fraction(min(costs)) * MICROS
    return None


def waiting_price(pool_ids: Collection[int]) -> float | None:
    """The least that a policy says a GPU costs that one of these pools lacks for an hour, in micro-units; None: none does."""
    policies = headroom_policies()
    costs = [_hour_cost(policies, pool_id, None) for pool_id in pool_ids]
    return min((float(cost) for cost in costs if cost is not None), default=None)


def _is_of(policy: HeadroomPolicyFact, pool_id: int, workload_id: int | None) -> bool:
    if policy.dimension == WORKLOAD_CLASS:
        workload = workloads.workloads().get(workload_id or 0)
        is_class = workload is not None and workload.kind == policy.key
        return is_class and pool_id in policy.pool_ids
    return pool_id in policy.its_pools


def _with_outages(waits: Sequence[JobWait], out: Mapping[int, Sequence[GpuSpan]]) -> list[JobWait]:
    """Each with what of it was for GPUs of its pool that were out."""
    of_pool: dict[int | None, list[int]] = defaultdict(list)
    for place, wait in enumerate(waits):
        of_pool[wait.pool_id].append(place)
    new_waits = list(waits)
    for pool_id, spans in out.items():
        places = of_pool[pool_id]
        taken = waited_for_outages([waits[place].gpu_span for place in places], spans)
        for place, milliseconds in zip(places, taken, strict=True):
            if not milliseconds:
                continue
            new_waits[place] = replace(waits[place], outage_ms=milliseconds)
    return new_waits
