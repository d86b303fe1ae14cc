"""A run's report as JSON: every field checked by name, every size bounded."""

import math
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from apps.economics.hours import MILLISECOND, from_epoch_ms
from apps.workloads.actions.report_shapes import SCORE, RunReportIn, RunWindowIn
from apps.workloads.api.rows import TooManyRows
from apps.workloads.api.wire import BodyUnreadable, Fault, fault_of, time_faults
from apps.workloads.queries.run_fold_facts import LONGEST_WINDOW

MOST_REPORTS = 500

_REPORT = msgspec.json.Decoder(RunReportIn)
_EITHER = msgspec.json.Decoder(list[msgspec.Raw] | dict[str, msgspec.Raw])


class RunReportsUnreadable(BodyUnreadable):
    """A body that is neither a report nor a list of them, or a report that nothing is kept of."""

    noun = "report"


class TooManyRunReports(TooManyRows):
    """More reports at once than one transaction should hold."""


def reports_in(body: bytes) -> tuple[list[msgspec.Raw], bool]:
    """The reports of a body, each yet to be read; whether it is a list of them.

    Refuses RunReportsUnreadable and TooManyRunReports.
    """
    try:
        document = _EITHER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        raise RunReportsUnreadable(fault_of(str(refused))) from refused
    if isinstance(document, dict):
        return [msgspec.Raw(body)], False
    if len(document) > MOST_REPORTS:
        raise TooManyRunReports(len(document), "reports", MOST_REPORTS)
    return document, True


def read_report(raw: msgspec.Raw, *, at: datetime, row: int) -> RunReportIn | Fault:
    """Return what this JSON reports, received at `at`, or why it cannot be taken."""
    try:
        report = _REPORT.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        return fault_of(str(refused), row)
    for field, message in _report_faults(report, bytes(raw), at):
        return Fault(field, message, row)
    return report


def report_schema() -> dict[str, Any]:
    """A report as JSON schema, written out in one piece."""
    _, parts = msgspec.json.schema_components([RunReportIn], ref_template="{name}")
    report: dict[str, Any] = dict(parts["RunReportIn"])
    report["properties"]["windows"]["items"] = parts["RunWindowIn"]
    report["properties"]["events"]["items"] = parts["RunEventIn"]
    report["properties"]["job"] = parts["RunJobIn"]
    return report


def _report_faults(report: RunReportIn, raw: bytes, at: datetime) -> Iterator[tuple[str, str]]:
    yield from _time_faults(report, at)
    if report.ended_at_ms is not None and report.ended_at_ms < report.began_at_ms:
        yield "ended_at_ms", "is before began_at_ms"
    if report.status and report.ended_at_ms is None:
        yield "ended_at_ms", "is required with a status"
    for place, window in enumerate(report.windows):
        for name, message in _window_faults(window):
            yield f"windows[{place}].{name}", message
    for place, event in enumerate(report.events):
        if event.kind == SCORE and not event.name.strip():
            yield f"events[{place}].name", "a score has a name"
    # Postgres keeps no NUL in a text.
    if b"\\u0000" in raw:
        yield "", "a text holds a NUL character"


def _time_faults(report: RunReportIn, at: datetime) -> Iterator[tuple[str, str]]:
    for field, milliseconds in _reported_moments(report):
        yield from time_faults(field, from_epoch_ms(milliseconds), at)


def _reported_moments(report: RunReportIn) -> Iterator[tuple[str, int]]:
    yield "began_at_ms", report.began_at_ms
    if report.ended_at_ms is not None:
        yield "ended_at_ms", report.ended_at_ms
    for place, window in enumerate(report.windows):
        yield f"windows[{place}].starts_at_ms", window.starts_at_ms
        yield f"windows[{place}].ends_at_ms", window.ends_at_ms
    for place, event in enumerate(report.events):
        yield f"events[{place}].at_ms", event.at_ms


def _window_faults(window: RunWindowIn) -> Iterator[tuple[str, str]]:
    length = window.ends_at_ms - window.starts_at_ms
    if length < 0:
        yield "ends_at_ms", "is before starts_at_ms"
    if length > LONGEST_WINDOW // MILLISECOND:
        yield "ends_at_ms", f"is more than {LONGEST_WINDOW.days} days after starts_at_ms"
    if window.steps and (window.first_step is None or window.last_step is None):
        yield "first_step", "first_step and last_step are required with steps"
    if (window.last_step or 0) < (window.first_step or 0):
        yield "last_step", "is before first_step"
    if not math.isfinite(window.flops):
        yield "flops", "is no number"
