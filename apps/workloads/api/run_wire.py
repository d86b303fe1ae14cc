"""A run's report as JSON: every field checked by name, every size bounded."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from apps.workloads.actions.run_reports import MomentIn, ReportIn, WindowIn
from apps.workloads.api.wire import EARLIEST, MOST_AHEAD, Fault, fault_of
from apps.workloads.queries.run_fold_facts import LONGEST_WINDOW

MOST_REPORTS = 500
MOST_WINDOWS = 100
MOST_EVENTS = 1_000
MOST_PHASES = 32
MOST_STEP_TIMES = 4_096
MOST_MODEL_FIELDS = 64
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Named: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=200)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Large: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000_000_000)]
Spent: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000_000)]
Moment: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=100_000_000_000_000)]
Taken: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Word: TypeAlias = str | int | float | bool | None


class RunJobIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The scheduler's job that the process is of, by the scheduler's own names; empty: not known."""

    scheduler: Text = ""
    raw_id: Text = ""
    cluster: Text = ""


class RunWindowIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Some seconds of a run, summed up; moments in milliseconds since 1970."""

    starts_at_ms: Moment
    ends_at_ms: Moment
    steps: Count = 0
    first_step: Large | None = None
    last_step: Large | None = None
    tokens: Large = 0
    examples: Large = 0
    flops: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    productive_ms: Spent = 0
    phases_ms: Annotated[dict[Named, Spent], msgspec.Meta(max_length=MOST_PHASES)] = {}
    step_times_ms: Annotated[tuple[Taken, ...], msgspec.Meta(max_length=MOST_STEP_TIMES)] = ()


class RunEventIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A checkpoint that passed, or a restore from one."""

    kind: Literal["good_checkpoint", "restored"]
    at_ms: Moment
    step: Large | None = None
    metric: float | None = None


class RunReportIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One report of one process of a run; `sequence` counts the process's reports from 0."""

    run: Named
    attempt: Named
    began_at_ms: Moment
    sequence: Large
    workload: Text = ""
    rank: Count = 0
    world_size: Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)] = 1
    restarts: Count = 0
    host: Text = ""
    job: RunJobIn = RunJobIn()
    ended_at_ms: Moment | None = None
    status: Literal["", "finished", "failed", "interrupted"] = ""
    model: Annotated[dict[Named, Word], msgspec.Meta(max_length=MOST_MODEL_FIELDS)] = {}
    tags: Annotated[dict[Named, Text], msgspec.Meta(max_length=MOST_MODEL_FIELDS)] = {}
    windows: Annotated[tuple[RunWindowIn, ...], msgspec.Meta(max_length=MOST_WINDOWS)] = ()
    events: Annotated[tuple[RunEventIn, ...], msgspec.Meta(max_length=MOST_EVENTS)] = ()
    dropped: Large = 0


_REPORT = msgspec.json.Decoder(RunReportIn)
_EITHER = msgspec.json.Decoder(list[msgspec.Raw] | dict[str, msgspec.Raw])


class RunReportsUnreadable(ValueError):
    """A body that is neither a report nor a list of them, or a report that nothing is kept of."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault.field or 'report'}: {fault.message}")
        self.errors = [fault.document()]


class TooManyRunReports(ValueError):
    """More reports at once than one transaction should hold."""


def reports_in(body: bytes) -> tuple[list[msgspec.Raw], bool]:
    """The reports of a body, each yet to be read; whether it is a list of them.

    Refuses RunReportsUnreadable and TooManyRunReports.
    """
    try:
        found = _EITHER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        raise RunReportsUnreadable(fault_of(str(refused))) from refused
    if isinstance(found, dict):
        return [msgspec.Raw(body)], False
    if len(found) > MOST_REPORTS:
        raise TooManyRunReports(f"{len(found)} reports are more than {MOST_REPORTS}")
    return found, True


def read_report(raw: msgspec.Raw, *, at: datetime, row: int) -> ReportIn | Fault:
    """What this JSON reports, received at `at`, or why it cannot be taken."""
    try:
        report = _REPORT.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        return fault_of(str(refused), row)
    for field, message in _report_faults(report, bytes(raw), at):
        return Fault(field, message, row)
    return ReportIn(
        run=report.run,
        workload=report.workload.strip(),
        attempt=report.attempt,
        rank=report.rank,
        world_size=report.world_size,
        restarts=report.restarts,
        host=report.host,
        scheduler=report.job.scheduler,
        raw_id=report.job.raw_id,
        cluster=report.job.cluster,
        began_at=_epoch_moment(report.began_at_ms),
        ended_at=None if report.ended_at_ms is None else _epoch_moment(report.ended_at_ms),
        status=report.status,
        sequence=report.sequence,
        dropped=report.dropped,
        model=report.model,
        tags=report.tags,
        windows=[_told_window(each) for each in report.windows],
        events=[
            MomentIn(each.kind, _epoch_moment(each.at_ms), each.step, each.metric)
            for each in report.events
        ],
    )


def report_schema() -> dict[str, Any]:
    """A report as JSON schema, written out in one piece."""
    _, parts = msgspec.json.schema_components([RunReportIn], ref_template="{name}")
    report: dict[str, Any] = dict(parts["RunReportIn"])
    report["properties"]["windows"]["items"] = parts["RunWindowIn"]
    report["properties"]["events"]["items"] = parts["RunEventIn"]
    report["properties"]["job"] = parts["RunJobIn"]
    return report


def _told_window(told: RunWindowIn) -> WindowIn:
    return WindowIn(
        starts_at=_epoch_moment(told.starts_at_ms),
        ends_at=_epoch_moment(told.ends_at_ms),
        steps=told.steps,
        first_step=told.first_step,
        last_step=told.last_step,
        tokens=told.tokens,
        examples=told.examples,
        flops=told.flops,
        productive_ms=told.productive_ms,
        phases_ms=told.phases_ms,
        step_times_ms=told.step_times_ms,
    )


def _epoch_moment(milliseconds: int) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)


def _report_faults(report: RunReportIn, raw: bytes, at: datetime) -> Iterator[tuple[str, str]]:
    yield from _time_faults(report, at)
    if report.ended_at_ms is not None and report.ended_at_ms < report.began_at_ms:
        yield "ended_at_ms", "is before began_at_ms"
    if report.status and report.ended_at_ms is None:
        yield "ended_at_ms", "is required with a status"
    for place, window in enumerate(report.windows):
        for name, message in _window_faults(window):
            yield f"windows[{place}].{name}", message
    # Postgres keeps no NUL in a text.
    if b"\\u0000" in raw:
        yield "", "a text holds a NUL character"


def _time_faults(report: RunReportIn, at: datetime) -> Iterator[tuple[str, str]]:
    for field, milliseconds in _told_moments(report):
        moment = _epoch_moment(milliseconds)
        if moment < EARLIEST:
            yield field, f"{moment.isoformat()} is before {EARLIEST:%Y-%m-%d}"
        if moment > at + MOST_AHEAD:
            yield field, f"{moment.isoformat()} is ahead of the server's clock"


def _told_moments(report: RunReportIn) -> Iterator[tuple[str, int]]:
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
    if length > LONGEST_WINDOW // timedelta(milliseconds=1):
        yield "ends_at_ms", f"is more than {LONGEST_WINDOW.days} days after starts_at_ms"
    if window.steps and (window.first_step is None or window.last_step is None):
        yield "first_step", "first_step and last_step are required with steps"
    if (window.last_step or 0) < (window.first_step or 0):
        yield "last_step", "is before first_step"
    if not math.isfinite(window.flops):
        yield "flops", "is no number"
