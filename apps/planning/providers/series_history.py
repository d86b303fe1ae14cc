"""The known hours of a figure's history: rows of a file folded by the hour, and those that cannot be taken."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from datetime import time as clock
from itertools import pairwise
from math import inf, isnan, nan
from pathlib import Path
from typing import NamedTuple

from apps.economics.forecast.series import (
    HOUR_SECONDS,
    MOST_HOURS,
    hourly_means,
    hourly_sums,
)
from apps.planning.providers.series_file import (
    SeriesColumns,
    SeriesFileRefused,
    SeriesRow,
    SeriesRowRefused,
    scan_rows,
)
from apps.planning.queries.history_units import HELD_UNITS, most_of_unit
from apps.planning.queries.series import SPEND

LEAST_DAY_SECONDS = 23 * HOUR_SECONDS
FIRST_ROWS = 10
MOST_ROWS = 1_000_000
"""Of a file that is uploaded: its rows are held in memory. It is two years by the minute."""


class HistoryForm(NamedTuple):
    """The form of a history's values: what they may be, and whether they are amounts or hold at their moment.

    With `rows_are_days` each row is of its whole local day.
    """

    least: float
    most: float
    are_amounts: bool
    rows_are_days: bool = False


class ReadHistory(NamedTuple):
    """A history as far as a file has it: its known hours, its first rows as they are read, and of how many rows.

    `rejected` are the rows that cannot be taken: the hour of one whose moment is known is not among the points.
    """

    points: list[tuple[datetime, float]]
    first: list[SeriesRow]
    rows: int
    rejected: list[SeriesRowRefused]


class RowNotOver(SeriesRowRefused):
    """A row of an hour, or of a day, that is not over yet: it takes nothing from those before."""


def history_form(measure: str, unit: str, *, rows_are_days: bool) -> HistoryForm:
    """Return what values of this unit may be, of a measure's history."""
    most = most_of_unit(measure, unit)
    return HistoryForm(
        least=-most if measure == SPEND else 0.0,
        most=most,
        are_amounts=unit not in HELD_UNITS,
        rows_are_days=rows_are_days,
    )


def read_history(
    path: Path, *, columns: SeriesColumns, form: HistoryForm
) -> list[tuple[datetime, float]]:
    """The known hours of a figure: sums of amounts, else means of what held at each moment.

    No moment may come twice, no value lie outside of the form's. An hour of
    amounts of which one is empty is unknown: the others are a part of it. Rows a day apart or more say nothing of an
    hour, but where the form takes each for its whole day. Refuses SeriesFileRefused, by the first row that is wrong.
    """

    def refuse(row: SeriesRowRefused) -> None:
        raise row

    rows = list(_checked_rows(scan_rows(path, columns), columns, form, inf, refuse))
    return _observed_hours(rows, columns, form)


def read_what_can(
    path: Path,
    *,
    columns: SeriesColumns,
    form: HistoryForm,
    until: datetime,
    watch: Callable[[int], None],
) -> ReadHistory:
    """Read the history of a file of which rows may be wrong: their hours are unknown, those of the others known.

    Hours that are not over `until` then are rejected. Where the moment of a row cannot be read and an hour has several
    rows, no sum is known to be whole. Refuses SeriesFileRefused: that, and what no row is to blame for.
    """
    rejected: list[SeriesRowRefused] = []
    scanned = _at_most(MOST_ROWS, scan_rows(path, columns, watch))
    rows = list(_checked_rows(scanned, columns, form, until.timestamp(), rejected.append))
    taken = [row for row in rows if not _is_spoiled(row)]
    if not taken and rejected:
        raise _none_taken("none of its rows can be taken", rejected[0])
    _refuse_unplaced(rows, rejected, form)
    points = _observed_hours(rows, columns, form)
    if not points and rejected:
        raise _none_taken("no hour of it has rows that are all right", rejected[0])
    return ReadHistory(points, taken[:FIRST_ROWS], len(taken) + len(rejected), rejected)


def _none_taken(reason: str, first: SeriesRowRefused) -> SeriesFileRefused:
    return SeriesFileRefused(
        first.field, f"{reason}; the first is row {first.number}: {first.reason}"
    )


def _at_most(
    most: int, rows: Iterator[SeriesRow | SeriesRowRefused]
) -> Iterator[SeriesRow | SeriesRowRefused]:
    for count, row in enumerate(rows, start=1):
        if count > most:
            raise SeriesFileRefused(
                "", f"the file has over {most:,} rows: send it by the hour, or in several files"
            )
        yield row


def _checked_rows(
    scanned: Iterator[SeriesRow | SeriesRowRefused],
    columns: SeriesColumns,
    form: HistoryForm,
    until: float,
    reject: Callable[[SeriesRowRefused], None],
) -> Iterator[SeriesRow]:
    """Rows that can be taken; in the place of a rejected one whose moment is known, one whose value is NaN."""
    first_row: dict[float | date, int] = {}
    for row in scanned:
        refused = row if isinstance(row, SeriesRowRefused) else None
        if isinstance(row, SeriesRow):
            refused = (
                _not_over(row, columns, form, until)
                or _outside(row, columns, form)
                or _twice(row, columns, form, first_row)
            )
            if refused is None:
                yield row
                continue
        if refused is not None:
            reject(refused)
            if refused.seconds is not None:
                yield SeriesRow(refused.number, refused.seconds, nan)


def _not_over(
    row: SeriesRow, columns: SeriesColumns, form: HistoryForm, until: float
) -> RowNotOver | None:
    end = (row.seconds // HOUR_SECONDS + 1) * HOUR_SECONDS
    if form.rows_are_days:
        _, end = _ends_of_day(_day_of(row, columns), columns)
    if end <= until:
        return None
    what = "day" if form.rows_are_days else "hour"
    return RowNotOver(
        columns.time, row.number, f"its {what} is not over yet: history ends before it"
    )


def _outside(row: SeriesRow, columns: SeriesColumns, form: HistoryForm) -> SeriesRowRefused | None:
    if row.value is None or form.least <= row.value <= form.most:
        return None
    bound = f"below {form.least:g}" if row.value < form.least else f"above {form.most:g}"
    return SeriesRowRefused(columns.value, row.number, f"{row.value:g} is {bound}", row.seconds)


def _twice(
    row: SeriesRow, columns: SeriesColumns, form: HistoryForm, first_row: dict[float | date, int]
) -> SeriesRowRefused | None:
    key = _day_of(row, columns) if form.rows_are_days else row.seconds
    before = first_row.setdefault(key, row.number)
    if before == row.number:
        return None
    message = f"this moment is in row {before} already; a file is of one series"
    if form.rows_are_days:
        message = f"{key} is in row {before} already; a row is a whole day"
    return SeriesRowRefused(columns.time, row.number, message, row.seconds)


def _refuse_unplaced(
    rows: Sequence[SeriesRow], rejected: Sequence[SeriesRowRefused], form: HistoryForm
) -> None:
    """Of amounts of which an hour has several, one without a moment may be missing from any sum."""
    lost = [row for row in rejected if row.seconds is None and not isinstance(row, RowNotOver)]
    if not lost or not form.are_amounts or form.rows_are_days:
        return
    if len({row.seconds // HOUR_SECONDS for row in rows}) < len({row.seconds for row in rows}):
        raise SeriesFileRefused(
            lost[0].field,
            f"row {lost[0].number}: {lost[0].reason}; hours here are sums of several rows, and any may lack this one: "
            "correct it first",
        )


def _observed_hours(
    rows: list[SeriesRow], columns: SeriesColumns, form: HistoryForm
) -> list[tuple[datetime, float]]:
    if form.rows_are_days:
        rows = list(_hours_of_days(rows, columns, form))
    else:
        _refuse_days(rows, columns)
    known_rows = [row for row in rows if form.are_amounts or row.value is not None]
    if all(row.value is None or isnan(row.value) for row in known_rows):
        raise SeriesFileRefused(columns.value, "the file has no value in this column")
    _refuse_far(known_rows, columns)
    fold = hourly_sums if form.are_amounts else hourly_means
    series = fold(
        [row.seconds for row in known_rows],
        [nan if row.value is None else row.value for row in known_rows],
    )
    return [
        (series.hour_at(place), float(amount))
        for place, amount in enumerate(series.values)
        if not isnan(amount)
    ]


def _refuse_far(rows: Sequence[SeriesRow], columns: SeriesColumns) -> None:
    first, last = (pick(rows, key=lambda row: row.seconds) for pick in (min, max))
    hours = (last.seconds - first.seconds) / HOUR_SECONDS
    if hours >= MOST_HOURS:
        raise SeriesFileRefused(
            columns.time,
            f"its moments are {hours / 8_766:,.0f} years apart, from row {first.number} to row {last.number}; "
            "ten are the most",
        )


def _refuse_days(rows: Sequence[SeriesRow], columns: SeriesColumns) -> None:
    """Three rows or more, of which no two lie within a day: with clocks turned, within 23 hours."""
    ordered = sorted((row for row in rows if not _is_spoiled(row)), key=lambda row: row.seconds)
    if not are_a_day_apart(ordered):
        return
    hours = (ordered[1].seconds - ordered[0].seconds) / HOUR_SECONDS
    raise SeriesFileRefused(
        columns.time,
        f"row {ordered[1].number} is {hours:g} hours after row {ordered[0].number}, and no two rows are closer: history is "
        "by the hour; where each row is its whole day, the same in all its hours, say so (--rows days)",
    )


def are_a_day_apart(rows: Sequence[SeriesRow]) -> bool:
    """Whether rows, three or more, may each be of a whole day: no two of them are closer."""
    seconds = sorted(row.seconds for row in rows)
    gaps = [later - earlier for earlier, later in pairwise(seconds)]
    return len(gaps) > 1 and min(gaps) >= LEAST_DAY_SECONDS


def _hours_of_days(
    rows: Sequence[SeriesRow], columns: SeriesColumns, form: HistoryForm
) -> Iterator[SeriesRow]:
    """Each hour of each row's day: of amounts an even share, else the value."""
    for row in rows:
        begin, end = _ends_of_day(_day_of(row, columns), columns)
        hours = range(round((end - begin) / HOUR_SECONDS))
        share = len(hours) if form.are_amounts else 1
        for hour in hours:
            amount = None if row.value is None else row.value / share
            yield SeriesRow(row.number, begin + hour * HOUR_SECONDS, amount)


def _day_of(row: SeriesRow, columns: SeriesColumns) -> date:
    return datetime.fromtimestamp(row.seconds, columns.zone).date()


def _ends_of_day(day: date, columns: SeriesColumns) -> tuple[float, float]:
    first, end = (
        datetime.combine(boundary_day, clock.min, columns.zone).timestamp()
        for boundary_day in (day, day + timedelta(days=1))
    )
    return first, end


def _is_spoiled(row: SeriesRow) -> bool:
    """Whether it stands for one that was rejected."""
    return row.value is not None and isnan(row.value)
