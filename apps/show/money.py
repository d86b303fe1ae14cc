"""Money as people read it: whole micro-units in, text with a currency out.

Every amount is an integer of micro-units (one millionth of the currency), or None where it is not
known. Rounding is half-even and happens here only, on the way to the screen.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from apps.show.unknown import UNKNOWN

MICROS = 1_000_000
MINUS = "−"
GAP = "\N{NO-BREAK SPACE}"

# CLDR's English symbols, where they name one currency; every other currency is written by its code.
_SYMBOLS = {
    "AUD": "A$",
    "BRL": "R$",
    "CAD": "CA$",
    "CNY": "CN¥",
    "EUR": "€",
    "GBP": "£",
    "HKD": "HK$",
    "ILS": "₪",
    "INR": "₹",
    "JPY": "¥",
    "KRW": "₩",
    "MXN": "MX$",
    "NZD": "NZ$",
    "TWD": "NT$",
    "USD": "$",
    "VND": "₫",
}
# ISO 4217 minor units where they are not two.
_MINOR_DIGITS = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW"), 0),
    **dict.fromkeys(("PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}
_SCALES = ((Decimal(1), ""), (Decimal(10**3), "k"), (Decimal(10**6), "M"), (Decimal(10**9), "B"))
_SIGNIFICANT = 3


def short_amount(micros: int | None, currency: str) -> str:
    """For figures: three significant digits, as in `$41.3k`; under 100 to the minor unit."""
    if micros is None:
        return UNKNOWN
    size = _to_major_units(abs(micros))
    if size < 100:
        return _signed_figure(micros, currency, _fixed_or_less(size, currency))
    for scale, suffix in _SCALES:
        figure = significant(size / scale)
        if figure < 1000:
            return _signed_figure(micros, currency, f"{figure:,f}{suffix}")
    return _signed_figure(micros, currency, f"{size / _SCALES[-1][0]:,.0f}{_SCALES[-1][1]}")


def full_amount(micros: int | None, currency: str) -> str:
    """For tables: every minor unit, as in `$41,302.17`."""
    if micros is None:
        return UNKNOWN
    return _signed_figure(micros, currency, _fixed_or_less(_to_major_units(abs(micros)), currency))


def rounded_amount(micros: int | None, currency: str) -> str:
    """For sentences: no minor units, as in `$18,210`; under 100 to the minor unit."""
    if micros is None:
        return UNKNOWN
    size = _to_major_units(abs(micros))
    if size < 100:
        return full_amount(micros, currency)
    return _signed_figure(micros, currency, f"{rounded_half_even(size, 0):,f}")


def unit_cost(micros: int | None, currency: str) -> str:
    """The cost of one of something: three significant digits, as in `$2.41` or `$0.00345`."""
    if micros is None:
        return UNKNOWN
    return _signed_figure(micros, currency, f"{significant(_to_major_units(abs(micros))):,f}")


def quoted_amount(amount: Decimal, currency: str) -> str:
    """A price as it was quoted, to its last digit and at least the minor unit: `$0.0031`."""
    digits = _MINOR_DIGITS.get(currency, 2)
    exact = amount.normalize()
    exponent = exact.as_tuple().exponent
    if isinstance(exponent, int) and -exponent < digits:
        exact = exact.quantize(Decimal(1).scaleb(-digits))
    return f"{symbol(currency)}{exact:,f}"


def billed_amount(amount: Decimal, currency: str) -> str:
    """A sum of a bill in whole units, to the minor unit; below the micro-unit half-even."""
    return full_amount(int((amount * MICROS).to_integral_value(ROUND_HALF_EVEN)), currency)


def signed_amount(micros: int | None, currency: str) -> str:
    """A difference, its sign always written: `+$12.40`, `−$3.00`, `$0.00`."""
    text = full_amount(micros, currency)
    return f"+{text}" if micros is not None and micros > 0 else text


def bridged(start: int, parts: Sequence[int], end: int, currency: str) -> list[int]:
    """`parts` in whole minor units that lead from `start` to `end` as both are shown.

    All in micro-units; start + parts is end, exactly. No part moves by more than a minor unit.
    """
    step = MICROS // 10 ** _MINOR_DIGITS.get(currency, 2)
    first, last = (int(rounded_half_even(Decimal(amount) / step, 0)) for amount in (start, end))
    shown = [part // step for part in parts]
    remainders = [part % step for part in parts]
    # Minor units that rounding down took away, up to one a part; one too many where both ends were
    # halves that rounded towards each other.
    left = last - first - sum(shown)
    largest_first = sorted(range(len(parts)), key=lambda at: (-remainders[at], at))
    for at in largest_first[: abs(left)]:
        shown[at] += 1 if left > 0 else -1
    return [units * step for units in shown]


def displayed_remainder(total: int, parts: Sequence[int], currency: str) -> int:
    """Return what is left of `total` beside `parts`, so that all add up as they are shown; micro-units.

    It differs from the exact rest by what rounding to the minor unit took from total and parts.
    """
    step: int = MICROS // 10 ** _MINOR_DIGITS.get(currency, 2)
    rounded = [int(rounded_half_even(Decimal(part) / step, 0)) for part in (total, *parts)]
    return (rounded[0] - sum(rounded[1:])) * step


def symbol(currency: str) -> str:
    """Return what stands before an amount: `$`, or the code and a gap, as in `CHF 3.00`."""
    return _SYMBOLS.get(currency, f"{currency}{GAP}")


def significant(value: Decimal) -> Decimal:
    """`value` with three significant digits, written without an exponent."""
    if value == 0:
        return Decimal(0)
    place = value.adjusted() - _SIGNIFICANT + 1
    rounded = value.quantize(Decimal(1).scaleb(place), rounding=ROUND_HALF_EVEN)
    if rounded.adjusted() > value.adjusted():  # 9.995 became 10.00: one digit too many
        rounded = rounded.quantize(Decimal(1).scaleb(place + 1))
    return rounded.quantize(Decimal(1)) if place > 0 else rounded


def _to_major_units(micros: int) -> Decimal:
    return Decimal(micros) / MICROS


def rounded_half_even(value: Decimal, digits: int) -> Decimal:
    """`value` with so many digits after the point."""
    return value.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_EVEN)


def _fixed_or_less(size: Decimal, currency: str) -> str:
    digits = _MINOR_DIGITS.get(currency, 2)
    return f"{rounded_half_even(size, digits):,f}"


def _signed_figure(micros: int, currency: str, figure: str) -> str:
    is_nothing = not figure.strip("0.,")
    if is_nothing and micros:
        # Under half a minor unit: something, and not a zero.
        sign = f"> {MINUS}" if micros < 0 else "< "
        return f"{sign}{symbol(currency)}{_smallest_unit(currency)}"
    return f"{MINUS if micros < 0 else ''}{symbol(currency)}{figure}"


def _smallest_unit(currency: str) -> str:
    return f"{Decimal(1).scaleb(-_MINOR_DIGITS.get(currency, 2)):f}"
