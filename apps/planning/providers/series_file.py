"""The history of a figure from a file: a column of moments and a column of values, CSV (also packed) or Parquet."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, tzinfo
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from apps.economics.forecast.series import HourlySeries, SpanTooLong, hourly_means
from apps.economics.refusal import Refusal
from apps.files.limits import UNPACKED, BodyKind
from apps.files.lines import LONGEST_LINE, MOST_COLUMNS, CsvRows, FileUnreadable, bounded_lines
from apps.files.parquet import ParquetRefused, open_parquet
from apps.files.trouble import AWAY
from apps.files.unpacking import PARQUET_MAGIC, begins_with, open_text

LATEST_SECONDS = datetime(3000, 1, 1, tzinfo=UTC).timestamp()
MILLISECONDS_FROM = 1e11
"""A number from here on is of milliseconds: of 1973 at the earliest; as seconds it would be of the year 5138."""
SEPARATORS = ",;\t|"
NOT_OBSERVED = frozenset({"", "nan", "na", "n/a", "null", "none"})
"""What a cell without a value says, in small letters."""
MOMENT_SIGNS = frozenset("0123456789-+:., TtZzW")
MOST_TEXT = UNPACKED[BodyKind.SERIES]
LONGEST_SHOWN = 60
"""Of a cell, in what is said of it."""
LONGEST_LIST = 1_000
ROWS_AT_ONCE = 5_000
BROKEN = (OSError, UnicodeDecodeError, csv.Error, FileUnreadable)


class SeriesRow(NamedTuple):
    """A row's number, its moment in Unix seconds, and its value; None where the cell says none."""

    number: int
    seconds: float
    value: float | None


class SeriesColumns(NamedTuple):
    """The names of the columns of moments and values, and the zone of moments that name none."""

    time: str
    value: str
    zone: tzinfo = UTC


class SeriesFileRefused(Refusal):
    """A file of a figure's history cannot be read; says which column and row."""


class SeriesRowRefused(SeriesFileRefused):
    """One row of it cannot be taken; `seconds` is its moment, None where that cannot be read."""

    def __init__(self, column: str, number: int, reason: str, seconds: float | None = None) -> None:
        super().__init__(column, f"row {number}: {reason}")
        self.number, self.reason, self.seconds = number, reason, seconds


class SeriesTable(NamedTuple):
    """An open file: its columns' names under each separator that may be its own, and its rows from there on.

    `rows_of` takes a separator and the places of the two columns, and answers the number of each row and its cells.
    """

    names: Mapping[str, Sequence[str]]
    rows_of: Callable[[str, tuple[int, int]], Iterator[tuple[int, Sequence[str]]]]
    source: BinaryIO


def read_series(path: Path, *, time: str, value: str) -> HourlySeries:
    """Means by the hour of the column `value` at the moments of the column `time`.

    Moments are ISO 8601 (UTC where they name no zone) or Unix seconds or milliseconds, in any order. A value that is
    empty, or one of NOT_OBSERVED, is none. `path` is plain, gzip, a zip of one file, or Parquet. Refuses SeriesFileRefused.
    """
    points = []
    for row in scan_rows(path, SeriesColumns(time, value)):
        if isinstance(row, SeriesRowRefused):
            raise row
        if row.value is not None:
            points.append((row.seconds, row.value))
    if not points:
        raise SeriesFileRefused(value, f"{path.name} has no value in this column")
    try:
        return hourly_means([seconds for seconds, _ in points], [amount for _, amount in points])
    except SpanTooLong as far:
        raise SeriesFileRefused(time, far.message) from far


def column_names(path: Path) -> list[str]:
    """Return the names of the file's columns, under the separator that finds most. Refuses SeriesFileRefused."""
    with _refuse_broken(path), open_table(path) as table:
        names = max(table.names.values(), key=len)
    if not any(names):
        raise SeriesFileRefused("", "the file is empty, or its first line is")
    return list(names)


def scan_rows(
    path: Path, columns: SeriesColumns, watch: Callable[[int], None] = lambda _: None
) -> Iterator[SeriesRow | SeriesRowRefused]:
    """Every row with a moment, and in the place of one that cannot be read why.

    Of its bytes `watch` is told how many are read, now and then. Refuses SeriesFileRefused.
    """
    with _refuse_broken(path) as place, open_table(path) as table:
        separator, places = _places_of(table, columns)
        for number, cells in table.rows_of(separator, places):
            place.row = number
            if number % ROWS_AT_ONCE == 0:
                watch(table.source.tell())
            row = _read_row(number, cells, places, columns)
            if row is not None:
                yield row


@contextmanager
def open_table(path: Path) -> Iterator[SeriesTable]:
    """Open a file that is plain, packed or Parquet."""
    with path.open("rb") as source:
        if begins_with(source, PARQUET_MAGIC):
            yield _parquet_table(path, source)
            return
        with open_text(source, most_bytes=MOST_TEXT) as text:
            yield _csv_table(text, source)


class _Place:
    """The last row that was read."""

    row = 0


@contextmanager
def _refuse_broken(path: Path) -> Iterator[_Place]:
    place = _Place()
    try:
        yield place
    except BROKEN as broken:
        if isinstance(broken, OSError) and broken.errno in AWAY:
            # Nothing is wrong with the file: the place where it lies went away.
            raise
        reason = str(broken)
        if isinstance(broken, UnicodeDecodeError):
            reason = "it is no text in UTF-8; save it as CSV in UTF-8"
        where = f" after row {place.row}" if place.row else ""
        raise SeriesFileRefused("", f"{path.name} cannot be read{where}: {reason}") from broken


def _csv_table(text: io.TextIOWrapper, source: BinaryIO) -> SeriesTable:
    first_line = text.readline(LONGEST_LINE)
    names = {separator: _names_in(first_line, separator) for separator in SEPARATORS}
    if max(map(len, names.values())) > MOST_COLUMNS:
        raise SeriesFileRefused("", f"the file has more than {MOST_COLUMNS:,} columns")

    def rows_of(separator: str, _: tuple[int, int]) -> Iterator[tuple[int, Sequence[str]]]:
        rows = CsvRows(bounded_lines(text, MOST_TEXT), separator)
        for cells in rows:
            yield rows.line_num + 1, cells

    return SeriesTable(names, rows_of, source)


def _parquet_table(path: Path, source: BinaryIO) -> SeriesTable:
    try:
        with open_parquet(path) as table:
            names = table.names
    except ParquetRefused as refused:
        raise SeriesFileRefused("", f"the file is no Parquet that can be read: {refused}") from None

    def rows_of(_: str, places: tuple[int, int]) -> Iterator[tuple[int, Sequence[str]]]:
        number, wanted = 0, [names[place] for place in places]
        width = max(places) + 1
        try:
            with open_parquet(path, sorted(set(wanted))) as table:
                for batch in table.batches:
                    columns = {name: _python_values(batch.column(name)) for name in wanted}
                    for pair in zip(*(columns[name] for name in wanted), strict=True):
                        number += 1
                        cells = [""] * width
                        for place, cell in zip(places, pair, strict=True):
                            cells[place] = _text_of_cell(cell)
                        yield number, cells
        except (ValueError, OverflowError) as broken:
            raise SeriesFileRefused(
                "", f"the file cannot be read after row {number}: {broken}"
            ) from None

    return SeriesTable({"": names}, rows_of, source)


def _python_values(column: Any) -> list[object]:
    """Its cells; of moments no more than the microseconds that Python keeps."""
    from pyarrow import lib

    if isinstance(column.type, lib.TimestampType):
        column = column.cast(lib.timestamp("us", column.type.tz), safe=False)
    values: list[object] = column.to_pylist()
    return values


def _text_of_cell(cell: object) -> str:
    if cell is None:
        return ""
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def _places_of(table: SeriesTable, columns: SeriesColumns) -> tuple[str, tuple[int, int]]:
    """The separator by which both columns are there, and where they are; else refuses the one that is not."""
    wanted = (columns.time, columns.value)
    first = next(iter(table.names))
    separator = next(
        (candidate for candidate, names in table.names.items() if {*wanted} <= {*names}), first
    )
    header = list(table.names[separator])
    for column in wanted:
        if column not in header:
            there = ", ".join(header)[:LONGEST_LIST]
            there = f"there are {there}" if any(header) else "the first line is empty"
            raise SeriesFileRefused(column, f"there is no such column; {there}")
        if header.count(column) > 1:
            raise SeriesFileRefused(column, "several columns are called so")
    return separator, (header.index(columns.time), header.index(columns.value))


def _read_row(
    number: int, cells: Sequence[str], places: tuple[int, int], columns: SeriesColumns
) -> SeriesRow | SeriesRowRefused | None:
    """The row, or why it cannot be read; None where both cells are empty."""
    if not cells:
        return None
    try:
        if len(cells) <= max(places):
            column = columns.time if len(cells) <= places[0] else columns.value
            raise SeriesRowRefused(column, number, "ends before this column")
        moment, text = (cells[place].strip() for place in places)
        if not moment and not text:
            return None
        seconds = _read_moment(moment, columns, number)
        if text.lower() in NOT_OBSERVED:
            return SeriesRow(number, seconds, None)
        return SeriesRow(number, seconds, _read_value(text, columns, number, seconds))
    except SeriesRowRefused as refused:
        return refused


def _names_in(first_line: str, separator: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([first_line], delimiter=separator), [])]


def _read_moment(text: str, columns: SeriesColumns, row: int) -> float:
    # Eight digits are a day: as seconds they would be of 1973 at the latest.
    number = None if len(text) == len("20260302") and text.isdigit() else _number_in(text)
    if number is not None:
        seconds = number / 1_000 if number >= MILLISECONDS_FROM else number
        if 0 <= seconds < LATEST_SECONDS:
            return seconds
    try:
        # Between day and clock Python takes any sign, so that half of `2026-03-02;12,5` would be noon.
        moment = datetime.fromisoformat(text if MOMENT_SIGNS.issuperset(text) else "")
    except ValueError:
        raise SeriesRowRefused(
            columns.time,
            row,
            f"{text[:LONGEST_SHOWN]!r} is no moment such as 2026-03-02 10:00, and no Unix seconds",
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=columns.zone)
        if moment.utcoffset() != moment.replace(fold=1).utcoffset():
            raise SeriesRowRefused(
                columns.time,
                row,
                f"{text} is in the hour that {columns.zone} turns its clocks: name the offset",
            )
    seconds = moment.timestamp()
    if not 0 <= seconds < LATEST_SECONDS:
        raise SeriesRowRefused(columns.time, row, f"{text} is not from 1970 to 2999")
    return seconds


def _read_value(text: str, columns: SeriesColumns, row: int, seconds: float) -> float:
    number = _number_in(text)
    if number is None:
        comma = "; write 12.5, not 12,5 or 1,250" if "," in text else ""
        raise SeriesRowRefused(
            columns.value, row, f"{text[:LONGEST_SHOWN]!r} is no number{comma}", seconds
        )
    return number


def _number_in(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
