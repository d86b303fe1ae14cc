"""A day of a node's GPUs side by side: who held each, what it worked, what was not seen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.accounts.queries.paging import PageRequest
from apps.console.kit.cells import DURATION, INSTANT, drawn, linked
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import Link
from apps.console.kit.request import Context, with_current_filters
from apps.console.kit.table import Table, TableSection
from apps.console.pages.fleet import timeline_bars as bars
from apps.console.pages.fleet.node_tables import WRAPPED, device_name, holder_label, job_href
from apps.console.pages.lanes import DrawnLane, Span, lanes_section
from apps.economics.hours import HOUR, hour_of
from apps.fleet import queries as fleet
from apps.show.amounts import counted, gpu_count
from apps.show.incidents import incident_advice, incident_label
from apps.show.time import clock, minute_duration, weekday
from apps.tables.column import Column
from apps.telemetry import queries as telemetry
from apps.workloads import queries as workloads

DAY = timedelta(days=1)
HOURS = 24
MARKED_PARTS = 4
# Before there were GPUs to rent; and a day has one before it.
EARLIEST = date(2000, 1, 1)
LONGEST_TEXT = 20
MOST_INCIDENTS = 200
MOST_ROWS = 200
THE_NODE = "The node"
LABELLED = 9.0
NOTHING = timedelta(0)


@dataclass(frozen=True, slots=True)
class RequestedDay:
    """The span that is asked for; `problem` says what of the address was not understood."""

    span: Span
    problem: str = ""

    @property
    def words(self) -> str:
        """`the last 24 hours`, or `Fri 20 November 2026`."""
        day = self.span.day
        return "the last 24 hours" if day is None else f"{weekday(day)} {day.year}"


@dataclass(frozen=True, slots=True)
class DayFacts:
    """Facts of a node's span, asked once."""

    span: Span
    lives: Sequence[fleet.DeviceLife]
    held: Sequence[workloads.HolderSpan]
    minutes: Mapping[int, Mapping[datetime, telemetry.DeviceMinutes]]
    evidence: Mapping[int, Sequence[telemetry.DeviceEvidence]]
    incidents: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened to a GPU, or its node; `ends_at` None: it lasts."""

    of: str
    kind: str
    what: str
    starts_at: datetime
    ends_at: datetime | None
    lasted: timedelta | None
    href: str = ""


@dataclass(frozen=True, slots=True)
class GpuLane:
    """A GPU (or the node) through the span: who held it, what it worked, what went wrong."""

    name: str
    href: str
    notes: tuple[str, ...]
    words: str
    happenings: tuple[Happening, ...]
    held: tuple[bars.Bar, ...] = ()
    worked: tuple[bars.Bar, ...] = ()
    slowed: tuple[bars.Bar, ...] = ()
    marks: tuple[bars.Bar, ...] = ()
    is_gpu: bool = True
    unobserved: timedelta = NOTHING
    slowed_seconds: float = 0.0

    def drawn(self) -> DrawnLane:
        """As a row of the picture."""
        return DrawnLane(self.name, self.href, self.notes, drawn("fleet/_lane.html", lane=self))


@dataclass(frozen=True, slots=True)
class Timeline:
    """The picture, the same as rows, and the ways to other days; no finding where no GPU is known."""

    template: ClassVar[str] = "fleet/_timeline.html"
    finding: str
    gpus: int
    asked: RequestedDay
    lanes: TableSection | None
    happenings: TableSection
    meanings: tuple[tuple[str, str], ...]
    csv: CsvFile
    days: tuple[Link, ...]
    here: str
    kept: Mapping[str, str]
    day: str
    last_day: str


def _what_happened(row: Happening) -> SafeString | str:
    return format_html("{}: {}", row.kind, linked(row.what, row.href)) if row.what else row.kind


HAPPENINGS = Table[Happening](
    "happenings",
    "What happened",
    (
        Column("gpu", "GPU", lambda row: row.of),
        Column("kind", "", lambda row: row.kind.lower()),
        Column("what", "What", lambda row: row.what, WRAPPED,
               shown=lambda row, _: _what_happened(row)),
        Column("from", "From", lambda row: row.starts_at, INSTANT),
        Column("to", "To", lambda row: row.ends_at, INSTANT, missing="ongoing"),
        Column("seconds", "For", lambda row: row.lasted, DURATION),
    ),
)  # fmt: skip


def parse_requested_day(context: Context) -> RequestedDay:
    """The day named in the address, else the last 24 hours; a day that is yet to come is not one."""
    text = context.query.get("day", "")[:LONGEST_TEXT]
    ends_at = hour_of(context.at) + HOUR
    latest = Span(ends_at - HOURS * HOUR, ends_at, context.at, context.zone)
    if not text:
        return RequestedDay(latest)
    today = context.at.astimezone(context.zone).date()
    try:
        day = date.fromisoformat(text)
        starts_at, ends_at = (
            datetime.combine(midnight, time(), context.zone).astimezone(UTC)
            for midnight in (day, day + DAY)
        )
    except (ValueError, OverflowError):
        day = date.min
    if day < EARLIEST:
        return RequestedDay(latest, f"{text!r} is no day. Shown instead: the last 24 hours.")
    if day > today:
        return RequestedDay(latest, f"{text} is yet to come. Shown instead: the last 24 hours.")
    return RequestedDay(Span(starts_at, ends_at, min(ends_at, context.at), context.zone, day))


def hour_ticks(span: Span) -> list[tuple[str, str]]:
    """Where the time of day is written, and how."""
    return [(left, clock(at, span.zone)) for left, at in span.marked(MARKED_PARTS)]


def day_facts(node_id: int, span: Span, context: Context) -> DayFacts:
    """The holders are those that the viewer may know; of others only the time."""
    hours = (hour_of(span.starts_at), span.ends_at)
    devices = [
        device
        for device in fleet.devices_of_node(node_id, span.starts_at)
        if device.starts_at < span.until
    ]
    ids = [device.id for device in devices]
    minutes: dict[int, dict[datetime, telemetry.DeviceMinutes]] = {}
    evidence: dict[int, list[telemetry.DeviceEvidence]] = {}
    for device_minute in telemetry.device_minutes(ids, *hours) if ids else ():
        minutes.setdefault(device_minute.device_id, {})[device_minute.hour] = device_minute
    for device_evidence in telemetry.device_evidence(ids, *hours) if ids else ():
        evidence.setdefault(device_evidence.device_id, []).append(device_evidence)
    wanted = telemetry.IncidentsWanted(node_id, since=span.starts_at, until=span.until)
    return DayFacts(
        span=span,
        lives=devices,
        held=workloads.holders_between([node_id], span.starts_at, span.until, context.viewer),
        minutes=minutes,
        evidence=evidence,
        incidents=telemetry.incidents(wanted, PageRequest(limit=MOST_INCIDENTS)).rows,
    )


def timeline(node_id: int, requested_day: RequestedDay, context: Context) -> Timeline:
    """The timeline of a node; its picture, its rows and the ways to the days beside it."""
    facts = day_facts(node_id, requested_day.span, context)
    lanes = tuple(_lanes_of(facts))
    ticks = hour_ticks(requested_day.span)
    picture = lanes_section(
        "Timeline by GPU",
        ("GPU", requested_day.words),
        ticks,
        [lane.drawn() for lane in lanes],
        context,
    )
    day = requested_day.span.day
    today = context.at.astimezone(context.zone).date()
    rows = _earliest_first(lanes)
    return Timeline(
        finding=_timeline_finding(lanes, facts),
        gpus=sum(life.kind == "gpu" for life in facts.lives),
        asked=requested_day,
        lanes=picture if lanes else None,
        happenings=HAPPENINGS.section(rows[:MOST_ROWS], context),
        meanings=_meanings_of(facts),
        csv=HAPPENINGS.file(f"timeline of node {node_id}", context, lambda: rows),
        days=tuple(
            with_current_filters(link, context)
            for link in _adjacent_day_links(context.path, day, today)
        ),
        here=context.path,
        kept=context.frame.carries,
        day=(day or today).isoformat(),
        last_day=today.isoformat(),
    )


def _adjacent_day_links(path: str, day: date | None, today: date) -> Iterator[Link]:
    yield Link("Day before", f"{path}?day={(day or today) - DAY}")
    if day and day < today:
        yield Link("Day after", f"{path}?day={day + DAY}")
    if day:
        yield Link("Last 24 hours", path)


def _earliest_first(lanes: Sequence[GpuLane]) -> list[Happening]:
    rows = [row for lane in lanes for row in lane.happenings]
    return sorted(rows, key=lambda row: row.starts_at)


def _lanes_of(facts: DayFacts) -> Iterator[GpuLane]:
    node_spans = [
        holder_span for holder_span in facts.held if holder_span.holding.device_uuids is None
    ]
    incidents = [incident for incident in facts.incidents if incident["device_id"] is None]
    if node_spans or incidents:
        yield _node_lane(node_spans, incidents, facts)
    sliced = {life.parent_id for life in facts.lives if life.parent_id is not None}
    for life in facts.lives:
        yield _device_lane(life, facts, is_sliced=life.id in sliced)


def _node_lane(
    holder_spans: Sequence[workloads.HolderSpan],
    incidents: Sequence[dict[str, Any]],
    facts: DayFacts,
) -> GpuLane:
    holders = list(_held_rows(THE_NODE, holder_spans, facts))
    marks = list(_incident_rows(THE_NODE, incidents, facts))
    note = "jobs that may use any of its GPUs" if holders else ""
    return GpuLane(
        name=THE_NODE,
        href="",
        notes=tuple(filter(None, (note,))),
        words=_lane_words(len(holders), len(marks), ()),
        happenings=tuple([row for *_, row in holders] + [row for _, row in marks]),
        held=bars.side_by_side([(stretch, bar) for stretch, bar, _ in holders]),
        marks=tuple(mark for mark, _ in marks),
        is_gpu=False,
    )


def _device_lane(life: fleet.DeviceLife, facts: DayFacts, *, is_sliced: bool) -> GpuLane:
    span, name = facts.span, device_name(life)
    minutes, evidence = facts.minutes.get(life.id, {}), facts.evidence.get(life.id, ())
    pinned = [
        holder_span
        for holder_span in facts.held
        if life.uuid in (holder_span.holding.device_uuids or ())
    ]
    holders = list(_held_rows(name, pinned, facts))
    own_incidents = [incident for incident in facts.incidents if incident["device_id"] == life.id]
    marks = list(_incident_rows(name, own_incidents, facts))
    is_told_by_slices = is_sliced and not minutes
    lifetime = (life.starts_at, life.ends_at or span.ends_at)
    blank = [] if is_told_by_slices else bars.gaps(minutes, lifetime, span)
    slowed = bars.slowed_seconds(evidence)
    lost = sum((ends_at - starts_at for starts_at, ends_at in blank), NOTHING)
    notes = [bars.slowed_words(slowed)] if slowed else []
    notes += [f"not observed for {minute_duration(lost)}"] if lost else []
    notes += ["measured by its slices"] if is_told_by_slices else []
    unseen = [bars.bar(gap, "heat-unobserved", "not observed", span) for gap in blank]
    rows = [row for *_, row in holders] + [row for _, row in marks]
    rows += [Happening(name, "Not observed", "", *gap, gap[1] - gap[0]) for gap in blank]
    rows += list(_slowed_rows(name, evidence))
    return GpuLane(
        name=name,
        href=reverse("device", args=[life.id]),
        notes=tuple(notes),
        words=_lane_words(len(holders), len(marks), notes),
        happenings=tuple(rows),
        held=bars.side_by_side([(stretch, bar) for stretch, bar, _ in holders]),
        worked=(*bars.worked_bars(minutes, span), *unseen),
        slowed=tuple(bars.slowed_bars(evidence, span)),
        marks=tuple(mark for mark, _ in marks),
        unobserved=lost,
        slowed_seconds=max(slowed.values(), default=0.0),
    )


def _held_rows(
    of: str, holder_spans: Sequence[workloads.HolderSpan], facts: DayFacts
) -> Iterator[tuple[bars.Stretch, bars.Bar, Happening]]:
    for place, holder_span in enumerate(holder_spans):
        holder, kind = holder_label(holder_span.holding), f"held-{place % 2}"
        words = f"held by {holder}"
        if holder_span.holding.device_uuids is None:
            words += f" ({_gpus_words(holder_span.holding.units)})"
        if not holder_span.holding.is_theirs:
            kind = "held-other"
        stretch = (holder_span.held_from, holder_span.held_to)
        bar = bars.bar(stretch, kind, words, facts.span)
        if float(bar.width[:-1]) >= LABELLED:
            bar = replace(bar, text=holder)
        row = Happening(
            *(of, "Held", holder, *stretch, stretch[1] - stretch[0]),
            href=job_href(holder_span.holding),
        )
        yield stretch, bar, row


def _incident_rows(
    of: str, incidents: Sequence[dict[str, Any]], facts: DayFacts
) -> Iterator[tuple[bars.Bar, Happening]]:
    for incident in incidents:
        label = incident_label(incident["kind"], incident["code"])
        times = f" ({counted(incident['count'], 'time')})" if incident["count"] > 1 else ""
        began, ended = incident["started_at"], incident["ended_at"]
        stretch = facts.span.cut(began, ended or facts.span.until)
        mark = bars.bar((stretch[0], max(stretch)), "mark", label + times, facts.span)
        lasted = None if ended is None else ended - began
        yield mark, Happening(of, "Incident", label + times, began, ended, lasted)


def _slowed_rows(of: str, evidence: Sequence[telemetry.DeviceEvidence]) -> Iterator[Happening]:
    for hour_evidence in evidence:
        for reason, seconds in bars.slowed_seconds([hour_evidence]).items():
            lasted = timedelta(seconds=round(seconds))
            yield Happening(
                of, "Slowed", reason, hour_evidence.hour, hour_evidence.hour + HOUR, lasted
            )


def _gpus_words(gpus: Fraction | None) -> str:
    return "1 GPU" if gpus == 1 else f"{gpu_count(gpus)} GPUs"


def _lane_words(holders: int, marks: int, notes: Sequence[str]) -> str:
    parts = [f"held {counted(holders, 'time')}" if holders else "no named holder"]
    parts += [counted(marks, "incident")] if marks else []
    return "; ".join([*parts, *notes])


def _timeline_finding(lanes: Sequence[GpuLane], facts: DayFacts) -> str:
    gpus = sum(life.kind == "gpu" for life in facts.lives)
    lost = sum((lane.unobserved for lane in lanes), NOTHING)
    slowed = sum(lane.slowed_seconds > 0 for lane in lanes)
    parts = [counted(len(facts.incidents), "incident") if facts.incidents else "no incident"]
    parts += [
        f"{minute_duration(lost)} of GPU time not observed" if lost else "observed throughout"
    ]
    parts += [f"{counted(slowed, 'GPU')} slowed down at times"] if slowed else []
    return ", ".join(parts) if gpus else ""


def _meanings_of(facts: DayFacts) -> tuple[tuple[str, str], ...]:
    advice_by_label = {
        incident_label(incident["kind"], incident["code"]): incident_advice(
            incident["kind"], incident["code"]
        )
        for incident in facts.incidents
    }
    return tuple(sorted(advice_by_label.items()))
