"""Texts in a CSV file, safe to open in a spreadsheet."""

FORMULA = frozenset("=+-@＝＋－＠")
"""What a spreadsheet takes for the beginning of a formula; it reads wide letters as narrow ones."""


def csv_text(text: str) -> str:
    """A text that a spreadsheet would compute, told to be text by an apostrophe.

    What is blank before it is skipped by spreadsheets too; a tab or a return alone begins one.
    """
    begins = text.lstrip()[:1]
    return f"'{text}" if (begins in FORMULA and begins) or text[:1] in {"\t", "\r", "\n"} else text
