"""Runs in words: how one ended, what its numbers are worth, and it as a row."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.utils.html import format_html

from apps.console.kit.cells import TEXT, Format, drawn, titled, warned
from apps.show.amounts import per_cent
from apps.show.counts import short_count
from apps.show.unknown import UNKNOWN
from apps.show.words import StateWords, Word
from apps.unit_economics.queries.runs import values as ledger

STATUSES: Mapping[str, Word] = {
    "finished": Word("finished", "Finished", "It came to its end."),
    "failed": Word("failed", "Failed", "It ended with an error."),
    "interrupted": Word("interrupted", "Interrupted", "It was stopped from outside."),
    "": Word("untold", "Not ended", "No end was reported: it runs, or went silent."),
}
IMPOSSIBLE = "More than the GPUs can do: the reported model or GPU is wrong."

WHY = Format(TEXT.shown, TEXT.written, "why")
"""Words that explain the row that they stand in."""


@dataclass(frozen=True, slots=True)
class Doubted:
    """A number ready to show, and what is to be known of it; `is_wrong` where it is no good."""

    text: str
    doubt: str = ""
    is_wrong: bool = False
    is_unknown: bool = False

    def cell(self) -> str:
        """With the doubt in its tooltip, or said where the number is not known."""
        if self.is_unknown:
            return format_html(
                '<span class="unknown" title="{}"><span aria-hidden="true">{}</span>'
                '<span class="unseen">not known{}</span></span>',
                self.doubt,
                self.text,
                f": {self.doubt}" if self.doubt else "",
            )
        if self.is_wrong:
            return warned(self.text, self.doubt)
        return titled(self.text, self.doubt) if self.doubt else self.text


def doubted_if_unknown(text: str) -> Doubted:
    """A number without a doubt; what reads as unknown is."""
    return Doubted(text, is_unknown=text == UNKNOWN)


def bucket_cell(words: StateWords) -> str:
    """A bucket's colour and name."""
    return drawn("runs/_bucket.html", words=words)


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
        return Doubted(f"{per_cent(ratio)}, impossible", doubt or IMPOSSIBLE, is_wrong=True)
    if ratio is not None:
        return Doubted(per_cent(ratio), doubt)
    if tensor_active is not None:
        explanation = f"Not MFU: how much of the time tensor cores were active. {doubt}"
        return Doubted(f"{per_cent(tensor_active)} tensor-active", explanation.strip())
    return Doubted(UNKNOWN, doubt, is_unknown=True)
