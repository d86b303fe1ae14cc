"""How a file of a history is read: the entries that say it, and what came of a look at it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict

from apps.accounts.queries import supported_zones
from apps.console.kit.change import ChangeForm
from apps.console.kit.entries import ParsedField, PickField
from apps.console.kit.request import Context
from apps.planning.queries.history_units import units_of
from apps.planning.queries.series import DIMENSIONS_OF, SeriesKey, possible_series, series_title
from apps.planning.queries.series_imports import SeriesImportFact

ROWS = {
    "moments": "a moment; an hour is made of its rows",
    "days": "its whole day, the same in all its hours",
}
UNIT_WORDS = {
    "gpus": "GPUs held at the moment",
    "gpu_hours": "GPU-hours",
    "gpu_seconds": "GPU-seconds",
    "requests": "requests",
    "tokens": "tokens",
    "thousand_tokens": "thousands of tokens",
    "million_tokens": "millions of tokens",
    "hours": "hours of waiting",
    "minutes": "minutes of waiting",
    "seconds": "seconds of waiting",
}


@dataclass(frozen=True, slots=True)
class HistoryGap:
    """Hours between others that the file says nothing of."""

    begins_at: datetime
    hours: int


@dataclass(frozen=True, slots=True)
class FirstRow:
    """A row as it is read."""

    line: int
    at: datetime
    value: float | None


@dataclass(frozen=True, slots=True)
class SeriesTrial:
    """The findings of a look at the whole file; `hours` would be imported: none before somebody said of which series.

    `known` hours lie between `begins_at` and `ends_at`, `unknown` ones in `gap_count` gaps. `least`, `mean` and `most` are
    of an hour, in the series' own unit. `added` no file brought before, of `changed` another value.
    """

    refused: str = ""
    hours: int = 0
    begins_at: datetime | None = None
    ends_at: datetime | None = None
    known: int = 0
    unknown: int = 0
    gap_count: int = 0
    gaps: tuple[HistoryGap, ...] = ()
    first_rows: tuple[FirstRow, ...] = ()
    least: float = 0.0
    mean: float = 0.0
    most: float = 0.0
    added: int = 0
    changed: int = 0


def trial_of_series(fact: SeriesImportFact) -> SeriesTrial:
    """Return what the last look at a history found, as it lies in the table; nothing where nobody looked yet."""
    stored = fact.seen.get("trial")
    if not isinstance(stored, dict):
        return SeriesTrial()
    if stored["refused"]:
        return SeriesTrial(refused=stored["refused"])
    numbers = (
        "hours",
        "known",
        "unknown",
        "gap_count",
        "added",
        "changed",
        "least",
        "mean",
        "most",
    )
    return SeriesTrial(
        begins_at=datetime.fromisoformat(stored["from"]),
        ends_at=datetime.fromisoformat(stored["until"]),
        gaps=tuple(HistoryGap(datetime.fromisoformat(at), hours) for at, hours in stored["gaps"]),
        first_rows=tuple(
            FirstRow(line, datetime.fromisoformat(at), value)
            for line, at, value in stored["first_rows"]
        ),
        **{name: stored.get(name, 0) for name in numbers},
    )


def fingerprint_of(fact: SeriesImportFact) -> str:
    """Stands for what was shown of a file: how it was read, and what came of that."""
    shown = json.dumps([fact.asked, fact.seen, fact.rejected], sort_keys=True)
    return hashlib.sha256(shown.encode()).hexdigest()[:16]


def requested_series(fact: SeriesImportFact) -> SeriesKey | None:
    """The series that the file is said to be of."""
    series_parts = fact.asked.get("series")
    return SeriesKey(*series_parts) if isinstance(series_parts, list) and series_parts else None


def reading_form(
    fact: SeriesImportFact, params: QueryDict, context: Context, *, is_sent: bool = False
) -> ChangeForm:
    """Return the form of what the file is of and how it is read, as it was last said or as it is proposed."""
    initial = {name: str(value) for name, value in fact.asked.items() if name != "series"}
    series = requested_series(fact)
    columns = _column_picks(fact)
    fields = {
        "series": PickField(
            "It is the history of",
            {"": "–"} | _series_picks(),
            "pools, teams, services and models come from what is on record",
            _series_id(series) if series else "",
        ),
        "unit": PickField(
            "A value is in",
            {"": "–"} | _unit_picks(context.currency),
            "what holds at a moment is averaged over an hour, amounts are summed",
            initial["unit"],
        ),
        "time": PickField("Column of moments", columns, initial=initial["time"]),
        "value": PickField("Column of values", columns, initial=initial["value"]),
        "rows": PickField("A row is of", ROWS, initial=initial["rows"]),
        "zone": ParsedField(
            "Time zone", _zone_entered, "of moments that name none", initial=initial["zone"]
        ),
    }
    return ChangeForm(params, context, more=fields, is_sent=is_sent)


def reading_options(entered: Mapping[str, Any]) -> dict[str, object]:
    """How the file is to be read, as a look takes it."""
    series = entered["series"].split(":", 2) if entered["series"] else []
    return {**entered, "series": series}


def _column_picks(fact: SeriesImportFact) -> dict[str, str]:
    names = fact.seen.get("columns")
    return {str(name): str(name) for name in names if name} if isinstance(names, list) else {}


def _series_id(series: SeriesKey) -> str:
    return f"{series.measure}:{series.dimension}:{series.key}"


def _series_picks() -> dict[str, str]:
    """In the order of measures, the whole before its parts."""
    ordered: Sequence[str] = tuple(DIMENSIONS_OF)
    titles = {series: series_title(series) for series in possible_series()}
    return {
        _series_id(series): title
        for series, title in sorted(
            titles.items(),
            key=lambda pair: (
                ordered.index(pair[0].measure),
                pair[0].dimension,
                pair[1].casefold(),
            ),
        )
    }


def _unit_picks(currency: str) -> dict[str, str]:
    units = [unit for measure in DIMENSIONS_OF for unit in units_of(measure, currency)]
    return {unit: UNIT_WORDS.get(unit, unit) for unit in units}


def _zone_entered(text: str) -> str:
    zone = text or "UTC"
    if zone not in supported_zones():
        raise ValueError(f"{zone} is no time zone such as Europe/Berlin.")
    return zone
