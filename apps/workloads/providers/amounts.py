"""Plain decimal numbers as files write them, read exactly."""

import re
from fractions import Fraction
from functools import lru_cache

from apps.workloads.providers.job_record import FieldUnreadable

# Two digits of exponent: `1e999999999` would be a number too long to hold.
_DECIMAL = re.compile(r"^\d+(?:\.\d*)?(?:[eE][+-]?\d{1,2})?$|^\.\d+$", re.ASCII)


def read_amount(text: str, *, field_name: str, of: str = "a number") -> Fraction:
    """The number in `text`, which may not be negative."""
    amount = _read_decimal(text.strip())
    if amount is None:
        raise FieldUnreadable(field_name, f"{text.strip()!r} is not {of}")
    return amount


@lru_cache(maxsize=4096)
def _read_decimal(text: str) -> Fraction | None:
    return Fraction(text) if _DECIMAL.match(text) and len(text) <= 40 else None
