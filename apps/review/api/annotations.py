"""Events on the days of charts, over REST: the list of them, and notes."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.economics.refusal import Refusal
from apps.ledger.queries.windows import calendar_of, window_of
from apps.review import actions
from apps.review.queries.annotations import (
    KINDS,
    AnnotationsWanted,
    ChartAnnotation,
    EnteredChartNote,
    all_annotations,
    chart_note,
    may_remove_note,
    visible_annotations,
)
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Body, parse_as
from apps.web.rest.strict import OptionalText, Parameters
from apps.web.rest.views import Reads, RestView
from apps.workloads import queries as workloads


class NotesDays(BasePermission):
    """People who are in a team or see everything, and tokens of scope manage."""

    message = "notes are made by people of a team, by finance and platform, and by 'manage' tokens"

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether this caller may note anything at all."""
        if not Reads().has_permission(request, view):
            return False
        viewer = view.viewer()
        return viewer.may_manage or (viewer.person_id is not None and bool(viewer.team_ids))


class AnnotationParameters(Parameters):
    """Filters of annotations: which days."""

    window = OptionalText(help_text="as of costs; the last 90 days where it is not said")


class ChartNoteIn(Body[EnteredChartNote]):
    """A note; with neither a team nor a workload of the organisation, which finance and platform do."""

    without = ("team_id", "workload_id")
    team = OptionalText(help_text="a team by name")
    workload = OptionalText(help_text="a workload by name")

    def made(self, values: dict[str, Any]) -> EnteredChartNote:
        """Return the note of what is named; refuses a Refusal of names that say nothing."""
        teams = {team.name: team.id for team in accounts.teams()}
        named = {workload.name: workload.id for workload in workloads.workloads().values()}
        team, workload = values.pop("team"), values.pop("workload")
        return EnteredChartNote(
            **values,
            team_id=_id_named("team", team, teams),
            workload_id=_id_named("workload", workload, named),
        )


class ChartAnnotationOut(serializers.Serializer[Any]):
    """A note or an event of a day on a chart; `id` is that of a note, which can be removed, else null."""

    id = serializers.IntegerField(allow_null=True)
    day = serializers.DateField()
    kind = serializers.ChoiceField(choices=KINDS)
    text = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    workload = serializers.CharField(allow_null=True)
    noted_by = serializers.CharField(allow_null=True)


class Annotations(RestView):
    """The list of annotations that charts mark."""

    row = ChartAnnotationOut
    changes = (NotesDays,)

    @extend_schema(
        operation_id="list_annotations",
        parameters=[AnnotationParameters, *PAGES],
        responses=list_of(ChartAnnotationOut),
    )
    def get(self, request: Request) -> Response:
        """Notes, events, releases, own prices and closes of these days, as far as the caller may see them; by day."""
        params = AnnotationParameters.of(request)
        chosen = accounts.organisation()
        calendar = calendar_of(chosen.zone, chosen.week_starts_on, timezone.now())
        window = window_of(params.get("window") or "90d", calendar)
        every = all_annotations(window.first_day, window.end_day, chosen.zone)
        annotations = visible_annotations(every, AnnotationsWanted(window), self.viewer())
        page = slice_of(annotations, parse_page_request(request), _annotation_key)
        return paged(request, page, serialize_annotation)

    @extend_schema(
        operation_id="add_annotation",
        parameters=[REPEAT_KEY],
        request=ChartNoteIn,
        responses={201: ChartAnnotationOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Note what happened on a day; charts over it mark it within a minute."""
        note_id = actions.add_chart_note(
            note=parse_as(ChartNoteIn, request), viewer=self.viewer(), at=timezone.now()
        )
        return Response(serialize_annotation(_get_note_or_404(self, note_id)), status=201)


class OneAnnotation(RestView):
    """A note."""

    changes = (NotesDays,)

    @extend_schema(operation_id="get_annotation", responses=ChartAnnotationOut)
    def get(self, request: Request, chart_note_id: int) -> Response:
        """A note by its id."""
        Parameters.of(request)
        return Response(serialize_annotation(_get_note_or_404(self, chart_note_id)))

    @extend_schema(operation_id="remove_annotation", responses={200: ChartAnnotationOut})
    def delete(self, request: Request, chart_note_id: int) -> Response:
        """Take it off all charts; answers what it was. Whoever made it may, and platform."""
        Parameters.of(request)
        note = _get_note_or_404(self, chart_note_id)
        if not may_remove_note(self.viewer(), note.made_by_id):
            raise Http404
        actions.remove_chart_note(note_id=chart_note_id, viewer=self.viewer())
        return Response(serialize_annotation(note))


def serialize_annotation(annotation: ChartAnnotation) -> dict[str, Any]:
    """As REST has it, with names for ids."""
    teams = {team.id: team.name for team in accounts.teams()}
    named = workloads.workloads()
    return {
        "id": annotation.note_id,
        "day": annotation.day.isoformat(),
        "kind": annotation.kind,
        "text": annotation.text,
        "team": None if annotation.team_id is None else teams[annotation.team_id],
        "workload": None if annotation.workload_id is None else named[annotation.workload_id].name,
        "noted_by": annotation.made_by or None,
    }


def _get_note_or_404(view: RestView, note_id: int) -> ChartAnnotation:
    """The note, or that there is none: another team's is as if it were not there."""
    note = chart_note(note_id, view.viewer())
    if note is None:
        raise Http404
    return note


def _id_named(field: str, name: str, ids_by_name: dict[str, int]) -> int | None:
    if not name:
        return None
    if name not in ids_by_name:
        raise Refusal(field, f"there is no {field} named {name!r}")
    return ids_by_name[name]


def _annotation_key(annotation: ChartAnnotation) -> tuple[str, str, str]:
    return (
        annotation.day.isoformat(),
        annotation.kind,
        f"{annotation.text}{annotation.note_id or ''}",
    )
