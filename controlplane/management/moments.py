"""Moments as people type them."""

from argparse import ArgumentTypeError
from datetime import UTC, datetime


def moment_of(text: str) -> datetime:
    """`2026-03-02`, `2026-03-02T10:00` or with an offset; UTC where none is said."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a moment such as 2026-03-02T10:00Z") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
