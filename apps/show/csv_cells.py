"""CSV files as text, and texts in them that are safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

FORMULA = frozenset("=+-@＝＋－＠")
"""What a spreadsheet takes for the beginning of a formula; it reads wide letters as narrow ones."""


def csv_text(text: str) -> str:
    """A text that a spreadsheet would compute, told to be text by an apostrophe.

    What is blank before it is skipped by spreadsheets too; a tab or a return alone begins one.
    """
    begins = text.lstrip()[:1]
    return f"'{text}" if (begins in FORMULA and begins) or text[:1] in {"\t", "\r", "\n"} else text


def csv_text_of(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a CSV file: the line of names, then a line for each row."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows([header, *rows])
    return out.getvalue()
