"""How far values usually lie from their middle, whatever a few of them do."""

from collections.abc import Iterable
from statistics import median

MAD_TO_SIGMA = 1.4826
"""What the median absolute deviation of a normal distribution is multiplied by to be its standard deviation."""


def robust_deviation(values: Iterable[float], middle: float, times: float = 1.0) -> float:
    """Return so many times the standard deviation that the median distance of the values from their middle stands for."""
    return times * MAD_TO_SIGMA * float(median(abs(value - middle) for value in values))
