"""The history of a figure from a CSV: a column of moments and a column of values."""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as clock
from itertools import pairwise
from math import isfinite, isnan, nan
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from apps.economics.forecast.series import (
    HOUR_SECONDS,
    HourlySeries,
    SpanTooLong,
    hourly_means,
    hourly_sums,
)
from apps.economics.refusal import Refusal

GZIP_MAGIC = b"\x1f\x8b"
LATEST_SECONDS = datetime(3000, 1, 1, tzinfo=UTC).timestamp()
MILLISECONDS_FROM = 1e11
"""A number from here on is of milliseconds: of 1973 at the earliest; as seconds it would be of the year 5138."""
LEAST_DAY_SECONDS = 23 * HOUR_SECONDS
SEPARATORS = ",;\t|"
NOT_OBSERVED = frozenset({"", "nan", "na", "n/a", "null", "none"})
"""What a cell without a value says, in small letters."""


class SeriesRow(NamedTuple):
    """A row's number, its moment in Unix seconds, and its value; None where the cell says none."""

    number: int
    seconds: float
    value: float | None


class HistoryForm(NamedTuple):
    """What the values of a history may be, and whether they are amounts or hold at their moment.

    With `rows_are_days` each row is of its whole local day.
    """

    least: float
    most: float
    are_amounts: bool
    rows_are_days: bool = False


class SeriesFileRefused(Refusal):
    """A file of a figure's history cannot be read; says which column and row."""


def read_series(path: Path, *, time: str, value: str) -> HourlySeries:
    """Means by the hour of the column `value` at the moments of the column `time`.

    Moments are ISO 8601 (UTC where they name no zone) or Unix seconds or milliseconds, in any order. A value that is
    empty, or one of NOT_OBSERVED, is none. `path` is plain or gzip. Refuses SeriesFileRefused.
    """
    known = [
        (row.seconds, row.value)
        for row in read_rows(path, time=time, value=value)
        if row.value is not None
    ]
    return _by_hour(path, known, (time, value), hourly_means)


def read_history(
    path: Path, *, time: str, value: str, zone: tzinfo, form: HistoryForm
) -> list[tuple[datetime, float]]:
    """The known hours of a figure: sums of amounts, else means of what held at each moment.

    Moments without a zone are of `zone`. No moment may come twice, no value lie outside of the form's. An hour of
    amounts of which one is empty is unknown: the others are a part of it. Rows a day apart or more say nothing of an
    hour, but where the form takes each for its whole day. Refuses SeriesFileRefused.
    """
    rows = read_rows(path, time=time, value=value, zone=zone)
    _check_history(rows, time, value, form)
    if form.rows_are_days:
        rows = list(_hours_of_days(rows, time, zone, form))
    else:
        _refuse_days(rows, time)
    known = [
        (row.seconds, nan if row.value is None else row.value)
        for row in rows
        if form.are_amounts or row.value is not None
    ]
    fold = hourly_sums if form.are_amounts else hourly_means
    series = _by_hour(path, known, (time, value), fold)
    return [
        (series.hour_at(place), float(amount))
        for place, amount in enumerate(series.values)
        if not isnan(amount)
    ]


def read_rows(path: Path, *, time: str, value: str, zone: tzinfo = UTC) -> list[SeriesRow]:
    """Every row with a moment; its value is None where the cell says none. Refuses SeriesFileRefused."""
    try:
        with _open_text(path) as text:
            return [
                SeriesRow(
                    row,
                    _read_moment(cells[0], time, row, zone),
                    None if cells[1].lower() in NOT_OBSERVED else _read_value(cells[1], value, row),
                )
                for row, cells in _cells(text, time, value)
                if cells[0] or cells[1]
            ]
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as broken:
        raise SeriesFileRefused("", f"{path.name} cannot be read: {broken}") from broken


def _check_history(rows: Sequence[SeriesRow], time: str, value: str, form: HistoryForm) -> None:
    first_row: dict[float, int] = {}
    for row in rows:
        before = first_row.setdefault(row.seconds, row.number)
        if before != row.number:
            raise SeriesFileRefused(
                time,
                f"row {row.number}: this moment is in row {before} already; a file is of one series",
            )
        if row.value is not None and row.value < form.least:
            raise SeriesFileRefused(
                value, f"row {row.number}: {row.value:g} is below {form.least:g}"
            )
        if row.value is not None and row.value > form.most:
            raise SeriesFileRefused(
                value, f"row {row.number}: {row.value:g} is above {form.most:g}"
            )


def _refuse_days(rows: Sequence[SeriesRow], time: str) -> None:
    """Three rows or more, of which no two lie within a day: with clocks turned, within 23 hours."""
    ordered = sorted(rows, key=lambda row: row.seconds)
    gaps = [later.seconds - row.seconds for row, later in pairwise(ordered)]
    if len(gaps) > 1 and min(gaps) >= LEAST_DAY_SECONDS:
        raise SeriesFileRefused(
            time,
            f"row {ordered[1].number} is {gaps[0] / HOUR_SECONDS:g} hours after row {ordered[0].number}, and no two rows are"
            " closer: history is by the hour; with --rows days each row is its whole day, the same in all its hours",
        )


def _hours_of_days(
    rows: Sequence[SeriesRow], time: str, zone: tzinfo, form: HistoryForm
) -> Iterator[SeriesRow]:
    """Each hour of each row's day: of amounts an even share, else the value."""
    first_row: dict[date, int] = {}
    for row in rows:
        day = datetime.fromtimestamp(row.seconds, zone).date()
        before = first_row.setdefault(day, row.number)
        if before != row.number:
            raise SeriesFileRefused(
                time, f"row {row.number}: {day} is in row {before} already; a row is a whole day"
            )
        begin, end = (
            datetime.combine(each, clock.min, zone).timestamp()
            for each in (day, day + timedelta(days=1))
        )
        hours = range(round((end - begin) / HOUR_SECONDS))
        share = len(hours) if form.are_amounts else 1
        for hour in hours:
            amount = None if row.value is None else row.value / share
            yield SeriesRow(row.number, begin + hour * HOUR_SECONDS, amount)


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
    first_line = text.readline()
    separator = _separator_of(first_line, time, value)
    header = _names_in(first_line, separator)
    for column in (time, value):
        if column not in header:
            there = f"there are {', '.join(header)}" if any(header) else "the first line is empty"
            raise SeriesFileRefused(column, f"there is no such column; {there}")
    places = header.index(time), header.index(value)
    rows = csv.reader(text, delimiter=separator)
    for cells in rows:
        if not cells:
            continue
        number = rows.line_num + 1
        if len(cells) <= max(places):
            column = time if len(cells) <= places[0] else value
            raise SeriesFileRefused(column, f"row {number} ends before this column")
        yield number, (cells[places[0]].strip(), cells[places[1]].strip())


def _separator_of(first_line: str, time: str, value: str) -> str:
    """The one by which both columns are there; a comma where by none."""
    return next(
        (each for each in SEPARATORS if {time, value} <= {*_names_in(first_line, each)}), ","
    )


def _names_in(first_line: str, separator: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([first_line], delimiter=separator), [])]


def _read_moment(text: str, column: str, row: int, zone: tzinfo) -> float:
    # Eight digits are a day: as seconds they would be of 1973 at the latest.
    number = None if len(text) == len("20260302") and text.isdigit() else _number_in(text)
    if number is not None:
        seconds = number / 1_000 if number >= MILLISECONDS_FROM else number
        if 0 <= seconds < LATEST_SECONDS:
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
        comma = "; write 12.5, not 12,5 or 1,250" if "," in text else ""
        raise SeriesFileRefused(column, f"row {row}: {text!r} is no number{comma}")
    return number


def _number_in(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
