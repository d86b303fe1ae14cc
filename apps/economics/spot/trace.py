"""Whether spot could be had in a zone, tick after tick; what was not seen is unknown, never up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from apps.economics.refusal import Refusal
from apps.economics.spot.job import Flags, Hours

LEAST_SECONDS, MOST_SECONDS = 1, 24 * 3600
MOST_TICKS = 2_000_000


@dataclass(frozen=True, eq=False)
class SpotTrace:
    """How many nodes could be had in each tick of `tick` hours: NaN where nobody looked.

    `starts` is when the first tick was, in Unix seconds; None where nobody said.
    """

    name: str
    tick: float
    counts: Hours
    starts: float | None = None

    @property
    def hours(self) -> float:
        """How long it is."""
        return len(self.counts) * self.tick

    @property
    def known(self) -> Flags:
        """Where somebody looked."""
        return ~np.isnan(self.counts)

    def is_up(self, nodes: int = 1) -> Flags:
        """Whether so many nodes could be had at once; not where nobody looked."""
        return np.nan_to_num(self.counts) >= nodes

    def part(self, start: int, end: int) -> "SpotTrace":
        """The ticks from `start` until `end`."""
        return SpotTrace(self.name, self.tick, self.counts[start:end])


def trace_of_document(name: str, document: object) -> SpotTrace:
    """Read `{"metadata": {"gap_seconds": 195}, "data": [0, 1, null, …]}`: counts of nodes, null is unknown.

    Refuses a Refusal that names the field and the value.
    """
    if not isinstance(document, Mapping):
        raise Refusal("", "is no JSON object")
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        raise Refusal("metadata", "is missing, or no object")
    seconds = _finite_number("metadata.gap_seconds", metadata.get("gap_seconds"))
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise Refusal(
            "metadata.gap_seconds", f"{seconds:g} is not from {LEAST_SECONDS} to {MOST_SECONDS}"
        )
    data = document.get("data")
    if not isinstance(data, list) or not 0 < len(data) <= MOST_TICKS:
        raise Refusal("data", f"is no list of 1 to {MOST_TICKS:,} numbers")
    return SpotTrace(name, seconds / 3600, node_counts("data", data))


def trace_of_moments(name: str, seconds: Sequence[float], counts: Sequence[float]) -> SpotTrace:
    """Return the trace of what was seen at moments, in any order: the tick is their usual distance, and what is between is unknown.

    Of two looks in one tick the later counts. Refuses a Refusal.
    """
    order = np.argsort(np.array(seconds), kind="stable")
    moments = np.array(seconds)[order]
    gaps = np.diff(moments)
    if not (gaps > 0).any():
        raise Refusal("time", "there are not two moments in it")
    tick = float(np.median(gaps[gaps > 0]))
    if not LEAST_SECONDS <= tick <= MOST_SECONDS:
        raise Refusal("time", f"a look every {tick:g} s is not {LEAST_SECONDS} to {MOST_SECONDS}")
    places = np.rint((moments - moments[0]) / tick).astype(np.int64)
    if places[-1] >= MOST_TICKS:
        raise Refusal("time", f"more than {MOST_TICKS:,} ticks of {tick:g} s from first to last")
    counts_by_tick = np.full(places[-1] + 1, np.nan)
    counts_by_tick[places] = node_counts("available", list(np.array(counts)[order]))
    return SpotTrace(name, tick / 3600, counts_by_tick, float(moments[0]))


def node_counts(field: str, values: Sequence[object]) -> Hours:
    """Counts of nodes from numbers and null. Refuses a Refusal that names the place."""
    counts = np.array(
        [
            np.nan if value is None else _finite_number(f"{field}[{at}]", value)
            for at, value in enumerate(values)
        ]
    )
    wrong = np.flatnonzero(counts < 0)
    if len(wrong):
        raise Refusal(f"{field}[{wrong[0]}]", f"{counts[wrong[0]]:g} nodes: must be 0 or more")
    return counts


def _finite_number(field: str, value: object) -> float:
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, (int, float)) or not np.isfinite(value):
        raise Refusal(field, f"{value!r} is no number")
    return float(value)
