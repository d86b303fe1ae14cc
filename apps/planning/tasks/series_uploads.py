"""Works on uploaded histories: a look at all of a file, or its import, at once when it is read."""

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice, pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from apps.accounts.queries import organisation, supported_zones
from apps.economics.hours import HOUR
from apps.economics.refusal import Refusal
from apps.files import PlaceUnreachable
from apps.files.stopping import STOP, WorkerStops, refuse_to_go_on, stopping_between_rows
from apps.planning.actions import series_uploads
from apps.planning.actions.series_uploads import ClaimedSeries, RowsRead
from apps.planning.providers.series_file import (
    SeriesColumns,
    SeriesRow,
    SeriesRowRefused,
    column_names,
    scan_rows,
)
from apps.planning.providers.series_history import (
    HistoryForm,
    ReadHistory,
    are_a_day_apart,
    history_form,
    read_what_can,
)
from apps.planning.queries.history_units import MOST_AMOUNT, UnitUnknown, factor_of, units_of
from apps.planning.queries.series import SeriesKey
from apps.planning.queries.series_imports import hours_compared
from apps.uploads.files import (
    STOPPED,
    forget_stored,
    storable_text,
    stored_path,
    why_away,
    why_unread,
)
from apps.uploads.imports import RejectedFact

log = logging.getLogger(__name__)

ROWS_TRIED = 100
MOST_COLUMNS = 100
MOST_GAPS = 1_000
TIMES = ("time", "timestamp", "date", "day", "hour", "ts", "datetime", "ds")
VALUES = ("value", "y", "gpus", "gpuhours", "cost", "spend", "amount", "requests", "tokens")


class SeriesDiscarded(Exception):
    """Somebody discarded the file while it was read, or wants it read in another way."""


def work_on_series() -> None:
    """Take up one file after the other until none is due."""
    with stopping_between_rows():
        while not STOP.is_posted() and _work_on_next():
            pass


def _work_on_next() -> bool:
    """Take up one file; False: none is due."""
    claimed = series_uploads.claim_series_file(at=timezone.now())
    if claimed is None:
        return False
    try:
        with stored_path(claimed.stored_as) as path:
            (_import_file if claimed.is_confirmed else _preview_file)(claimed, path)
    except SeriesDiscarded:
        log.info("series_discarded import=%s", claimed.id)
    except WorkerStops:
        series_uploads.release_series_import(import_id=claimed.id, reason=STOPPED, at=None)
    except PlaceUnreachable as away:
        log.warning("series_file_away import=%s reason=%s", claimed.id, away)
        series_uploads.release_series_import(
            import_id=claimed.id, reason=why_away(away), at=timezone.now()
        )
    except (Refusal, OSError) as broken:
        log.warning("series_broken_off import=%s reason=%s", claimed.id, type(broken).__name__)
        failure = _failure_words(broken, claimed)
        series_uploads.break_off_series_import(
            import_id=claimed.id, failure=failure, at=timezone.now()
        )
    return True


def forget_series_files() -> None:
    """Delete the files of imports that are over."""
    forget_stored(
        series_uploads.series_files_to_forget(),
        lambda import_id: series_uploads.forget_series_file(import_id=import_id),
        at=timezone.now(),
    )


def _preview_file(claimed: ClaimedSeries, path: Path) -> None:
    names = [storable_text(name) for name in column_names(path)[:MOST_COLUMNS]]
    reading = dict(claimed.asked) or _proposed_reading(names, path)
    at, read = timezone.now(), RowsRead(0)
    try:
        history = _read_file(claimed, path, reading, at)
        trial = _trial_of(history, reading)
        read = RowsRead(history.rows, _rejected_facts(history.rejected))
    except Refusal as refused:
        trial = {"refused": _failure_words(refused, claimed), "hours": 0}
    preview = {"trial": trial, "columns": names}
    series_uploads.record_series_preview(
        import_id=claimed.id, reading=reading, preview=preview, read=read
    )


def _import_file(claimed: ClaimedSeries, path: Path) -> None:
    at = timezone.now()
    history = _read_file(claimed, path, claimed.asked, at)
    series, factor = _requested_series(claimed.asked), _requested_factor(claimed.asked)
    series_uploads.finish_series_import(
        import_id=claimed.id,
        series=series,
        points=[(hour, value * factor) for hour, value in history.points],
        read=RowsRead(history.rows, _rejected_facts(history.rejected)),
        at=timezone.now(),
    )


def _read_file(
    claimed: ClaimedSeries, path: Path, reading: Mapping[str, Any], at: datetime
) -> ReadHistory:
    """All of it, as it was asked; whoever reads says so now and then. Refuses SeriesDiscarded."""

    def watch(read_bytes: int) -> None:
        refuse_to_go_on()
        if not series_uploads.still_wanted(
            claimed=claimed, read_bytes=read_bytes, at=timezone.now()
        ):
            raise SeriesDiscarded

    watch(0)
    return read_what_can(
        path,
        columns=_requested_columns(reading),
        form=_requested_form(reading),
        until=at,
        watch=watch,
    )


def _requested_columns(reading: Mapping[str, Any]) -> SeriesColumns:
    if reading["zone"] not in supported_zones():
        raise Refusal("zone", f"{reading['zone']!r} is no time zone such as Europe/Berlin")
    return SeriesColumns(reading["time"], reading["value"], ZoneInfo(reading["zone"]))


def _requested_series(reading: Mapping[str, Any]) -> SeriesKey:
    return SeriesKey(*reading["series"])


def _requested_factor(reading: Mapping[str, Any]) -> float:
    """How much of the series' own unit a value's is."""
    return factor_of(
        _requested_series(reading).measure, _requested_unit(reading), organisation().currency
    )


def _requested_unit(reading: Mapping[str, Any]) -> str:
    """Return the unit that values are in. Refuses a measure that has several units, of which none was said."""
    units = units_of(_requested_series(reading).measure, organisation().currency)
    if not reading["unit"] and len(units) > 1:
        raise UnitUnknown("unit", f"say what a value is in, one of {', '.join(units)}")
    return reading["unit"] or next(iter(units))


def _requested_form(reading: Mapping[str, Any]) -> HistoryForm:
    """Return what values may be; before anybody said of what they are, any number."""
    rows_are_days = reading["rows"] == "days"
    if not reading["series"]:
        return HistoryForm(
            -MOST_AMOUNT, MOST_AMOUNT, False, rows_are_days
        )  # by place, as its fields
    _requested_factor(reading)
    measure = _requested_series(reading).measure
    return history_form(measure, _requested_unit(reading), rows_are_days=rows_are_days)


def _proposed_reading(names: Sequence[str], path: Path) -> dict[str, object]:
    """How the file is probably read; whose history it is a person says."""
    time = _likely_column(names, TIMES, names[0])
    other_names = [name for name in names if name != time]
    value = _likely_column(other_names, VALUES, other_names[-1] if other_names else time)
    scanned = islice(scan_rows(path, SeriesColumns(time, value)), ROWS_TRIED)
    try:
        rows = [row for row in scanned if isinstance(row, SeriesRow)]
    except Refusal:
        rows = []
    by_day = are_a_day_apart(rows)
    zone = organisation().zone if by_day else "UTC"
    return {
        "series": [],
        "time": time,
        "value": value,
        "unit": "",
        "zone": zone,
        "rows": "days" if by_day else "moments",
    }


def _likely_column(names: Sequence[str], likely: Sequence[str], otherwise: str) -> str:
    bare = {"".join(filter(str.isalnum, name.lower())): name for name in reversed(names)}
    return next((bare[candidate] for candidate in likely if candidate in bare), otherwise)


def _trial_of(history: ReadHistory, reading: Mapping[str, Any]) -> dict[str, object]:
    """Return what would be imported: its span, what an hour comes to, gaps that stay unknown, and the first rows."""
    hours = [hour for hour, _ in history.points]
    gaps = [
        (earlier + HOUR, (later - earlier) // HOUR - 1)
        for earlier, later in pairwise(hours)
        if later - earlier > HOUR
    ]
    trial: dict[str, object] = {
        "refused": "",
        "hours": 0,
        "from": hours[0].isoformat(),
        "until": (hours[-1] + HOUR).isoformat(),
        "known": len(hours),
        "unknown": sum(count for _, count in gaps),
        "gaps": [[begin.isoformat(), count] for begin, count in gaps[:MOST_GAPS]],
        "gap_count": len(gaps),
        "first_rows": [
            [row.number, datetime.fromtimestamp(row.seconds, UTC).isoformat(), row.value]
            for row in history.first
        ],
    }
    if not reading["series"]:
        return trial
    factor = _requested_factor(reading)
    points = [(hour, value * factor) for hour, value in history.points]
    values = [value for _, value in points]
    added, changed = hours_compared(_requested_series(reading), points)
    sizes = {"least": min(values), "most": max(values), "mean": sum(values) / len(values)}
    return trial | sizes | {"hours": len(hours), "added": added, "changed": changed}


def _rejected_facts(rejected: Sequence[SeriesRowRefused]) -> list[RejectedFact]:
    return [RejectedFact(row.number, row.field, row.reason) for row in rejected]


def _failure_words(broken: Exception, claimed: ClaimedSeries) -> str:
    """Under the name that its owner knows it by, not the one it lies under."""
    return why_unread(broken).replace(claimed.stored_as, claimed.name)
