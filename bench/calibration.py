"""How fast this machine is just now.

Imports nothing: the agent's bench loads it into the processes whose memory it measures.
"""

import functools
import time

ROUNDS_OF_CALIBRATION = 3_000_000
# Where the calibration takes this long, targets in milliseconds hold as they are written.
CALIBRATION_OF_TARGETS = 0.37


def calibrate() -> float:
    """Seconds that three million rounds of plain Python take: how fast one core is just now."""
    d: dict[int, int] = {}
    began = time.perf_counter()
    for i in range(ROUNDS_OF_CALIBRATION):
        d[i & 1023] = d.get(i & 1023, 0) + i * 3 // 7
    return time.perf_counter() - began


@functools.cache
def calibrated_before() -> float:
    """The calibration as it was before this process measured anything."""
    return calibrate()


def calibration(before: float) -> dict[str, list[float]]:
    """What every bench tells beside its figures: the calibration just before and just after them."""
    return {"calibration_seconds": [round(before, 3), round(calibrate(), 3)]}


def scaled(limit_ms: float) -> float:
    """A target in milliseconds as it holds on this machine."""
    return round(limit_ms * calibrated_before() / CALIBRATION_OF_TARGETS, 1)
