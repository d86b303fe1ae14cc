"""Large counts and energy and power as people read them: three digits and a step of a thousand."""

from decimal import Decimal
from fractions import Fraction

from apps.show.money import GAP, significant
from apps.show.unknown import UNKNOWN

_STEPS = ((Decimal(1), ""), (Decimal(10**3), "k"), (Decimal(10**6), "M"), (Decimal(10**9), "B"))
_LAST = (Decimal(10**12), "T")
_JOULES_PER_KWH = 3_600_000


def short_count(number: float | None) -> str:
    """`51.2k`, `1.34B`; three significant digits, whole numbers under a thousand as they are."""
    if number is None:
        return UNKNOWN
    exact = Decimal(number)
    if abs(exact) < 1000 and exact == exact.to_integral_value():
        return f"{exact:,.0f}"
    for scale, suffix in _STEPS:
        figure = significant(exact / scale)
        if abs(figure) < 1000:
            return f"{figure:,f}{suffix}"
    return f"{significant(exact / _LAST[0]):,f}{_LAST[1]}"


def energy(joules: float | None) -> str:
    """`12.4 kWh`, `1.20 MWh`; three significant digits."""
    if joules is None:
        return UNKNOWN
    kilowatt_hours = Decimal(joules) / _JOULES_PER_KWH
    if abs(kilowatt_hours) < 1000:
        return f"{significant(kilowatt_hours):f}{GAP}kWh"
    return f"{significant(kilowatt_hours / 1000):,f}{GAP}MWh"


def power(watts: Fraction | Decimal | None) -> str:
    """`12.4 kW`, three significant digits."""
    if watts is None:
        return UNKNOWN
    numerator, denominator = watts.as_integer_ratio()
    kilowatts = Decimal(numerator) / denominator / 1000
    return f"{significant(kilowatts):,f}{GAP}kW"


def times(factor: float | None) -> str:
    """How many times as much: `1.8 ×`, three significant digits."""
    return UNKNOWN if factor is None else f"{significant(Decimal(factor)):,f}{GAP}×"
