"""Gates that a what-if plan is held against before anybody acts on it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from apps.economics.demand_gates import own_gates, term_gate
from apps.economics.gates import Gate, GateName, capacity_gate, parts_gate
from apps.economics.planned_work import Floats
from apps.economics.waiting_words import waiting_words


@dataclass(frozen=True, slots=True)
class PlanGrounds:
    """The grounds of a plan: its forecast's own gates and days of history, None without a forecast.

    By day `wanted` are GPU-hours in the middle of the scenarios (None: not known), `there` those that can be held (empty: nothing
    bounds them) and `hours` how long it is. `waiting_price` is of a GPU-hour that is waited for, None where nobody said, in units of `currency`.
    `whole` is the plan's total, `parts` those of its weeks.
    """

    forecast: tuple[Gate, ...] | None
    history_days: float | None
    wanted: Floats | None
    there: Floats
    hours: Floats
    waiting_price: float | None
    currency: str
    whole: float
    parts: Sequence[float]


def plan_gates(grounds: PlanGrounds) -> tuple[Gate, ...]:
    """Its forecast's baseline and intervals, what is there, its history for so many days, and its weeks beside the whole."""
    history = term_gate(grounds.history_days, float(grounds.hours.sum()) / 24)
    return (*own_gates(grounds.forecast), _room_gate(grounds), history, _parts_gate(grounds))


def _room_gate(grounds: PlanGrounds) -> Gate:
    """On the day on which most is beyond what is there."""
    wanted, there = grounds.wanted, grounds.there
    if wanted is None:
        return Gate(GateName.CAPACITY, None, "what would be asked for is not known")
    if not len(there):
        return capacity_gate(0.0, None, "GPUs", "")
    beyond = np.maximum(wanted - there, 0.0)
    day = int(np.argmax(wanted - there))
    gpu_hours = float(beyond.sum())
    price = grounds.waiting_price
    cost = None if price is None else gpu_hours * price
    fallback = f"what is there; {waiting_words(gpu_hours, cost, grounds.currency, beyond='it')}"
    most, ceiling = (float(series[day] / grounds.hours[day]) for series in (wanted, there))
    return capacity_gate(most, ceiling, "GPUs in the mean of a day", fallback)


def _parts_gate(grounds: PlanGrounds) -> Gate:
    gate = parts_gate(grounds.whole, grounds.parts)
    if gate.is_passed is not False:
        return gate
    return replace(gate, fallback="the whole, which is of paths and no sum of its weeks")
