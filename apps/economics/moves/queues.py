"""The room that a queue would find on GPUs that stand: once, and only where its jobs fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor

CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Room:
    """The GPUs that stand in an hour: on machines with nothing on them, `of_machine` on each, and on `nodes` machines held in part."""

    free: float
    of_machine: float
    partly: float = 0.0
    nodes: float = 0.0

    @property
    def largest_partly(self) -> float:
        """GPUs of a job that fits beside others for sure: on one of these machines there are as many as on average."""
        return max(min(1.0, self.partly), self.partly / self.nodes if self.nodes > 0 else 0.0)


@dataclass(frozen=True, slots=True)
class Met:
    """GPU-hours of a queue that found room, what is left of it by the size of its jobs, and the room that is left."""

    hours: float
    waiting: Mapping[float, float]
    room: Room


def meet(waiting: Mapping[float, float], room: Room) -> Met:
    """GPU-hours waited in an hour, by how many GPUs a job asks for, on what stands in it; the largest jobs first."""
    free, partly, met = room.free, room.partly, 0.0
    left = dict(waiting)
    for size in sorted(left, reverse=True):
        # A job of more than a machine takes whole ones; of smaller ones as many share a machine as fit.
        machines = ceil(size / room.of_machine - CLOSE)
        held_gpus = size if machines > 1 else floor(room.of_machine / size + CLOSE) * size
        block = machines * room.of_machine
        blocks = float(floor(free / block + CLOSE)) if machines > 1 else free / block
        on_free = min(left[size], blocks * held_gpus)
        free -= on_free / held_gpus * block
        fits = size <= room.largest_partly + CLOSE
        on_partly = min(left[size] - on_free, floor(partly / size + CLOSE) * size) if fits else 0.0
        partly -= on_partly
        met += on_free + on_partly
        left[size] -= on_free + on_partly
    return Met(met, left, Room(max(0.0, free), room.of_machine, max(0.0, partly), room.nodes))
