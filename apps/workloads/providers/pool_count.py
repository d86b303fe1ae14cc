"""How many GPUs or cores a pool without node names has, from when."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import ceil

from apps.workloads.providers.job_mapping import CapacityColumn, PeakOfUse, PoolAsNode
from apps.workloads.providers.job_record import JobRecord


@dataclass(slots=True)
class PoolCount:
    """Gathers what a table says of its pool's capacity while its jobs go by."""

    pool: PoolAsNode
    first_start: datetime | None = None
    _change_at: dict[datetime, Fraction] = field(default_factory=dict)
    _stated_at: dict[datetime, int] = field(default_factory=dict)

    def add(self, job: JobRecord, stated: Fraction | None) -> None:
        """Take one job into account, with the capacity its row states."""
        if job.started_at is None:
            return
        self.first_start = min(self.first_start or job.started_at, job.started_at)
        if isinstance(self.pool.capacity, CapacityColumn) and stated is not None:
            self._stated_at[job.started_at] = ceil(stated)
        if self.pool.capacity is PeakOfUse.PEAK:
            used = self._units_used(job)
            self._change_use(job.started_at, used)
            if job.ended_at is not None:
                self._change_use(job.ended_at, -used)

    def dated(self) -> tuple[tuple[datetime, int], ...]:
        """(from when, how many), in order; empty where the mapping asks for no capacity.

        A stated capacity holds until a later row states another; a peak, rounded up to a whole
        unit, holds from the first start.
        """
        match self.pool.capacity:
            case CapacityColumn():
                return tuple(self._changes_stated())
            case PeakOfUse.PEAK if self.first_start is not None:
                return ((self.first_start, ceil(self._peak_of_use())),)
            case int(units) if self.first_start is not None:
                return ((self.first_start, units),)
        return ()

    def _units_used(self, job: JobRecord) -> Fraction:
        if self.pool.unit == "core":
            return job.cpus or Fraction(0)
        return sum((one.held_gpus for one in job.allocations), Fraction(0))

    def _change_use(self, at: datetime, by: Fraction) -> None:
        self._change_at[at] = self._change_at.get(at, Fraction(0)) + by

    def _peak_of_use(self) -> Fraction:
        peak = used = Fraction(0)
        for at in sorted(self._change_at):
            used += self._change_at[at]
            peak = max(peak, used)
        return peak

    def _changes_stated(self) -> Iterator[tuple[datetime, int]]:
        last: int | None = None
        for at in sorted(self._stated_at):
            if self._stated_at[at] != last:
                last = self._stated_at[at]
                yield at, last
