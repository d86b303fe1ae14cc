"""A table of a page as CSV: exact amounts, unknown ones empty."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from django.http import HttpResponse

from apps.economics.money import Money
from apps.show.csv_cells import csv_text

MS_PER_HOUR = 3_600_000


def csv_answer(name: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> HttpResponse:
    """The rows as a file to keep; texts that a spreadsheet would run are quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return HttpResponse(
        out.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def text_cell(text: str) -> str:
    """A name from outside."""
    return csv_text(text)


def money_cell(micros: int | None, currency: str) -> str:
    """Every micro-unit; empty where the amount is not known."""
    return "" if micros is None else f"{Money.from_micros(micros, currency).amount:f}"


def hours_cell(milliseconds: int) -> str:
    """Hours to the sixth decimal."""
    return f"{milliseconds / MS_PER_HOUR:.6f}"


def moment_cell(at: datetime | None) -> str:
    """RFC 3339 in UTC; empty where there is none."""
    return "" if at is None else f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
