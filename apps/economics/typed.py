"""Values that people type at a command; refused in words that argparse prints."""

from argparse import ArgumentTypeError
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation

from apps.economics.hours import parse_month_text


def parse_moment(text: str) -> datetime:
    """`2026-03-02`, `2026-03-02T10:00` or with an offset; UTC where none is given.

    Refuses ArgumentTypeError.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a moment such as 2026-03-02T10:00Z") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def parse_amount(text: str) -> Decimal:
    """`98.32`, exactly; refuses ArgumentTypeError."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ArgumentTypeError(f"{text!r} is not an amount") from None


def parse_month(text: str) -> date:
    """The first day of `2026-07`. Refuses ArgumentTypeError."""
    month = parse_month_text(text)
    if month is None:
        raise ArgumentTypeError(f"{text!r} is no month such as 2026-07")
    return month


def unix_seconds(text: str) -> float:
    """A moment as parse_moment reads it, or Unix seconds. Refuses ValueError in words."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return parse_moment(text).timestamp()
    except ArgumentTypeError as refusal:
        raise ValueError(str(refusal)) from None
