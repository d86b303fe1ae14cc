"""Annotations of the days of a chart: notes, launches, releases, prices, closes."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Annotated

from django.db.models import QuerySet

from apps.accounts.queries import Viewer
from apps.economics.hours import first_hour
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.closes.months import closes
from apps.ledger.queries.windows import Window
from apps.planning.queries.events import EVENT_KINDS, demand_events
from apps.planning.queries.series import SERVICE, TEAM
from apps.pricing.queries.commitments import commitments_in
from apps.pricing.queries.listing import target_price_starts
from apps.review.models import ChartNote
from apps.show.entries import Entry
from apps.workloads import queries as workloads
from apps.workloads.queries.requests import changes_within

DAY = timedelta(days=1)
NOTE, PRICE, COMMITMENT, CLOSE = "note", "price", "commitment", "month close"
RELEASES = {"deploy": "deployment", "model": "model", "prompt": "prompt", "config": "settings"}
LONGEST_NOTE = 200
KINDS = (NOTE, *EVENT_KINDS.values(), *RELEASES.values(), PRICE, COMMITMENT, CLOSE)


@dataclass(frozen=True, slots=True)
class EnteredChartNote:
    """A day and what happened; with neither a team nor a workload it is of the organisation."""

    day: Annotated[date, Entry("Day", help="a day of the organisation's zone")]
    text: Annotated[str, Entry("What happened", needed="Say what happened.", longest=LONGEST_NOTE)]
    team_id: int | None = None
    workload_id: int | None = None


@dataclass(frozen=True, slots=True)
class ChartAnnotation:
    """Something that happened on a day; of a team, a workload (and then its team), or of everybody's.

    `note_id` is that of a note, which may be removed, and `made_by` who made it. What `is_restricted`, a price
    or an event of a pool or of other things that are no team's, is for who sees everything.
    """

    day: date
    kind: str
    text: str
    team_id: int | None = None
    workload_id: int | None = None
    note_id: int | None = None
    made_by_id: int | None = None
    made_by: str = ""
    is_restricted: bool = False


@dataclass(frozen=True, slots=True)
class AnnotationsWanted:
    """A filter of annotations: the days, and what a chart is of: one team, or one workload, or all that the viewer sees."""

    window: Window
    team_ids: frozenset[int] | None = None
    workload_id: int | None = None

    def drawn_on(self, days: Collection[date]) -> "AnnotationsWanted":
        """Return the filter for the days that a chart draws, from the first of these to the last; all of its days where it draws none."""
        if not days:
            return self
        drawn = replace(
            self.window, text="", first_day=min(days), end_day=max(days) + DAY, hours=None
        )
        return replace(self, window=drawn)


def all_annotations(since: date, until: date, zone: str) -> list[ChartAnnotation]:
    """Everything from `since` on and before `until`, whoever may see it; in the order of days."""
    span = first_hour(since, zone), first_hour(until, zone)
    annotations = [
        *_notes(since, until),
        *_events(since, until),
        *_releases(span, zone),
        *_prices(span, zone),
        *_commitments(span, zone),
        *_closes(span, zone),
    ]
    return sorted(
        annotations, key=lambda annotation: (annotation.day, annotation.kind, annotation.text)
    )


def visible_annotations(
    every: list[ChartAnnotation], wanted: AnnotationsWanted, viewer: Viewer
) -> list[ChartAnnotation]:
    """Those of the days and the scope that the viewer may see; what is of everybody's is of each scope too."""
    window = wanted.window
    return [
        annotation
        for annotation in every
        if window.first_day <= annotation.day < window.end_day
        and (annotation.team_id is None or viewer.sees_team(annotation.team_id))
        and (not annotation.is_restricted or viewer.sees_everything)
        and _is_of_scope(annotation, wanted)
    ]


def chart_note(note_id: int, viewer: Viewer) -> ChartAnnotation | None:
    """A note that the viewer may see; None where there is none."""
    note = next(_notes_of(ChartNote.objects.filter(id=note_id)), None)
    if note is None or (note.team_id is not None and not viewer.sees_team(note.team_id)):
        return None
    return note


def may_note(viewer: Viewer, team_id: int | None, workload_id: int | None) -> bool:
    """Whether the viewer may note something of it: their teams' and these teams' workloads'; finance and platform of all."""
    if viewer.person_id is None and not viewer.may_manage:
        return False
    if workload_id is not None:
        workload = workloads.workloads().get(workload_id)
        return workload is not None and viewer.sees_team(workload.team_id)
    if team_id is not None:
        return viewer.sees_team(team_id)
    return viewer.sees_everything


def may_remove_note(viewer: Viewer, made_by_id: int | None) -> bool:
    """Whoever made it, and platform."""
    is_own = viewer.person_id is not None and viewer.person_id == made_by_id
    return is_own or viewer.may_manage


def _is_of_scope(annotation: ChartAnnotation, wanted: AnnotationsWanted) -> bool:
    if wanted.workload_id is not None:
        return annotation.workload_id in (None, wanted.workload_id) and _is_of_teams(
            annotation, wanted
        )
    return _is_of_teams(annotation, wanted)


def _is_of_teams(annotation: ChartAnnotation, wanted: AnnotationsWanted) -> bool:
    return (
        wanted.team_ids is None
        or annotation.team_id is None
        or annotation.team_id in wanted.team_ids
    )


def _notes(since: date, until: date) -> Iterator[ChartAnnotation]:
    return _notes_of(ChartNote.objects.filter(day__gte=since, day__lt=until))


def _notes_of(notes: QuerySet[ChartNote]) -> Iterator[ChartAnnotation]:
    named = workloads.workloads()
    rows = notes.order_by("day", "id").select_related("made_by")
    for note in rows:
        workload = None if note.workload_id is None else named[note.workload_id]
        yield ChartAnnotation(
            day=note.day,
            kind=NOTE,
            text=note.text,
            team_id=note.team_id if workload is None else workload.team_id,
            workload_id=note.workload_id,
            note_id=note.id,
            made_by_id=note.made_by_id,
            made_by=note.made_by.name if note.made_by is not None else "",
        )


def _events(since: date, until: date) -> Iterator[ChartAnnotation]:
    """Yield the events that people entered for forecasts: the first day of each."""
    named = workloads.workloads()
    for event in demand_events():
        if not since <= event.first_day < until:
            continue
        is_of_team, is_of_service = event.dimension == TEAM, event.dimension == SERVICE
        service = named.get(int(event.key)) if is_of_service and event.key.isdigit() else None
        team_id = int(event.key) if is_of_team and event.key.isdigit() else None
        yield ChartAnnotation(
            event.first_day,
            EVENT_KINDS[event.kind],
            event.name,
            team_id if service is None else service.team_id,
            None if service is None else service.id,
            is_restricted=event.dimension != "" and team_id is None and service is None,
        )


def _releases(span: tuple[datetime, datetime], zone: str) -> Iterator[ChartAnnotation]:
    named = workloads.workloads()
    for workload_id, change in changes_within(span):
        workload = named[workload_id]
        text = f"{workload.name}: {change.name}"
        day = local_day(change.at, zone)
        yield ChartAnnotation(day, RELEASES[change.kind], text, workload.team_id, workload_id)


def _prices(span: tuple[datetime, datetime], zone: str) -> Iterator[ChartAnnotation]:
    for target, began_at in target_price_starts(*span):
        yield ChartAnnotation(
            local_day(began_at, zone), PRICE, f"{target} has another price", is_restricted=True
        )


def _commitments(span: tuple[datetime, datetime], zone: str) -> Iterator[ChartAnnotation]:
    for commitment in commitments_in(*span):
        for moment, verb in ((commitment.starts_at, "began"), (commitment.ends_at, "ended")):
            if span[0] < moment < span[1]:
                text = f"{commitment.name} {verb}"
                yield ChartAnnotation(local_day(moment, zone), COMMITMENT, text, is_restricted=True)


def _closes(span: tuple[datetime, datetime], zone: str) -> Iterator[ChartAnnotation]:
    for close in closes():
        if span[0] <= close.closed_at < span[1]:
            text = f"{close.month:%B %Y} was closed"
            yield ChartAnnotation(local_day(close.closed_at, zone), CLOSE, text)
