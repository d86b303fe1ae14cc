"""Pages of what happened, as a list with CSV; noting something, and taking a note away."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.urls import path, reverse

from apps.accounts import queries as accounts
from apps.console.kit.cells import ISO_DAY, PROSE, Locale, linked
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entered import FormOf
from apps.console.kit.entries import PickField
from apps.console.kit.filters import period_filter, requested_window
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.periods import period_words
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.annotations.marks import annotations_of, forget_annotations
from apps.review.actions import (
    add_chart_note,
    check_chart_note,
    remove_chart_note,
)
from apps.review.queries.annotations import (
    AnnotationsWanted,
    ChartAnnotation,
    EnteredChartNote,
    chart_note,
    may_remove_note,
)
from apps.show.amounts import counted
from apps.tables.column import Column
from apps.workloads import queries as workloads

HERE = "annotations"
ORGANISATION = "organisation"


class NoteForm(FormOf[EnteredChartNote]):
    """A day, what happened, and whose charts show it."""

    asked_by = ("text",)
    of = PickField("On charts of", hint="Of the organisation: on every chart over time.")


@shown(EVERYONE, HERE)
def annotation_list(context: Context) -> ConsolePage:
    """Everything that charts mark in a period."""
    window, reading = requested_window(context)
    words = period_words(window, context.calendar.today)
    annotations = annotations_of(context, AnnotationsWanted(window))
    return ConsolePage(
        context=context,
        finding=f"{counted(len(annotations), 'thing')} happened {words.within} that charts mark"
        if annotations
        else f"Nothing is known to have happened {words.within}",
        under=(
            "notes of people, events entered for forecasts, releases that were reported, own prices that began, and month closes; read once a minute",
        ),
        filters=(period_filter(reading.texts, words),),
        problems=tuple(reading.problems),
        actions=_ways_to_note(context),
        sections=(
            _annotation_table(context).section(annotations, context, csv_name="what happened"),
        ),
        empty=None if annotations else _nothing_happened(context),
    )


@changing(EVERYONE, HERE)
def new_annotation(context: Context) -> Change[EnteredChartNote]:
    """Shows on whose charts it will be, and keeps it."""
    picks = _scope_picks(context)
    value_or_404(picks or None)

    def apply(note: EnteredChartNote) -> Done:
        add_chart_note(note=note, viewer=context.viewer, at=context.at)
        forget_annotations()
        return "It is noted, and on the charts within a minute.", (HERE,)

    return Change(
        finding="Note what happened on a day",
        explanation="A launch, a change of prices, a move: whoever looks at a chart over that day sees it marked.",
        back=Link("Back to what happened", reverse(HERE)),
        form=NoteForm,
        confirm="Note it",
        read=lambda entered: _note_of(entered, context),
        effects=lambda note: (
            f"Charts over {note.day:%-d %B %Y} mark it, for who sees {picks[_pick_of(note)]}.",
        ),
        apply=apply,
        picks={"of": picks},
        initial={"day": context.calendar.today.isoformat()},
        fields={"team": "of", "workload": "of"},
    )


@changing(EVERYONE, HERE)
def remove_annotation(context: Context, chart_note_id: int) -> Change[ChartAnnotation]:
    """Off all charts; the audit trail keeps what it said."""
    note = value_or_404(chart_note(chart_note_id, context.viewer))
    value_or_404(may_remove_note(context.viewer, note.made_by_id) or None)

    def apply(_: ChartAnnotation) -> Done:
        remove_chart_note(note_id=chart_note_id, viewer=context.viewer)
        forget_annotations()
        return "The note is removed.", (HERE,)

    return Change(
        finding="Remove a note",
        explanation=f"{note.day:%-d %B %Y}: {note.text}",
        back=Link("Back to what happened", reverse(HERE)),
        form=ChangeForm,
        confirm="Remove this note",
        read=lambda _: note,
        effects=lambda _: (
            "No chart marks it any more. The audit trail keeps what it said, and who removed it.",
        ),
        apply=apply,
    )


def _annotation_table(context: Context) -> Table[ChartAnnotation]:
    teams = {team.id: team.name for team in accounts.teams()}
    named = workloads.workloads()

    def scope(annotation: ChartAnnotation) -> str:
        if annotation.workload_id is not None:
            return named[annotation.workload_id].name
        return teams[annotation.team_id] if annotation.team_id is not None else "the organisation"

    def ways(annotation: ChartAnnotation, _: Locale) -> str:
        if annotation.note_id is None or not may_remove_note(context.viewer, annotation.made_by_id):
            return ""
        return linked("Remove", reverse("remove-annotation", args=[annotation.note_id]))

    columns: tuple[Column[ChartAnnotation], ...] = (
        Column("day", "Day", lambda annotation: annotation.day, ISO_DAY),
        Column("kind", "Kind", lambda annotation: annotation.kind),
        Column("what", "What", lambda annotation: annotation.text, PROSE),
        Column("of", "Of", scope, PROSE),
        Column("noted_by", "Noted by", lambda annotation: annotation.made_by, PROSE, missing=""),
        Column("change", "Change", lambda _: "", csv="", sorts=False, shown=ways),
    )
    return Table(
        "happened", "What happened", columns, noun=("thing", "things"), sort="sort", default_sort="-day"
    )  # fmt: skip


def _scope_picks(context: Context) -> dict[str, str]:
    """The organisation for who sees all of it, the viewer's teams, and these teams' workloads."""
    viewer = context.viewer
    picks = {ORGANISATION: "the organisation"} if viewer.sees_everything else {}
    for team in accounts.teams():
        if viewer.sees_team(team.id):
            picks[f"team:{team.id}"] = f"team {team.name}"
    for workload in workloads.workloads().values():
        if viewer.sees_team(workload.team_id):
            picks[f"workload:{workload.id}"] = f"workload {workload.name}"
    return picks


def _note_of(entered: Mapping[str, Any], context: Context) -> EnteredChartNote:
    kind, _, key = entered["of"].partition(":")
    note = EnteredChartNote(entered["day"], entered["text"])
    if kind == "team":
        note = replace(note, team_id=int(key))
    elif kind == "workload":
        note = replace(note, workload_id=int(key))
    check_chart_note(note, context.viewer)
    return note


def _pick_of(note: EnteredChartNote) -> str:
    if note.workload_id is not None:
        return f"workload:{note.workload_id}"
    return ORGANISATION if note.team_id is None else f"team:{note.team_id}"


def _ways_to_note(context: Context) -> tuple[Link, ...]:
    return (Link("Note something", reverse("new-annotation")),) if _scope_picks(context) else ()


def _nothing_happened(context: Context) -> EmptyState:
    return EmptyState(
        "Nothing is known of these days",
        "Charts over time mark the days on which something happened: notes of people, launches and other events entered for "
        "forecasts, releases that were reported, own prices that began, commitments, and month closes.",
        tuple(Step("Note what happened on a day.", link=link) for link in _ways_to_note(context))
        or (Step("There may be something in a longer period.", link=Link("Show 90 days", "?window=90d")),),
    )  # fmt: skip


urlpatterns = [
    path("annotations", annotation_list, name=HERE),
    path("annotations/new", new_annotation, name="new-annotation"),
    path("annotations/<int:chart_note_id>/remove", remove_annotation, name="remove-annotation"),
]
