"""An hour of one GPU as a strip of sixty minutes: active, idle, or not observed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

QUARTERS_PER_MINUTE = 240
MINUTES = 60
STEPS = 4


@dataclass(frozen=True, slots=True)
class MinuteBar:
    """Minutes alike, side by side; `y` and `height` are of a strip four high, from its foot up."""

    x: int
    width: int
    y: int
    height: int
    is_observed: bool


@dataclass(frozen=True, slots=True)
class MinuteStrip:
    """The bars, and the same in words."""

    bars: tuple[MinuteBar, ...]
    words: str
    view_box: str = f"0 0 {MINUTES} {STEPS}"


def minute_strip(observed: Sequence[int], worked: Sequence[int]) -> MinuteStrip:
    """From quarter-seconds of each of sixty minutes, 0 to 240 observed and worked."""
    levels = [
        None if not observed_quarters else -(-busy * STEPS // observed_quarters)
        for observed_quarters, busy in zip(observed, worked, strict=True)
    ]
    bars, reached = [], 0
    for level, run in groupby(levels):
        width = len(list(run))
        height = STEPS if level is None else level
        if height:
            bars.append(MinuteBar(reached, width, STEPS - height, height, level is not None))
        reached += width
    return MinuteStrip(bars=tuple(bars), words=_minute_words(sum(observed), sum(worked)))


def _minute_words(observed: int, worked: int) -> str:
    if not observed:
        return "not observed in this hour"
    return f"active {_minutes_text(worked)} of {_minutes_text(observed)} min observed"


def _minutes_text(quarters: int) -> str:
    minutes = quarters / QUARTERS_PER_MINUTE
    if 0 < minutes < 0.1:
        return "< 0.1"
    return f"{minutes:.0f}" if minutes in (0, 60) or minutes >= 10 else f"{minutes:.1f}"
