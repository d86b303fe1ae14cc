"""The history of a figure from a CSV: a column of moments and a column of values."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import BinaryIO, cast

from apps.economics.forecast.series import HourlySeries, SpanTooLong, hourly_means
from apps.economics.refusal import Refusal

GZIP_MAGIC = b"\x1f\x8b"
LATEST_SECONDS = datetime(3000, 1, 1, tzinfo=UTC).timestamp()


class SeriesFileRefused(Refusal):
    """A file of a figure's history cannot be read; says which column and row."""


def read_series(path: Path, *, time: str, value: str) -> HourlySeries:
    """Means by the hour of the column `value` at the moments of the column `time`.

    Moments are ISO 8601 (UTC where they name no zone) or Unix seconds, in any order. An empty value is an
    hour not observed. `path` is plain or gzip. Refuses SeriesFileRefused.
    """
    moments: list[float] = []
    values: list[float] = []
    try:
        with _open_text(path) as text:
            for row, cells in _cells(text, time, value):
                if cells[1]:
                    moments.append(_read_moment(cells[0], time, row))
                    values.append(_read_value(cells[1], value, row))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as broken:
        raise SeriesFileRefused("", f"{path.name} cannot be read: {broken}") from broken
    if not values:
        raise SeriesFileRefused(value, f"{path.name} has no value in this column")
    try:
        return hourly_means(moments, values)
    except SpanTooLong as far:
        raise SeriesFileRefused(time, far.message) from far


@contextmanager
def _open_text(path: Path) -> Iterator[io.TextIOWrapper]:
    with path.open("rb") as source:
        is_gzip = source.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        source.seek(0)
        # GzipFile reads like any binary file; typeshed calls it a buffer of another kind.
        plain = cast(BinaryIO, gzip.GzipFile(fileobj=source)) if is_gzip else source
        with io.TextIOWrapper(plain, "utf-8-sig", newline="") as text:
            yield text


def _cells(text: io.TextIOWrapper, time: str, value: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """Each line's number and its two cells."""
    rows = csv.reader(text)
    header = [name.strip() for name in next(rows, [])]
    for column in (time, value):
        if column not in header:
            raise SeriesFileRefused(
                column, f"there is no such column; there are {', '.join(header)}"
            )
    places = header.index(time), header.index(value)
    for cells in rows:
        if not cells:
            continue
        if len(cells) <= max(places):
            column = time if len(cells) <= places[0] else value
            raise SeriesFileRefused(column, f"row {rows.line_num} ends before this column")
        yield rows.line_num, (cells[places[0]].strip(), cells[places[1]].strip())


def _read_moment(text: str, column: str, row: int) -> float:
    seconds = _number_in(text)
    if seconds is not None and 0 <= seconds < LATEST_SECONDS:
        return seconds
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise SeriesFileRefused(
            column,
            f"row {row}: {text!r} is no moment such as 2026-03-02 10:00, and no Unix seconds",
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _read_value(text: str, column: str, row: int) -> float:
    number = _number_in(text)
    if number is None:
        raise SeriesFileRefused(column, f"row {row}: {text!r} is no number")
    return number


def _number_in(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
