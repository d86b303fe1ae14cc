"""A job on one offer: cost and range, finish and chance of the deadline, and why; then offers in order.

Hours, GPUs, and micro-units of the organisation's currency. What is not known is None, with a sentence that says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

from apps.economics.checkpoints import best_cadence
from apps.economics.placement.wall_time import (
    NeverFinishes,
    QueueWait,
    WallTime,
    interrupted,
    uninterrupted,
)
from apps.economics.purchase import PurchaseOption

LEAST_CHANCE = 0.9
"""Below it an offer counts as late, where the asker says no other."""
WATTS_A_KILOWATT = 1000
WORK_WEIGHTS = (0.25, 0.5, 0.25)


Walls: TypeAlias = tuple[WallTime, WallTime, WallTime]


@dataclass(frozen=True, slots=True)
class LikelyRange:
    """A likely value, between a low and a high end."""

    low: float
    likely: float
    high: float

    def times(self, factor: float) -> "LikelyRange":
        """Each of the three."""
        return LikelyRange(self.low * factor, self.likely * factor, self.high * factor)

    @property
    def points(self) -> tuple[float, float, float]:
        """The three, in order."""
        return self.low, self.likely, self.high


@dataclass(frozen=True, slots=True)
class PlacedJob:
    """A job to be placed: GPUs at once, hours, and what a checkpoint takes; None: not known.

    `has_fallback` is of serving: on-demand capacity takes over when spot is lost.
    """

    gpus: int
    deadline: float | None = None
    write: float | None = None
    cadence: float | None = None
    restart: float = 0.0
    is_interruptible: bool = True
    is_serving: bool = False
    has_fallback: bool = False
    least_chance: float = LEAST_CHANCE


@dataclass(frozen=True, slots=True)
class InterruptionRate:
    """Interruptions of the whole job in an hour, and the mean wait for capacity after one, in hours."""

    rate: LikelyRange
    wait: float


@dataclass(frozen=True, slots=True)
class PlacedTerms:
    """An offer as this job meets it. `price` is of a GPU-hour more, `fallback_price` on demand beside it.

    `work` are hours of the job's GPUs on this model without interruption. `egress` and `transfer` are dollars and hours to bring
    the data there. `rented_gpus` are paid for where machines are rented whole (None: the job's), `watts` of a GPU at the meter.
    """

    key: str
    option: str
    price: LikelyRange | None
    work: LikelyRange | None
    wait: QueueWait | None
    interruptions: InterruptionRate | None = None
    egress: float | None = 0.0
    transfer: float | None = 0.0
    watts: float | None = None
    fallback_price: float | None = None
    rented_gpus: int | None = None


class PlacedOrder(IntEnum):
    """In which order offers are answered, before cost."""

    MEETS = 0
    FINISH_UNKNOWN = 1
    LATE = 2
    COST_UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class PlacedEstimate:
    """The estimate of a job on an offer; money in micro-units, times in hours, None where not known.

    `cost` is of GPUs and egress, `compute` of GPUs alone. `finish` counts from now: wait, transfer and work.
    """

    key: str
    order: PlacedOrder
    cost: LikelyRange | None = None
    compute: LikelyRange | None = None
    finish: float | None = None
    latest_finish: float | None = None
    chance: float | None = None
    interruptions: float | None = None
    cadence: float | None = None
    egress: float | None = None
    transfer: float | None = None
    wait: float | None = None
    kilowatt_hours: float | None = None
    gpu_hours: float | None = None
    unknown: tuple[str, ...] = ()


def estimate_offer(job: PlacedJob, terms: PlacedTerms) -> PlacedEstimate:
    """The job on this offer."""
    unknown: list[str] = []
    wait = terms.wait
    if terms.work is None:
        unknown.append("how long the work takes on this GPU model is not known")
    if wait is None:
        unknown.append("how long jobs wait there was not measured")
    if terms.transfer is None:
        unknown.append("how long the data takes to get there is not known")
    if terms.egress is None:
        unknown.append("what the data costs to move there is not known")
    if terms.price is None:
        unknown.append("no price is known")
    cadence, walls = _walls_of(job, terms, unknown)
    estimate_fields: dict[str, Any] = {
        "cadence": cadence,
        "egress": terms.egress,
        "transfer": terms.transfer,
        "wait": None if wait is None else wait.mean,
        "unknown": tuple(unknown),
    }
    if walls:
        estimate_fields |= _used_of(job, terms, walls)
        estimate_fields |= _costs_of(job, terms, walls)
        estimate_fields |= _finish_of(job, terms, walls)
    return PlacedEstimate(key=terms.key, order=_order_of(job, estimate_fields), **estimate_fields)


def ranked_offers(estimates: Sequence[PlacedEstimate]) -> list[PlacedEstimate]:
    """On time by cost, then those whose finish is not known, late ones, and those without a cost."""
    return sorted(estimates, key=_place_in_order)


def _place_in_order(estimate: PlacedEstimate) -> tuple[int, float, float, str]:
    cost = estimate.cost.likely if estimate.cost else float("inf")
    finish = float("inf") if estimate.finish is None else estimate.finish
    return estimate.order, cost, finish, estimate.key


def _walls_of(
    job: PlacedJob, terms: PlacedTerms, unknown: list[str]
) -> tuple[float | None, Walls | None]:
    """The cadence to use, and wall times of the best, the likely and the worst case."""
    if terms.work is None:
        return None, None
    if terms.option != PurchaseOption.SPOT:
        cadence, write = job.cadence, job.write or 0.0
        return cadence, _walls_at_ends(
            lambda work, _: uninterrupted(work, cadence, write), terms.work
        )
    if terms.interruptions is None:
        unknown.append("nothing is known of interruptions there")
        return None, None
    rate, wait = terms.interruptions.rate, terms.interruptions.wait
    if job.is_serving:
        if terms.fallback_price is None:
            unknown.append("nothing is on demand there that could take over from spot")
            return None, None
        away = wait + job.restart
        return None, _walls_at_ends(
            lambda work, interruption_rate: _serving_wall(work, interruption_rate, away),
            terms.work,
            rate,
        )
    if job.write is None:
        unknown.append(
            "how long a checkpoint takes to write is not known, so nor what an interruption loses"
        )
        return None, None
    cadence = job.cadence or _best_cadence_for(job.write, rate.likely, terms.work.likely)
    try:
        return cadence, _walls_at_ends(
            lambda work, interruption_rate: _run_on_spot(
                job, work, cadence, interruption_rate, wait
            ),
            terms.work,
            rate,
        )
    except NeverFinishes as refused:
        unknown.append(str(refused))
        return cadence, None


def _walls_at_ends(
    wall: Callable[[float, float], WallTime], work: LikelyRange, rate: LikelyRange | None = None
) -> Walls:
    """Of the low, the likely and the high ends together."""
    rates = rate.points if rate else (0.0, 0.0, 0.0)
    low, likely, high = (wall(*pair) for pair in zip(work.points, rates, strict=True))
    return low, likely, high


def _best_cadence_for(write: float, rate: float, work: float) -> float:
    """Not beyond the work itself; of a checkpoint that takes no time, every hundredth of a mean life."""
    if rate <= 0:
        return work
    # A write of next to nothing may come to a cadence of 0.
    best = best_cadence(write, 1 / rate) if write > 0 else 0.0
    return min(work, best or 0.01 / rate)


def _run_on_spot(job: PlacedJob, work: float, cadence: float, rate: float, wait: float) -> WallTime:
    if rate <= 0:
        return uninterrupted(work, cadence, job.write or 0.0)
    return interrupted(
        work=work,
        cadence=min(cadence, work),
        write=job.write or 0.0,
        mtbf=1 / rate,
        restart=job.restart,
        wait=wait,
    )


def _serving_wall(hours: float, rate: float, away: float) -> WallTime:
    """Serving lasts as long as it lasts; spot is away for `away` after each interruption, and not paid then."""
    interruptions = hours * rate / (1 + rate * away)
    return WallTime(hours, hours, 0.0, 1.0, interruptions, hours - interruptions * away)


def _used_of(job: PlacedJob, terms: PlacedTerms, walls: Walls) -> dict[str, Any]:
    likely = walls[1]
    gpu_hours = likely.paid * job.gpus
    return {
        "interruptions": likely.interruptions,
        "gpu_hours": gpu_hours,
        "kilowatt_hours": None
        if terms.watts is None
        else gpu_hours * terms.watts / WATTS_A_KILOWATT,
    }


def _costs_of(job: PlacedJob, terms: PlacedTerms, walls: Walls) -> dict[str, Any]:
    if terms.price is None:
        return {}
    rented = terms.rented_gpus or job.gpus
    amounts = sorted(
        wall.paid * rented * price + _fallback_cost(job, terms, wall)
        for wall, price in zip(walls, terms.price.points, strict=True)
    )
    compute = LikelyRange(*amounts)
    if terms.egress is None:
        return {"compute": compute}
    return {
        "compute": compute,
        "cost": LikelyRange(*(amount + terms.egress for amount in amounts)),
    }


def _fallback_cost(job: PlacedJob, terms: PlacedTerms, wall: WallTime) -> float:
    """On-demand GPUs while spot is away, of serving with a fallback."""
    if not job.is_serving or terms.option != PurchaseOption.SPOT:
        return 0.0
    return (
        (wall.least - wall.paid) * (terms.rented_gpus or job.gpus) * (terms.fallback_price or 0.0)
    )


def _finish_of(job: PlacedJob, terms: PlacedTerms, walls: Walls) -> dict[str, Any]:
    if terms.transfer is None or terms.wait is None:
        return {}
    waits, ahead = terms.wait, terms.transfer
    ended = {
        "finish": waits.mean + ahead + walls[1].mean,
        "latest_finish": waits.ninth + ahead + walls[2].mean,
    }
    if job.deadline is None:
        return ended
    left = [job.deadline - ahead - wait for wait in waits.points]
    chance = sum(
        weight * wall.chance_within(hours)
        for weight, wall in zip(WORK_WEIGHTS, walls, strict=True)
        for hours in left
    ) / len(left)
    return ended | {"chance": min(1.0, chance)}


def _order_of(job: PlacedJob, estimate_fields: Mapping[str, Any]) -> PlacedOrder:
    if estimate_fields.get("cost") is None:
        return PlacedOrder.COST_UNKNOWN
    if estimate_fields.get("finish") is None:
        # Without a deadline there is nothing to miss.
        return PlacedOrder.MEETS if job.deadline is None else PlacedOrder.FINISH_UNKNOWN
    chance = estimate_fields.get("chance")
    is_late = chance is not None and chance < job.least_chance
    return PlacedOrder.LATE if is_late else PlacedOrder.MEETS
