"""Constants and helpers shared by a portfolio's parts that need no arithmetic of arrays."""

from datetime import date

MONTH_HOURS = 730
MOST_MONTHS = 60
MOST_TERM_MONTHS = 120
LEAST_RATE, MOST_RATE = 1e-4, 1e5
"""Of a GPU-hour: what is beyond is a slip, a hundred times what anybody pays."""
MOST_TABLES = 500
"""Families, offers, or what is held: an organisation may have hundreds of commitments."""
MOST_VALUES = 10_000_000
"""Of demand, by family, scenario and hour: 80 MB, and several times that while costs are summed."""


def month_after(day: date, months: int) -> date:
    """Return this day in a later month, the month's last where it has none such."""
    year, month = divmod(day.month - 1 + months, 12)
    first = date(day.year + year, month + 1, 1)
    following = date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return first.replace(day=min(day.day, (following - first).days))
