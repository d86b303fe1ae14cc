"""Dividing a whole number so that its parts sum to exactly that number."""

from collections.abc import Sequence


class NothingToSplitBy(ValueError):
    """All weights are zero: the caller must name who carries the amount."""


def largest_remainder(total: int, weights: Sequence[int]) -> list[int]:
    """Split `total` in proportion to `weights`; the parts sum to exactly `total`.

    Parts are rounded towards zero and the units left over go to the largest remainders, ties to
    the earlier index, so callers order by a stable key. A negative total mirrors its positive
    twin. Refuses NothingToSplitBy. Hamilton's method.
    """
    if len(weights) == 1 and weights[0] > 0:
        return [total]
    weight_sum = sum(weights)
    if weight_sum <= 0:
        raise NothingToSplitBy("no weight is above zero")
    if weight_sum == total:
        return list(weights)
    sign = -1 if total < 0 else 1
    size = abs(total)
    parts = []
    remainders = []
    for weight in weights:
        part, remainder = divmod(size * weight, weight_sum)
        parts.append(part * sign)
        remainders.append(-remainder)
    left = size - sum(parts) * sign
    if left:
        for index in sorted(range(len(parts)), key=remainders.__getitem__)[:left]:
            parts[index] += sign
    return parts
