"""Numbers in sentences: thousands separators, never an exponent, and more digits where two that differ would look the same."""

from collections.abc import Callable
from math import floor, isfinite, log10

MOST_DECIMALS = 9
MOST_WITHOUT_MINOR = 100.0
"""From so much on money has no minor units."""


def number_text(value: float, more: int = 0) -> str:
    """`12,000`, `35.4`, `0.065`: one decimal at most, two significant digits below 1; `more` digits beyond that."""
    return _fixed_text(value, max(1, _decimals_of(value, 2) if abs(value) < 1 else 1) + more)


def error_text(value: float, more: int = 0) -> str:
    """`1.23`, `1,230`: three significant digits, or `more` beyond them, and every digit before the point."""
    return _fixed_text(value, _decimals_of(value, 3) + more)


def told_apart(
    first: float, second: float, text: Callable[[float, int], str] = number_text
) -> tuple[str, str]:
    """Two numbers that differ, with as many digits as it takes for their texts to differ too."""
    texts = (text(first, 0), text(second, 0))
    for more in range(1, MOST_DECIMALS):
        if texts[0] != texts[1]:
            break
        texts = (text(first, more), text(second, more))
    return texts


def quantity_text(text: str, unit: str) -> str:
    """A number that is written, and its unit in the plural: `1 GPU`, `12 GPUs`, `1 GPU in the mean of a day`."""
    noun, gap, qualifier = unit.partition(" ")
    return f"{text} {noun.removesuffix('s') if text == '1' else noun}{gap}{qualifier}"


def money_text(amount: float, currency: str) -> str:
    """An amount in units of a currency (ISO 4217): `15,000 USD`, `6.00 USD`, `0.0031 USD`."""
    if abs(amount) >= MOST_WITHOUT_MINOR:
        return f"{_fixed_text(amount, 0)} {currency}".strip()
    minor = f"{amount:,.{max(2, _decimals_of(amount, 2))}f}".replace("-", "−")
    return f"{minor} {currency}".strip()


def _decimals_of(value: float, significant: int) -> int:
    """How many decimals show so many significant digits of it."""
    if not value or not isfinite(value):
        return 0
    return max(0, significant - 1 - floor(log10(abs(value))))


def _fixed_text(value: float, decimals: int) -> str:
    if not isfinite(value):
        return "not known"
    text = f"{value:,.{min(decimals, MOST_DECIMALS)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("-", "−")
