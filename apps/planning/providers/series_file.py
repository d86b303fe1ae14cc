"""The history of a figure from a CSV: a column of moments and a column of values."""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from math import isfinite, isnan, nan
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from apps.economics.forecast.series import HourlySeries, SpanTooLong, hourly_means, hourly_sums
from apps.economics.refusal import Refusal

GZIP_MAGIC = b"\x1f\x8b"
LATEST_SECONDS = datetime(3000, 1, 1, tzinfo=UTC).timestamp()


class SeriesRow(NamedTuple):
    """A row's number, its moment in Unix seconds, and its value; None where the cell is empty."""

    number: int
    seconds: float
    value: float | None


class SeriesFileRefused(Refusal):
    """A file of a figure's history cannot be read; says which column and row."""


def read_series(path: Path, *, time: str, value: str) -> HourlySeries:
    """Means by the hour of the column `value` at the moments of the column `time`.

    Moments are ISO 8601 (UTC where they name no zone) or Unix seconds, in any order. An empty value is an
    hour not observed. `path` is plain or gzip. Refuses SeriesFileRefused.
    """
    known = [
        (row.seconds, row.value)
        for row in read_rows(path, time=time, value=value)
        if row.value is not None
    ]
    return _by_hour(path, known, (time, value), hourly_means)


def read_history(
    path: Path, *, time: str, value: str, zone: tzinfo, amounts: bool, within: tuple[float, float]
) -> list[tuple[datetime, float]]:
    """The known hours of a figure: sums of `amounts`, else means of what held at each moment.

    Moments without a zone are of `zone`. No moment may come twice, no value lie outside of
    `within`. An hour of amounts of which one is empty is unknown: the others are a part of it. Refuses
    SeriesFileRefused.
    """
    rows = read_rows(path, time=time, value=value, zone=zone)
    least, most = within
    first_row: dict[float, int] = {}
    for row in rows:
        before = first_row.setdefault(row.seconds, row.number)
        if before != row.number:
            raise SeriesFileRefused(
                time,
                f"row {row.number}: this moment is in row {before} already; a file is of one series",
            )
        if row.value is not None and row.value < least:
            raise SeriesFileRefused(value, f"row {row.number}: {row.value:g} is below {least:g}")
        if row.value is not None and row.value > most:
            raise SeriesFileRefused(value, f"row {row.number}: {row.value:g} is above {most:g}")
    known = [
        (row.seconds, nan if row.value is None else row.value)
        for row in rows
        if amounts or row.value is not None
    ]
    series = _by_hour(path, known, (time, value), hourly_sums if amounts else hourly_means)
    return [
        (series.hour_at(place), float(amount))
        for place, amount in enumerate(series.values)
        if not isnan(amount)
    ]


def read_rows(path: Path, *, time: str, value: str, zone: tzinfo = UTC) -> list[SeriesRow]:
    """Every row with a moment; its value is None where the cell is empty. Refuses SeriesFileRefused."""
    try:
        with _open_text(path) as text:
            return [
                SeriesRow(
                    row,
                    _read_moment(cells[0], time, row, zone),
                    _read_value(cells[1], value, row) if cells[1] else None,
                )
                for row, cells in _cells(text, time, value)
                if cells[0] or cells[1]
            ]
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as broken:
        raise SeriesFileRefused("", f"{path.name} cannot be read: {broken}") from broken


def _by_hour(
    path: Path,
    known: Sequence[tuple[float, float]],
    columns: tuple[str, str],
    fold: Callable[[Sequence[float], Sequence[float]], HourlySeries],
) -> HourlySeries:
    """Moments and values as hours; `columns` are those of the moments and of the values."""
    if all(isnan(value) for _, value in known):
        raise SeriesFileRefused(columns[1], f"{path.name} has no value in this column")
    try:
        return fold([seconds for seconds, _ in known], [value for _, value in known])
    except SpanTooLong as far:
        raise SeriesFileRefused(columns[0], far.message) from far


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


def _read_moment(text: str, column: str, row: int, zone: tzinfo) -> float:
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
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
        if moment.utcoffset() != moment.replace(fold=1).utcoffset():
            raise SeriesFileRefused(
                column,
                f"row {row}: {text} is in the hour that {zone} turns its clocks: name the offset",
            )
    seconds = moment.timestamp()
    if not 0 <= seconds < LATEST_SECONDS:
        raise SeriesFileRefused(column, f"row {row}: {text} is not from 1970 to 2999")
    return seconds


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
