"""Cells of price tables as text; each refuses ValueError, which names the column."""

from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation


def decimal_in(column: str, text: str) -> Decimal:
    """An exact amount, as in `98.32`."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{column}: {text!r} is not a number") from None


def parse_integer_cell(column: str, text: str) -> int:
    """A whole number, as in `3600`."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{column}: {text!r} is not a whole number") from None


def day_in(column: str, text: str) -> date:
    """A day, as in `2026-07-28`."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{column}: {text!r} is not a day such as 2026-07-28") from None


def moment_in(column: str, text: str) -> datetime:
    """A moment in ISO 8601; UTC where no offset is given."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = f"{column}: {text!r} is not a moment such as 2026-03-02T12:15:00Z"
        raise ValueError(message) from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
