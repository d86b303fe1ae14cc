"""Losses to outages: of GPU time that was paid for, and of what waited meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.economics.split import largest_remainder


@dataclass(frozen=True, slots=True)
class GpuSpan:
    """So many GPUs, above 0, from `start_ms` to `end_ms` of any one clock."""

    gpus: float
    start_ms: int
    end_ms: int

    @property
    def milliseconds(self) -> int:
        """GPU-milliseconds: GPUs × time, rounded once."""
        return round(self.gpus * (self.end_ms - self.start_ms))


def waited_for_outages(waits: Sequence[GpuSpan], out: Sequence[GpuSpan]) -> list[int]:
    """Of each wait the GPU-milliseconds in which the GPUs that it asked for were out.

    At every moment as many of the GPUs that were waited for as were out, divided over what waited
    then in proportion to its GPUs: with 8 out, of 16 waited for half of each wait is the outage's. What is
    left of a wait is for lack of capacity, so that no GPU-hour is both.
    """
    marks = [
        (mark, place)
        for place, wait in enumerate(waits)
        for mark in _edges(wait.start_ms, wait.end_ms)
    ]
    steps = [(mark, span.gpus) for span in out for mark in _edges(span.start_ms, span.end_ms)]
    events = [(at, sign, place, 0.0) for (at, sign), place in marks]
    events += [(at, sign, -1, gpus) for (at, sign), gpus in steps]
    taken = [0.0] * len(waits)
    waiting: set[int] = set()
    gpus_out, since = 0.0, 0
    for at, sign, place, gpus in sorted(events):
        if waiting and gpus_out > 0 and at > since:
            wanted_gpus = sum(waits[index].gpus for index in waiting)
            share = min(1.0, gpus_out / wanted_gpus) * (at - since)
            for waiting_place in waiting:
                taken[waiting_place] += waits[waiting_place].gpus * share
        if place < 0:
            gpus_out += sign * gpus
        elif sign > 0:
            waiting.add(place)
        else:
            waiting.discard(place)
        since = at
    return [
        min(wait.milliseconds, round(amount)) for wait, amount in zip(waits, taken, strict=True)
    ]


def _edges(start_ms: int, end_ms: int) -> tuple[tuple[int, int], ...]:
    return ((start_ms, 1), (end_ms, -1)) if start_ms < end_ms else ()


def lost_while_held(out_ms: int, free_ms: int, idle: Sequence[int]) -> list[int]:
    """Of each of these parts of a node-hour that jobs held and that was not active, what an outage took.

    `out_ms` is the GPU time of the hour that was out, `free_ms` what of it no job held. The rest fell on
    GPUs that jobs held: what of it was active was no loss, so it took at most what was not active,
    from each part in proportion. All are GPU-milliseconds.
    """
    lost = min(max(0, out_ms - free_ms), sum(idle))
    return largest_remainder(lost, idle) if lost else [0] * len(idle)
