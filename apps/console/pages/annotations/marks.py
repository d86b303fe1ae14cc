"""Marks on a chart over time: what happened, by day, as kept by the process for a minute."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import TypeVar

from django.core.cache import caches
from django.urls import reverse
from django.utils.http import urlencode

from apps.console.kit.chart import ChartMark, DailyChart, LineChart
from apps.console.kit.frame import Link
from apps.console.kit.request import Context, with_current_filters
from apps.ledger.queries.windows import LONGEST, Window
from apps.review.queries.annotations import (
    AnnotationsWanted,
    ChartAnnotation,
    all_annotations,
    visible_annotations,
)
from apps.show.amounts import counted
from apps.show.marked_days import NumberedDay, is_drawn_on, with_marks
from apps.show.time import short_day

KEPT_BY, KEY, KEPT_FOR = "process", "console-annotations", timedelta(minutes=1)
AHEAD = timedelta(days=366)
MOST_MARKED = 12
"""Days with a number on one chart: more could not be told apart."""

MarkedChart = TypeVar("MarkedChart", DailyChart, LineChart)
"""A picture of days."""


def annotations_of(context: Context, wanted: AnnotationsWanted) -> list[ChartAnnotation]:
    """Return the annotations of these days that the viewer may see; read once a minute by each process, whoever asks."""
    every = caches[KEPT_BY].get(KEY)
    if every is None:
        today = context.calendar.today
        every = all_annotations(today - LONGEST, today + AHEAD, context.organisation.zone)
        caches[KEPT_BY].set(KEY, every, KEPT_FOR.total_seconds())
    return visible_annotations(every, wanted, context.viewer)


def forget_annotations() -> None:
    """Read them anew for the next page of this process."""
    caches[KEPT_BY].delete(KEY)


def marked_chart(
    chart: MarkedChart | None, context: Context, wanted: AnnotationsWanted
) -> MarkedChart | None:
    """The chart with the newest days that something happened on marked, and told below it."""
    if chart is None:
        return None
    annotations = annotations_of(context, wanted)
    # A chart begins with the first day that has costs: what happened before has no place on it.
    drawn = {
        annotation.day for annotation in annotations if is_drawn_on(chart.figure, annotation.day)
    }
    days = sorted(drawn)[-MOST_MARKED:]
    numbered = [NumberedDay(day, number) for number, day in enumerate(days, start=1)]
    return replace(
        chart,
        figure=with_marks(chart.figure, numbered),
        marks=tuple(_mark_of(day, annotations) for day in numbered),
        marks_links=_links_of(
            wanted, context, len({annotation.day for annotation in annotations}) - len(days)
        ),
    )


def _mark_of(numbered: NumberedDay, annotations: Sequence[ChartAnnotation]) -> ChartMark:
    texts = [
        f"{annotation.kind}: {annotation.text}"
        for annotation in annotations
        if annotation.day == numbered.day
    ]
    return ChartMark(numbered.number, short_day(numbered.day), "; ".join(texts))


def _links_of(wanted: AnnotationsWanted, context: Context, more: int) -> tuple[Link, ...]:
    """All of what happened in these days, and noting something."""
    window_param = window_text(wanted.window)
    all_of_it = f"{counted(more, 'earlier day')} more" if more > 0 else "All of it"
    links = [Link(all_of_it, f"{reverse('annotations')}?{urlencode({'window': window_param})}")]
    if context.viewer.team_ids:
        links.append(Link("Note something", new_note_href(wanted)))
    return tuple(with_current_filters(link, context) for link in links)


def new_note_href(wanted: AnnotationsWanted) -> str:
    """The form, with the scope of the chart filled in."""
    of = {}
    if wanted.workload_id is not None:
        of["of"] = f"workload:{wanted.workload_id}"
    elif wanted.team_ids is not None and len(wanted.team_ids) == 1:
        of["of"] = f"team:{next(iter(wanted.team_ids))}"
    return reverse("new-annotation") + (f"?{urlencode(of)}" if of else "")


def window_text(window: Window) -> str:
    """As an address says it."""
    return window.text or f"{_iso(window.first_day)}/{_iso(window.end_day)}"


def _iso(day: date) -> str:
    return day.isoformat()
