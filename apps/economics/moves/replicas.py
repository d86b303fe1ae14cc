"""How many replicas a service needs of those that it holds, hour by hour: by how much of the time they are active."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from statistics import median

from apps.economics.moves.shrinking import MOST_WORKED
from apps.economics.moves.spare_machines import PoolHour


@dataclass(frozen=True, slots=True)
class ServiceHour:
    """GPUs that a service held in an hour of the week, and those of them that were active; `portion` is of one replica."""

    week: int
    slot: int
    held: float
    busy: float
    portion: float


def replica_size(hours: Sequence[ServiceHour]) -> float:
    """GPUs of one replica: what one of its jobs holds in most hours; 0 of none."""
    portions = [hour.portion for hour in hours if hour.portion > 0]
    return median(portions) if portions else 0.0


def spare_replicas(hours: Sequence[ServiceHour], size: float) -> list[PoolHour]:
    """Replicas beyond those that would be active at most MOST_WORKED of the hour: that is their headroom; of what is active at all one stays."""
    pool_hours: list[PoolHour] = []
    for hour in hours:
        held_replicas = hour.held / size
        needed = ceil(hour.busy / MOST_WORKED / size - 1e-9)
        spare = float(max(0, floor(held_replicas - needed + 1e-9)))
        was = pool_hours[-1].givable if pool_hours else 0.0
        pool_hours.append(
            PoolHour(hour.week, hour.slot, held_replicas, spare, spare, min(was, spare))
        )
    return pool_hours
