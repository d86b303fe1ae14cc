"""Values of the command line: what is none of their kind is refused by argparse, in words."""

from __future__ import annotations

import argparse
from datetime import datetime

from runrate_agent.compat import UTC, moment_of

HOUR_MS = 3_600_000


def hour_ms(text: str) -> int:
    """A moment that is a full hour; a time without a zone is UTC."""
    try:
        moment = (
            datetime.fromtimestamp(float(text), tz=UTC)
            if text.replace(".", "", 1).isdigit()
            else moment_of(text)
        )
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: {error}") from error
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    milliseconds = round(aware.timestamp() * 1000)
    if milliseconds % HOUR_MS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a full hour")
    return milliseconds


def at_least_one(text: str) -> int:
    """A whole number of 1 or more."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("expected 1 or more")
    return int(text)
