"""How far a demo's history is filled in, as whoever fills it last said."""

from typing import NamedTuple

from django.core.cache import cache

KEY = "console-filling"
BELIEVED_SECONDS = 900


class Filling(NamedTuple):
    """So many parts of so many are there; `said` is what is being filled in now.

    `answers` is the end of a sentence about what stands on the parts: "are of two weeks so far".
    """

    done: int
    parts: int
    said: str
    answers: str = ""


def filling() -> Filling | None:
    """Return what was last said of filling in; None where nothing is being filled in."""
    stored = cache.get(KEY)
    return None if stored is None else Filling(*stored)


def announce_filling(now: Filling | None) -> None:
    """Have every page say it, until more is said or a quarter of an hour is over; None: it is done."""
    if now is None:
        cache.delete(KEY)
    else:
        cache.set(KEY, now, BELIEVED_SECONDS)
