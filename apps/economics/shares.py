"""The part of a GPU that a slice is: exact fractions, by a versioned policy."""

from enum import StrEnum
from fractions import Fraction


class NotAShare(ValueError):
    """A slice larger than its GPU, or a part of nothing."""


class ShareRule(StrEnum):
    """How a MIG slice counts: by the larger of its two fractions, or by one of them."""

    LARGEST = "largest"
    COMPUTE = "compute"
    MEMORY = "memory"


def mig_share(
    compute_slices: int,
    memory_slices: int,
    *,
    of_compute: int,
    of_memory: int,
    rule: ShareRule = ShareRule.LARGEST,
) -> Fraction:
    """A slice's part of a GPU with `of_compute` and `of_memory` slices; refuses NotAShare.

    Of an H100 (7 and 8): 1g.10gb 1/7, 1g.20gb 1/4, 2g.20gb 2/7, 3g.40gb 1/2, 4g.40gb 4/7.
    A model whose geometry is unknown has no share: callers keep it unknown and ask.
    """
    if not (0 < compute_slices <= of_compute and 0 < memory_slices <= of_memory):
        raise NotAShare(
            f"{compute_slices} of {of_compute} compute and {memory_slices} of {of_memory} memory"
            " slices are not a part of a GPU"
        )
    compute, memory = Fraction(compute_slices, of_compute), Fraction(memory_slices, of_memory)
    if rule is ShareRule.COMPUTE:
        return compute
    return memory if rule is ShareRule.MEMORY else max(compute, memory)
