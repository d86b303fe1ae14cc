"""Readings of one endpoint folded to what it did in each hour, and told as rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from runrate_agent.compat import SLOTS, UTC
from runrate_agent.serving.engines import Counted, Group

HOUR_SECONDS = 3_600
COUNTS = ("requests", "succeeded", "prompt_tokens", "cached_tokens", "output_tokens")
PARTS = {"succeeded": "requests", "cached_tokens": "prompt_tokens"}
HOURS_KEPT = 48
Key = tuple[int, Group]
"""The hour's beginning, in seconds since 1970; feature and model."""


@dataclass(**SLOTS)
class Hours:
    """All that one endpoint did since this agent began, hour by hour.

    Each telling of an hour says all of it, under a later revision: one that is lost or comes twice
    changes nothing.
    """

    source_key: str
    service: str
    revision: int = 0
    _counted: dict[Key, Counted] = field(default_factory=dict)
    _untold: set[Key] = field(default_factory=set)
    _oldest: int = 0

    def add(self, grown: dict[Group, Counted], since: float, until: float) -> None:
        """Take what was done from `since` to `until`; it belongs to the hour of the middle.

        Readings at full minutes cut at the hour; after a silence over an hour's turn nobody knows
        on which side of it the work was done.
        """
        hour = int((since + until) / 2) // HOUR_SECONDS * HOUR_SECONDS
        # Of an hour before those that are kept not all is known any more: it is told no less.
        hour = max(hour, self._oldest)
        for group, counted in grown.items():
            key = hour, group
            if key not in self._counted or counted.is_moved:
                self._untold.add(key)
            self._counted.setdefault(key, Counted()).add(counted)
        self._oldest = max(self._oldest, hour - HOURS_KEPT * HOUR_SECONDS)
        self._counted = {key: one for key, one in self._counted.items() if key[0] >= self._oldest}

    def taken(self) -> list[dict[str, object]]:
        """The rows of what changed since they were last taken."""
        if not self._untold:
            return []
        self.revision += 1
        untold, self._untold = sorted(self._untold), set()
        return [self._row(key, self._counted[key]) for key in untold if key in self._counted]

    def _row(self, key: Key, counted: Counted) -> dict[str, object]:
        hour, (feature, model) = key
        return {
            "source": "engine",
            "source_key": self.source_key,
            "service": self.service,
            "feature": feature,
            "model": model,
            "hour": datetime.fromtimestamp(hour, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "revision": self.revision,
            **dict(_counts(counted)),
            "latency": _histogram(counted.histograms.get("latency")),
            "first_token": _histogram(counted.histograms.get("first_token")),
            "prefill_seconds": _seconds(counted, "prefill_seconds"),
            "decode_seconds": _seconds(counted, "decode_seconds"),
            "split_kind": _split_kind(counted),
        }


def _counts(counted: Counted) -> Iterator[tuple[str, int | None]]:
    """Whole numbers; a part is at most its whole, though engines count the two at other moments."""
    whole = {name: round(value) for name, value in counted.sums.items() if name in COUNTS}
    for name in COUNTS:
        value = whole.get(name)
        of = whole.get(PARTS.get(name, ""))
        capped = value if value is None or of is None else max(0, min(value, of))
        yield name, capped


def _histogram(buckets: dict[float, float] | None) -> dict[str, object] | None:
    """From so many at most so long to how many in each; None without the last, endless one."""
    if not buckets or math.inf not in buckets:
        return None
    bounds = [bound for bound in sorted(buckets) if 0 < bound < math.inf]
    counts, below = [], 0
    for bound in (*bounds, math.inf):
        up_to = max(below, round(buckets[bound]))
        counts.append(up_to - below)
        below = up_to
    return {"bounds_seconds": bounds, "counts": counts}


def _seconds(counted: Counted, name: str) -> float | None:
    value = counted.sums.get(name)
    return None if value is None else round(value, 6)


def _split_kind(counted: Counted) -> str:
    """vLLM tells how long requests were in each phase, and they overlap; SGLang what the GPU did,
    but for steps that do both."""
    if "prefill_seconds" not in counted.sums or "decode_seconds" not in counted.sums:
        return ""
    return "measured" if counted.is_measured and not counted.is_mixed else "estimated"
