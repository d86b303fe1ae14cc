"""Runs in words: how one ended, what its numbers are worth, and it as a row."""

from collections.abc import Mapping
from datetime import timedelta

from apps.console.pages.runs.values import Doubted
from apps.show.amounts import per_cent
from apps.show.counts import short_count
from apps.show.unknown import UNKNOWN
from apps.show.words import Word
from apps.unit_economics.queries.runs import values as ledger

STATUSES: Mapping[str, Word] = {
    "finished": Word("finished", "Finished", "It came to its end."),
    "failed": Word("failed", "Failed", "It ended with an error."),
    "interrupted": Word("interrupted", "Interrupted", "It was stopped from outside."),
    "": Word("untold", "Not ended", "No end was reported: it runs, or went silent."),
}
LEAST_TOLD = 0.01
"""Of a run that reported less than that of its time, no goodput is shown."""
IMPOSSIBLE = "More than the GPUs can do: the reported model or GPU is wrong."


def status_of(text: str) -> Word:
    """How a run, or an attempt of one, ended."""
    return STATUSES.get(text, STATUSES[""])


def span_of(seconds: float | None) -> timedelta | None:
    """A length of time, to the second from a minute on."""
    if seconds is None:
        return None
    return timedelta(seconds=round(seconds) if seconds >= 60 else seconds)


def rate(number: float | None) -> str:
    """How many a second, as in `51.2k`; a mark where it was not reported."""
    return UNKNOWN if number is None else short_count(number)


def sentence(doubt: str) -> str:
    """A doubt as a sentence of its own; empty where there is none."""
    if not doubt:
        return ""
    return doubt[0].upper() + doubt[1:] + ("" if doubt.endswith(".") else ".")


def mfu_of(row: ledger.RunRow) -> Doubted:
    """MFU as it may be shown: what is impossible is flagged, what stands for it is called so."""
    return doubted_mfu(row.mfu_ratio, sentence(row.mfu_doubt), row.tensor_active_ratio)


def doubted_mfu(ratio: float | None, doubt: str, tensor_active: float | None) -> Doubted:
    """From the ratio, the doubt about it, and how much the tensor cores were active."""
    if ratio is not None and ratio > 1:
        return Doubted(f"{per_cent(ratio)}, impossible", doubt or IMPOSSIBLE, "warn")
    if ratio is not None:
        return Doubted(per_cent(ratio), doubt)
    if tensor_active is not None:
        said = f"Not MFU: how much of the time tensor cores were active. {doubt}"
        return Doubted(f"{per_cent(tensor_active)} tensor-active", said.strip())
    return Doubted(UNKNOWN, doubt, is_unknown=True)
