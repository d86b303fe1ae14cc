"""A day of a node's GPUs side by side: who held each, what it worked, what was not seen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from django.urls import reverse

from apps.accounts.queries.paging import PageAsked
from apps.console.kit.frame import Link
from apps.console.kit.request import Context
from apps.console.pages.fleet import timeline_bars as bars
from apps.console.pages.fleet.node import device_name, job_href, who_holds
from apps.console.pages.fleet.timeline_days import DAY, DayAsked, href, said, ticks
from apps.console.pages.fleet.timeline_values import Bar, Happening, Lane, Span, Timeline
from apps.economics.hours import HOUR, hour_of
from apps.fleet import queries as fleet
from apps.show.amounts import counted, gpu_count
from apps.show.incidents import incident_advice, incident_label
from apps.telemetry import queries as telemetry
from apps.workloads import queries as workloads

MOST_INCIDENTS = 200
THE_NODE = "The node"
LABELLED = 9.0
NOTHING = timedelta(0)


@dataclass(frozen=True, slots=True)
class DayFacts:
    """What is known of a node's span, asked once."""

    span: Span
    lives: Sequence[fleet.DeviceLife]
    held: Sequence[workloads.HolderSpan]
    minutes: Mapping[int, Mapping[datetime, telemetry.DeviceMinutes]]
    evidence: Mapping[int, Sequence[telemetry.DeviceEvidence]]
    incidents: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Told:
    """A lane, and what of it goes into the table."""

    lane: Lane
    happenings: tuple[Happening, ...]
    unobserved: timedelta = NOTHING
    slowed: float = 0.0


def day_facts(node_id: int, span: Span, context: Context) -> DayFacts:
    """The holders are those that the viewer may know; of others only the time."""
    hours = (hour_of(span.starts_at), span.ends_at)
    lives = [
        each
        for each in fleet.devices_of_node(node_id, span.starts_at)
        if each.starts_at < span.until
    ]
    ids = [each.id for each in lives]
    minutes: dict[int, dict[datetime, telemetry.DeviceMinutes]] = {}
    evidence: dict[int, list[telemetry.DeviceEvidence]] = {}
    for told in telemetry.device_minutes(ids, *hours) if ids else ():
        minutes.setdefault(told.device_id, {})[told.hour] = told
    for each in telemetry.device_evidence(ids, *hours) if ids else ():
        evidence.setdefault(each.device_id, []).append(each)
    wanted = telemetry.IncidentsWanted(node_id, since=span.starts_at, until=span.until)
    return DayFacts(
        span=span,
        lives=lives,
        held=workloads.holders_between([node_id], span.starts_at, span.until, context.viewer),
        minutes=minutes,
        evidence=evidence,
        incidents=telemetry.incidents(wanted, PageAsked(limit=MOST_INCIDENTS)).rows,
    )


def timeline(node_id: int, asked: DayAsked, context: Context) -> Timeline:
    """The timeline of a node; its picture, its rows and the ways to the days beside it."""
    facts = day_facts(node_id, asked.span, context)
    told = tuple(_told(facts))
    day = asked.span.day
    today = context.at.astimezone(context.zone).date()
    before = (day or today) - DAY
    return Timeline(
        finding=_finding(told, facts),
        gpus=sum(life.kind == "gpu" for life in facts.lives),
        when=said(asked.span),
        lanes=tuple(each.lane for each in told),
        ticks=ticks(asked.span),
        happenings=happenings(told),
        meanings=_meanings(facts),
        csv_href=href("node-timeline", node_id, day),
        before=Link("Day before", href("node-day", node_id, before)),
        after=Link("Day after", href("node-day", node_id, day + DAY))
        if day and day < today
        else None,
        latest=Link("Last 24 hours", href("node-day", node_id, None)) if day else None,
        day=(day or today).isoformat(),
        last_day=today.isoformat(),
        problem=asked.problem,
    )


def timeline_rows(node_id: int, asked: DayAsked, context: Context) -> tuple[Happening, ...]:
    """The same as rows, the earliest first."""
    return happenings(tuple(_told(day_facts(node_id, asked.span, context))))


def happenings(told: Sequence[_Told]) -> tuple[Happening, ...]:
    """The rows of all lanes, the earliest first."""
    rows = [row for each in told for row in each.happenings]
    return tuple(sorted(rows, key=lambda row: row.starts_at))


def _told(facts: DayFacts) -> Iterator[_Told]:
    held = [each for each in facts.held if each.holding.device_uuids is None]
    incidents = [each for each in facts.incidents if each["device_id"] is None]
    if held or incidents:
        yield _node_lane(held, incidents, facts)
    sliced = {life.parent_id for life in facts.lives if life.parent_id is not None}
    for life in facts.lives:
        yield _device_lane(life, facts, is_sliced=life.id in sliced)


def _node_lane(
    held: Sequence[workloads.HolderSpan], incidents: Sequence[dict[str, Any]], facts: DayFacts
) -> _Told:
    holders, marks = list(_held(THE_NODE, held, facts)), list(_marks(THE_NODE, incidents, facts))
    note = "jobs that may use any of its GPUs" if holders else ""
    lane = Lane(
        name=THE_NODE,
        href="",
        notes=tuple(filter(None, (note,))),
        words=_lane_words(len(holders), len(marks), ()),
        held=bars.side_by_side([(stretch, drawn) for stretch, drawn, _ in holders]),
        marks=tuple(drawn for drawn, _ in marks),
        is_gpu=False,
    )
    return _Told(lane, tuple([row for *_, row in holders] + [row for _, row in marks]))


def _device_lane(life: fleet.DeviceLife, facts: DayFacts, *, is_sliced: bool) -> _Told:
    span, name = facts.span, device_name(life)
    told, evidence = facts.minutes.get(life.id, {}), facts.evidence.get(life.id, ())
    pinned = [each for each in facts.held if life.uuid in (each.holding.device_uuids or ())]
    holders = list(_held(name, pinned, facts))
    marks = list(_marks(name, [each for each in facts.incidents if _is_of(each, life)], facts))
    is_told_by_slices = is_sliced and not told
    lived = (life.starts_at, life.ends_at or span.ends_at)
    blank = [] if is_told_by_slices else bars.gaps(told, lived, span)
    slowed = bars.slowed_seconds(evidence)
    lost = sum((ends_at - starts_at for starts_at, ends_at in blank), NOTHING)
    notes = [bars.slowed_words(slowed)] if slowed else []
    notes += [f"not observed for {bars.length(lost)}"] if lost else []
    notes += ["measured by its slices"] if is_told_by_slices else []
    unseen = [bars.bar(each, "heat-unobserved", "not observed", span) for each in blank]
    lane = Lane(
        name=name,
        href=reverse("device", args=[life.id]),
        notes=tuple(notes),
        words=_lane_words(len(holders), len(marks), notes),
        held=bars.side_by_side([(stretch, drawn) for stretch, drawn, _ in holders]),
        worked=(*bars.worked_bars(told, span), *unseen),
        slowed=tuple(bars.slowed_bars(evidence, span)),
        marks=tuple(drawn for drawn, _ in marks),
    )
    rows = [row for *_, row in holders] + [row for _, row in marks]
    rows += [Happening(name, "Not observed", "", *each, each[1] - each[0]) for each in blank]
    rows += list(_slowed_rows(name, evidence))
    return _Told(lane, tuple(rows), lost, max(slowed.values(), default=0.0))


def _held(
    of: str, held: Sequence[workloads.HolderSpan], facts: DayFacts
) -> Iterator[tuple[bars.Stretch, Bar, Happening]]:
    for place, each in enumerate(held):
        who, kind = who_holds(each.holding), f"held-{place % 2}"
        words = f"held by {who}"
        if each.holding.device_uuids is None:
            words += f" ({_gpus(each.holding.units)})"
        if not each.holding.is_theirs:
            kind = "held-other"
        stretch = (each.held_from, each.held_to)
        drawn = bars.bar(stretch, kind, words, facts.span)
        if float(drawn.width[:-1]) >= LABELLED:
            drawn = replace(drawn, text=who)
        row = Happening(
            *(of, "Held", who, *stretch, stretch[1] - stretch[0]), href=job_href(each.holding)
        )
        yield stretch, drawn, row


def _marks(
    of: str, incidents: Sequence[dict[str, Any]], facts: DayFacts
) -> Iterator[tuple[Bar, Happening]]:
    for each in incidents:
        label = incident_label(each["kind"], each["code"])
        times = f" ({counted(each['count'], 'time')})" if each["count"] > 1 else ""
        began, ended = each["started_at"], each["ended_at"]
        stretch = facts.span.cut(began, ended or facts.span.until)
        drawn = bars.bar((stretch[0], max(stretch)), "mark", label + times, facts.span)
        lasted = None if ended is None else ended - began
        advice = incident_advice(each["kind"], each["code"])
        yield drawn, Happening(of, "Incident", label + times, began, ended, lasted, advice=advice)


def _slowed_rows(of: str, told: Sequence[telemetry.DeviceEvidence]) -> Iterator[Happening]:
    for each in told:
        for reason, seconds in bars.slowed_seconds([each]).items():
            lasted = timedelta(seconds=round(seconds))
            yield Happening(of, "Slowed", reason, each.hour, each.hour + HOUR, lasted)


def _is_of(incident: Mapping[str, Any], life: fleet.DeviceLife) -> bool:
    return bool(incident["device_id"] == life.id)


def _gpus(gpus: Fraction | None) -> str:
    return "1 GPU" if gpus == 1 else f"{gpu_count(gpus)} GPUs"


def _lane_words(holders: int, marks: int, notes: Sequence[str]) -> str:
    said = [f"held {counted(holders, 'time')}" if holders else "no named holder"]
    said += [counted(marks, "incident")] if marks else []
    return "; ".join([*said, *notes])


def _finding(told: Sequence[_Told], facts: DayFacts) -> str:
    gpus = sum(life.kind == "gpu" for life in facts.lives)
    lost = sum((each.unobserved for each in told), NOTHING)
    slowed = sum(each.slowed > 0 for each in told)
    said = [counted(len(facts.incidents), "incident") if facts.incidents else "no incident"]
    said += [f"{bars.length(lost)} of GPU time not observed" if lost else "observed throughout"]
    said += [f"{counted(slowed, 'GPU')} slowed down at times"] if slowed else []
    return ", ".join(said) if gpus else ""


def _meanings(facts: DayFacts) -> tuple[tuple[str, str], ...]:
    found = {
        incident_label(each["kind"], each["code"]): incident_advice(each["kind"], each["code"])
        for each in facts.incidents
    }
    return tuple(sorted(found.items()))
