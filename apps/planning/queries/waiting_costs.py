"""Costs of waiting for capacity and of outages to those who waited, by team, workload, pool or GPU model."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

from apps.accounts import queries as accounts
from apps.economics.hours import MILLISECOND
from apps.economics.priced_time import PricedTime, time_together
from apps.economics.waiting import WaitQuantile, wait_quantile
from apps.fleet import queries as fleet
from apps.ledger.queries.capacity_lost import LostOwner
from apps.ledger.queries.windows import Window
from apps.planning.queries.headroom import headroom_policies
from apps.planning.queries.job_waits import JobWait, job_waits, price_of
from apps.planning.queries.outage_losses import OutageLoss, gpus_out, outage_losses
from apps.workloads import queries as workloads

TEAM, WORKLOAD, POOL, GPU_MODEL = "team", "workload", "pool", "gpu_model"
GROUPS = (TEAM, WORKLOAD, POOL, GPU_MODEL)


class WaitingGroup(NamedTuple):
    """The key of a row; None of what it is not by, or not known."""

    team_id: int | None = None
    workload_id: int | None = None
    pool_id: int | None = None
    gpu_model: str | None = None

    @property
    def order(self) -> tuple[int, int, int, str]:
        """By which groups are told apart and ordered."""
        return self.team_id or 0, self.workload_id or 0, self.pool_id or 0, self.gpu_model or ""


@dataclass(frozen=True, slots=True)
class WaitingFacts:
    """Every wait and outage of a span that may be seen; sums of both are made of these alone."""

    window: Window
    at: datetime
    waits: tuple[JobWait, ...]
    outages: tuple[OutageLoss, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no job waited or started, and nothing was out."""
        return not self.waits and not self.outages


@dataclass(frozen=True, slots=True)
class WaitingCost:
    """The cost of waiting and outages to a group; GPU time in milliseconds, money in micro-units, None not known.

    Of jobs submitted in the window: `jobs`, of which `still_waiting`; half and nine in ten of them started within
    `median` and `ninth`. `waited` is all their time in the queue in the window, by the clock. `for_capacity` and
    `for_outages` are the GPU time of waits, each hour in one of them; `lost_held` and `lost_free` GPU time that
    was paid for and out: held by jobs and not active, and held by none; `redone` active time that jobs which ended in an outage lost. `undated_jobs` started without anybody saying when they
    were submitted, `unsized_jobs` waited without anybody saying for how many GPUs: they are in no GPU time.
    """

    of: WaitingGroup
    jobs: int
    still_waiting: int
    undated_jobs: int
    unsized_jobs: int
    waited: timedelta
    median: WaitQuantile | None
    ninth: WaitQuantile | None
    for_capacity: PricedTime
    for_outages: PricedTime
    lost_held: PricedTime
    lost_free: PricedTime
    redone: PricedTime

    @property
    def parts(self) -> tuple[PricedTime, ...]:
        """Of which its cost is the sum."""
        return (self.for_capacity, self.for_outages, *self.parts_of_outages)

    @property
    def parts_of_outages(self) -> tuple[PricedTime, ...]:
        """Return the parts of GPU time that was paid for and outages took."""
        return (self.lost_held, self.lost_free, self.redone)

    @property
    def wait_unpriced_ms(self) -> int:
        """GPU time of waits of which no policy says what an hour costs."""
        return self.for_capacity.unpriced_ms + self.for_outages.unpriced_ms

    @property
    def lost(self) -> PricedTime:
        """Return the GPU time that was paid for and outages took, as one."""
        return time_together(self.parts_of_outages)

    @property
    def waits_of_gpus(self) -> PricedTime | None:
        """GPU time of waits; None where all that is known is jobs of which nobody says since when, or for how many GPUs."""
        total = time_together((self.for_capacity, self.for_outages))
        is_unknown = bool(self.undated_jobs or self.unsized_jobs) and not total.milliseconds
        return None if is_unknown else total

    @property
    def micros(self) -> int | None:
        """All of it as far as it has a price; None where none of it has."""
        if self.waits_of_gpus is None and not self.lost.milliseconds:
            return None
        return time_together(self.parts).micros

    @property
    def waited_milliseconds(self) -> int:
        """The time in the queue, by the clock."""
        return self.waited // MILLISECOND

    @property
    def milliseconds(self) -> int:
        """All GPU time, waited and lost."""
        return sum(part.milliseconds for part in self.parts)


@dataclass(frozen=True, slots=True)
class GroupPart:
    """A team, workload or pool that a row is of."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """The cost of waiting and outages of a group, what it is called, and what it is of; beside a workload its team by name."""

    cost: WaitingCost
    of: str
    team: GroupPart | None = None
    workload: GroupPart | None = None
    pool: GroupPart | None = None
    beside: str = ""


def waiting_facts(window: Window, team_ids: Collection[int] | None, at: datetime) -> WaitingFacts:
    """Return what waited and what was out in the window, of these teams (None: of all).

    What of a wait was for an outage is decided over the waits of everybody.
    """
    losses = outage_losses(window, at)
    waits = job_waits(window, gpus_out(losses), headroom_policies(), at)
    if team_ids is None:
        return WaitingFacts(window, at, tuple(waits), tuple(losses))
    team_losses = [_lost_of_teams(loss, team_ids) for loss in losses]
    return WaitingFacts(
        window,
        at,
        tuple(wait for wait in waits if wait.team_id in team_ids),
        tuple(loss for loss in team_losses if loss.lost or loss.redone),
    )


def waiting_total(facts: WaitingFacts) -> WaitingCost:
    """Of everything together."""
    return _cost_of(WaitingGroup(), facts.waits, _outage_parts(facts), facts)


def waiting_costs(facts: WaitingFacts, by: str) -> list[WaitingCost]:
    """By one of GROUPS, those that cost most first; what has no workload, pool or model is a row too."""
    of_wait, of_lost = _groupers(by)
    waits: dict[WaitingGroup, list[JobWait]] = defaultdict(list)
    for wait in facts.waits:
        waits[of_wait(wait)].append(wait)
    lost: dict[WaitingGroup, list[OutagePart]] = defaultdict(list)
    for part in _outage_parts(facts):
        lost[of_lost(part.owner)].append(part)
    costs = [_cost_of(group, waits[group], lost[group], facts) for group in {*waits, *lost}]
    return sorted(costs, key=_most_first)


def waiting_rows(facts: WaitingFacts, by: str) -> list[WaitingRow]:
    """As `waiting_costs`, with their names."""
    return [_named_row(cost, by) for cost in waiting_costs(facts, by)]


def _named_row(cost: WaitingCost, by: str) -> WaitingRow:
    of = cost.of
    if of.team_id is not None:
        teams = {team.id: team.name for team in accounts.teams()}
        team = GroupPart(of.team_id, teams[of.team_id])
        if by == TEAM:
            return WaitingRow(cost, team.name, team)
        if of.workload_id is None:
            name = "No workload" if cost.jobs or cost.waited else "Not held by a job"
            return WaitingRow(cost, name, team, beside=team.name)
        workload = GroupPart(of.workload_id, workloads.workloads()[of.workload_id].name)
        return WaitingRow(cost, workload.name, team, workload, beside=team.name)
    if of.pool_id is not None:
        pool = GroupPart(of.pool_id, fleet.pools()[of.pool_id].name)
        return WaitingRow(cost, pool.name, pool=pool)
    return WaitingRow(cost, of.gpu_model or "Not started yet: not known where")


class OutagePart(NamedTuple):
    """GPU time that an outage took, and whose; `is_redone`: not while it lasted, but by the job's end."""

    owner: LostOwner
    time: PricedTime
    is_redone: bool


def _outage_parts(facts: WaitingFacts) -> list[OutagePart]:
    return [
        OutagePart(owner, time, is_redone)
        for outage in facts.outages
        for is_redone, times in ((False, outage.lost), (True, outage.redone))
        for owner, time in times.items()
    ]


def _most_first(row: WaitingCost) -> tuple[int, int, timedelta, tuple[int, int, int, str]]:
    return -(row.micros or 0), -row.milliseconds, -row.waited, row.of.order


def _groupers(
    by: str,
) -> tuple[Callable[[JobWait], WaitingGroup], Callable[[LostOwner], WaitingGroup]]:
    pools: Mapping[int, fleet.PoolFact] = fleet.pools()

    def group(team_id: int, workload_id: int | None, pool_id: int | None) -> WaitingGroup:
        if by == TEAM:
            return WaitingGroup(team_id)
        if by == WORKLOAD:
            return WaitingGroup(team_id, workload_id)
        if by == POOL:
            return WaitingGroup(pool_id=pool_id)
        return WaitingGroup(gpu_model=(pool_id and pools[pool_id].gpu_model) or None)

    return (
        lambda wait: group(wait.team_id, wait.workload_id, wait.pool_id),
        lambda owner: group(owner.team_id, owner.workload_id, owner.pool_id),
    )


def _cost_of(
    group: WaitingGroup,
    waits: Sequence[JobWait],
    lost: Sequence[OutagePart],
    facts: WaitingFacts,
) -> WaitingCost:
    entered = _jobs_entered(waits, facts)
    full_waits = [wait for entry in entered if (wait := entry.whole_wait(facts.at)) is not None]
    # By price first: of some ten thousand waits there are few.
    capacity_ms, outage_ms = Counter[Fraction | None](), Counter[Fraction | None]()
    for job_wait in waits:
        capacity_ms[job_wait.hour_cost] += job_wait.capacity_ms
        outage_ms[job_wait.hour_cost] += job_wait.outage_ms
    once = {entry.job_id: entry for entry in waits}.values()
    return WaitingCost(
        group,
        jobs=len(entered),
        still_waiting=sum(entry.over_at is None for entry in entered),
        undated_jobs=sum(entry.submitted_at is None for entry in once),
        unsized_jobs=sum(entry.gpus is None and entry.length > timedelta(0) for entry in once),
        waited=sum((entry.length for entry in once), timedelta(0)),
        median=wait_quantile(full_waits, 0.5),
        ninth=wait_quantile(full_waits, 0.9),
        for_capacity=_priced_time(capacity_ms),
        for_outages=_priced_time(outage_ms),
        lost_held=time_together(
            part.time for part in lost if part.owner.job_id is not None and not part.is_redone
        ),
        lost_free=time_together(part.time for part in lost if part.owner.job_id is None),
        redone=time_together(part.time for part in lost if part.is_redone),
    )


def _priced_time(by_hour_cost: Mapping[Fraction | None, int]) -> PricedTime:
    """GPU-milliseconds by what a GPU-hour of them costs, together."""
    total = PricedTime()
    for hour_cost, milliseconds in by_hour_cost.items():
        total.add(milliseconds, price_of(hour_cost))
    return total


def _jobs_entered(waits: Sequence[JobWait], facts: WaitingFacts) -> list[JobWait]:
    """Each job that was submitted in the window once, however many pools it ran in."""
    begins, ends = facts.window.starts_at, facts.window.ends_at
    return list(
        {
            wait.job_id: wait
            for wait in waits
            if wait.submitted_at is not None and begins <= wait.submitted_at < ends
        }.values()
    )


def _lost_of_teams(loss: OutageLoss, team_ids: Collection[int]) -> OutageLoss:
    def own(times: Mapping[LostOwner, PricedTime]) -> dict[LostOwner, PricedTime]:
        return {owner: time for owner, time in times.items() if owner.team_id in team_ids}

    return replace(loss, lost=own(loss.lost), redone=own(loss.redone))
