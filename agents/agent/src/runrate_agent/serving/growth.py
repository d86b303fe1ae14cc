"""What counters grew by between two readings, whatever was restarted meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

from runrate_agent.compat import pairwise

Identity = tuple[str, tuple[tuple[str, str], ...]]
"""A metric's name and its labels, in order; of a histogram without the bound."""
Values = Mapping[float, float]
"""A counter's value under PLAIN; a histogram's requests at most as long as each bound."""
Known = Mapping[Optional[float], Mapping[Identity, Values]]
"""The last values of processes, by the start they tell."""
PLAIN = 0.0
# A process tells its start to a hundredth of a second.
SAME_START_SECONDS = 1.0
MOST_PROCESSES = 32


class Growth:
    """Remembers the last value of each series of the processes that answer at one address.

    Of what a process tells first nothing is known: it may be years old. After that a series that
    is new or fell counts with all that it says, for it began at 0. So does a whole process that
    started after `since`, when this reader began: nobody else has counted it. A process is known
    by the start it tells; several that answer in turn, as behind a balancer, are kept apart.
    """

    def __init__(self, since: float, known: Known | None = None) -> None:
        self._since = since
        self._last: dict[float | None, dict[Identity, dict[float, float]]] = {
            started: {identity: dict(values) for identity, values in last.items()}
            for started, last in (known or {}).items()
        }

    @property
    def known(self) -> Known:
        """What was read last, for whoever goes on after this reader."""
        return self._last

    def grown(
        self, read: Mapping[Identity, Values], started: float | None
    ) -> dict[Identity, dict[float, float]]:
        """What each series that was read grew by; nothing of a process's first reading."""
        is_first = started not in self._last
        is_ours = started is not None and started > self._since + SAME_START_SECONDS
        last = self._last.pop(started, {})
        grown = {
            identity: growth(last[identity], values) if identity in last else dict(values)
            for identity, values in read.items()
        }
        # A series that is not told for once is remembered: it may come back.
        last |= {identity: dict(values) for identity, values in read.items()}
        self._last[started] = last
        while len(self._last) > MOST_PROCESSES:
            del self._last[next(iter(self._last))]
        return {} if is_first and not is_ours else grown


def growth(before: Values, now: Values) -> dict[float, float]:
    """From `before` to `now`; all of `now` where it cannot have grown out of `before`.

    The bounds of a histogram are judged as one: more requests within a small bound than within a
    large one have never grown.
    """
    grown = {bound: value - before.get(bound, 0.0) for bound, value in now.items()}
    in_order = [grown[bound] for bound in sorted(grown)]
    is_grown = in_order[0] >= 0 and all(least <= most for least, most in pairwise(in_order))
    return grown if is_grown and before.keys() <= now.keys() else dict(now)
