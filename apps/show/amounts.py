"""Amounts that are not money: GPU-hours, counts, ratios, and how one compares with another."""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction

from apps.economics.hours import HOUR_MS
from apps.show.money import GAP, rounded_half_even
from apps.show.unknown import UNKNOWN

SIGNIFICANT = 100
LEAST_SHOWN = 0.0005

Ratio = int | float | Decimal | Fraction


def gpu_hours(milliseconds: int | None) -> str:
    """GPU-milliseconds as GPU-hours: `74,210`, under 100 with one decimal, under 10 with two."""
    if milliseconds is None:
        return UNKNOWN
    hours = Decimal(milliseconds) / HOUR_MS
    for limit, digits in ((10, 2), (100, 1)):
        figure = rounded_half_even(hours, digits)
        if abs(figure) < limit:
            return _smallest_above_zero(figure, hours)
    return _with_minus(f"{rounded_half_even(hours, 0):,f}")


def count(number: int | None) -> str:
    """A count with thousands separators; below zero with a minus, as amounts have it."""
    return UNKNOWN if number is None else _with_minus(f"{number:,}")


def number(value: float) -> str:
    """Return a figure: whole from a hundred on, else three digits that count; what is less than half a thousandth is 0."""
    if abs(value) < LEAST_SHOWN:
        return "0"
    return f"{value:,.0f}" if abs(value) >= SIGNIFICANT else f"{value:.3g}"


def counted(number: int, one: str, many: str = "") -> str:
    """A count and its noun: `1 node`, `12 nodes`, `3 deliveries` with `many` given."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def gpu_count(count_: Fraction | int | None) -> str:
    """How many GPUs, slices of one as decimals: `6`, `0.25`, `0.33`."""
    if count_ is None:
        return UNKNOWN
    figure = rounded_half_even(_decimal_of(count_), 2)
    if figure == figure.to_integral_value():
        return f"{figure:,.0f}"
    return f"{figure.normalize():,f}"


def share(part: int | None, total: int | None) -> Fraction | None:
    """`part` ÷ `total`, or None where either is unknown or there is no whole to be part of.

    A cost is no part of what credits made negative.
    """
    if part is None or not total or total < 0 <= part:
        return None
    return Fraction(part, total)


def per_cent(ratio: Ratio | None) -> str:
    """A ratio of 0 to 1 as `31 %`; one decimal below 10 %, `−27 %` below 0. Never rounds to 0 or to 100."""
    if ratio is None:
        return UNKNOWN
    hundredths = _decimal_of(ratio) * 100
    if hundredths < 0:
        size = -hundredths
        return f"> −0.1{GAP}%" if size < Decimal("0.05") else f"−{_per_cent_figure(size)}{GAP}%"
    if 0 < hundredths < Decimal("0.05"):
        return f"< 0.1{GAP}%"
    if Decimal("99.5") <= hundredths < 100:
        return f"> 99{GAP}%"
    return f"{_per_cent_figure(hundredths)}{GAP}%"


def signed_per_cent(ratio: Ratio) -> str:
    """A change as a ratio, its sign always written: `+8 %`, `−0.03 %`; below a hundredth of a per cent `no change`."""
    hundredths = _decimal_of(ratio) * 100
    size = abs(hundredths)
    if size < Decimal("0.005"):
        return "no change" if size else f"0{GAP}%"
    if size < Decimal("0.05"):
        figure = f"{rounded_half_even(size, 2):f}"
    else:
        # What is left is never called gone: 99.97 is not 100.
        figure = "99.9" if Decimal("99.9") <= size < 100 else _per_cent_figure(size)
    return f"{'+' if hundredths > 0 else '−'}{figure}{GAP}%"


def difference(now: int | None, before: int | None) -> int | None:
    """`now` less `before`; None where either is not known."""
    return None if now is None or before is None else now - before


class Direction(Enum):
    """Where something went that is held against what it was before."""

    UNKNOWN = UNKNOWN
    NEW = "new"
    SAME = "no change"
    UP = "+"
    DOWN = "−"


@dataclass(frozen=True, slots=True)
class Movement:
    """How something differs from what it was before; `size` is by how much, empty where it is not up or down."""

    direction: Direction
    size: str = ""

    def __str__(self) -> str:
        return f"{self.direction.value}{self.size}"


def movement(now: int | None, before: int | None) -> Movement:
    """By how much of `before` it is up or down, as it is shown."""
    if now is None or before is None:
        return Movement(Direction.UNKNOWN)
    if not before:
        return Movement(Direction.NEW if now else Direction.SAME)
    hundredths = Decimal(now - before) / Decimal(abs(before)) * 100
    figure = _per_cent_figure(abs(hundredths))
    return _moved(hundredths, figure, "%")


def change(now: int | None, before: int | None) -> str:
    """How `now` differs from `before`: `+8 %`, `−4 %`, `no change`, `new` where there was none."""
    return str(movement(now, before))


def movement_in_points(now: Ratio | None, before: Ratio | None) -> Movement:
    """By how many percentage points a ratio is up or down, as it is shown."""
    if now is None or before is None:
        return Movement(Direction.UNKNOWN)
    difference = (_decimal_of(now) - _decimal_of(before)) * 100
    figure = _per_cent_figure(abs(difference))
    return _moved(difference, figure, "point" if figure == "1" else "points")


def points(now: Ratio | None, before: Ratio | None) -> str:
    """How one ratio differs from another, in percentage points: `+3 points`."""
    return str(movement_in_points(now, before))


def _moved(by: Decimal, figure: str, unit: str) -> Movement:
    if not figure.strip("0."):
        return Movement(Direction.SAME)
    return Movement(Direction.UP if by > 0 else Direction.DOWN, f"{figure}{GAP}{unit}")


def _per_cent_figure(hundredths: Decimal) -> str:
    one_decimal = rounded_half_even(hundredths, 1)
    if abs(one_decimal) >= 10 or one_decimal == one_decimal.to_integral_value():
        return f"{rounded_half_even(hundredths, 0):,f}"
    return f"{one_decimal:f}"


def _smallest_above_zero(figure: Decimal, exact: Decimal) -> str:
    if figure == 0:
        return "< 0.01" if exact else "0"
    return _with_minus(f"{figure:f}")


def _with_minus(text: str) -> str:
    return text.replace("-", "−")


def _decimal_of(ratio: Ratio) -> Decimal:
    if isinstance(ratio, Fraction):
        return Decimal(ratio.numerator) / Decimal(ratio.denominator)
    return Decimal(ratio)
