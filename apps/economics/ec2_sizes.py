"""How AWS counts the sizes of an EC2 family, for reservations that cover any size of it.

"How Reserved Instance discounts are applied", EC2 User Guide, as of 2026-11: the normalization
factor of a size, and the families of which a reservation covers its own size alone.
"""

import re
from functools import lru_cache

# Whole quarters of a normalization factor: a nano counts 0.25, an xlarge 8, a 12xlarge 96.
QUARTERS = {"nano": 1, "micro": 2, "small": 4, "medium": 8, "large": 16, "xlarge": 32}
MANY_XLARGE = re.compile(r"([1-9]\d*)xlarge")
OWN_SIZE_ALONE = frozenset(
    [
        "g4ad",
        "g4dn",
        "g5",
        "g5g",
        "g6",
        "g6e",
        "g6f",
        "gr6",
        "gr6f",
        "hpc7a",
        "p5",
        "inf1",
        "inf2",
        "u7i-6tb",
        "u7i-8tb",
    ]
)


def family_of(instance_type: str) -> str:
    """`p3` of p3.16xlarge; empty where it names no size."""
    family, _, size = instance_type.partition(".")
    return family if size else ""


@lru_cache(maxsize=1024)
def size_quarters(instance_type: str) -> int | None:
    """Its normalization factor in quarters; None of a size without one (bare metal), or without
    size flexibility in its family.
    """
    family, _, size = instance_type.partition(".")
    if family in OWN_SIZE_ALONE:
        return None
    many = MANY_XLARGE.fullmatch(size)
    return int(many[1]) * QUARTERS["xlarge"] if many else QUARTERS.get(size)
