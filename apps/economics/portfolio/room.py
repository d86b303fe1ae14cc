"""The part of demand that can be held: no more GPUs at once than are there. What is beyond waits, whatever is bought."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from apps.economics.forecast.scores import Floats
from apps.economics.gates import Gate, GateName, capacity_gate
from apps.economics.portfolio.names import MONTH_HOURS
from apps.economics.portfolio.question import CapacityHeld, GpuFamily, WaitingDemand
from apps.economics.waiting_words import waiting_words


def within_room(family: GpuFamily, held_capacity: Sequence[CapacityHeld]) -> GpuFamily:
    """The family with demand that can be held in each hour, and what of it waits; as it is where nothing bounds it.

    There are its `room` by planned month, the last of which goes on, and as many as are owed where these are more.
    """
    if not family.room:
        return family
    hours = np.arange(family.hours)
    months = np.minimum(hours // MONTH_HOURS, len(family.room) - 1)
    owed = np.zeros(family.hours)
    for one in held_capacity:
        if one.family == family.name:
            owed += one.gpus * ((hours >= one.starts_in) & (hours < one.ends_in))
    there = np.maximum(np.array(family.room)[months], owed)
    held_demand = np.minimum(family.demand, there)
    waiting = WaitingDemand(
        most_wanted=float(family.demand.max()),
        most_there=float(there.max()),
        gpu_hours=float((family.demand - held_demand).sum(axis=1).mean()),
        price=family.waiting_price,
    )
    return replace(family, demand=held_demand, waiting=waiting)


def capacity_bounded_history(history: Floats, family: GpuFamily) -> Floats:
    """Return the part of a history that GPUs which are there, or are to come, can hold; hours not observed stay so."""
    if family.waiting is None:
        return history
    bounded: Floats = np.minimum(history, family.waiting.most_there)
    return bounded


def room_gate(family: GpuFamily) -> Gate:
    """Whether all of a family's demand can be held, in every scenario; else what waits, and what that costs."""
    waiting = family.waiting
    if waiting is None:
        sentence = f"{family.name}: nothing on record bounds how many GPUs it can hold"
        return Gate(GateName.CAPACITY, None, sentence)
    words = waiting_words(waiting.gpu_hours, waiting.cost, family.currency, beyond="them")
    fallback = f"demand up to these; {words}"
    gate = capacity_gate(waiting.most_wanted, waiting.most_there, "GPUs", fallback)
    return replace(gate, says=f"{family.name}: {gate.says}")
