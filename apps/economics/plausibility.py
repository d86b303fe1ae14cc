"""Whether a price can be what it says: beside its neighbours, and beside what it was before."""

from collections.abc import Sequence
from decimal import Decimal
from statistics import median

TIMES = 10
# A price list says about the same everywhere: real ones lie between 0.7 and 1.6 times the usual,
# those of regions without the accelerators between 0.1 and 0.3.
TIMES_OF_A_LIST = 3
_WORDS = {TIMES: ("a tenth", "ten times"), TIMES_OF_A_LIST: ("a third", "three times")}
# What a machine with GPUs costs above the machine without them is most of its price.
ACCELERATED = Decimal("1.5")
PER_CENT = 100


def why_implausible(
    amount: Decimal,
    neighbours: Sequence[Decimal],
    bare: Decimal | None = None,
    times: int = TIMES,
) -> str:
    """Why a price should wait for a person; empty: nothing speaks against it.

    `neighbours` are prices of the same machine in other regions and at other times, `bare` that of
    the machine without its accelerators; all for one unit, time and currency. Without neighbours
    only `bare` can speak. `times` is TIMES, or TIMES_OF_A_LIST.
    """
    if bare is not None and amount <= bare * ACCELERATED:
        return f"{amount:f} is about the machine without accelerators ({bare:f})"
    usual = median(neighbours) if neighbours else None
    if not usual:
        return ""
    part, multiple = _WORDS[times]
    if amount * times < usual:
        return f"{amount:f} is under {part} of the usual {usual:f}"
    if amount > usual * times:
        return f"{amount:f} is over {multiple} the usual {usual:f}"
    return ""


def needs_second_person(before: Decimal | None, after: Decimal, threshold_per_cent: int) -> bool:
    """Whether a price moves by more than the threshold; from nothing, any amount is more.

    The first price of a thing moves nothing.
    """
    if before is None:
        return False
    return abs(after - before) * PER_CENT > before * threshold_per_cent
