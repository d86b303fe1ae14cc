"""How long things wait, of which some wait still: quantiles that leave none of them out."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

NEARLY = 1e-12


@dataclass(frozen=True, slots=True)
class Wait:
    """How long something waited; `is_over` False: it waits still, or went without its turn."""

    length: timedelta
    is_over: bool = True


@dataclass(frozen=True, slots=True)
class WaitQuantile:
    """So many parts waited no longer than this; `is_longer`: it is longer, nobody knows how much."""

    length: timedelta
    is_longer: bool = False

    @property
    def known_seconds(self) -> int | None:
        """Whole seconds; None where it is longer than anything is known to have waited."""
        return None if self.is_longer else round(self.length.total_seconds())


def wait_quantile(waits: Iterable[Wait], ratio: float) -> WaitQuantile | None:
    """Within which time `ratio` of all have had their turn; None of none.

    By Kaplan and Meier (1958): what waits still counts as waiting for as long as it is known to have.
    Where all have had their turn it is the smallest wait that `ratio` of them are no longer than.
    """
    ordered = sorted(waits, key=lambda wait: wait.length)
    if not ordered:
        return None
    at_risk, left = len(ordered), 1.0
    for length, of_length in groupby(ordered, key=lambda wait: wait.length):
        same = list(of_length)
        left *= 1 - sum(wait.is_over for wait in same) / at_risk
        if left <= 1 - ratio + NEARLY:
            return WaitQuantile(length)
        at_risk -= len(same)
    return WaitQuantile(ordered[-1].length, is_longer=True)
