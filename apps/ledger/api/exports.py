"""Exports over the wire: asked for, looked at, fetched and called off."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.db import transaction
from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import queries as accounts
from apps.accounts.queries import TokenFact
from apps.ledger.actions import exports as actions
from apps.ledger.queries.export_scope import (
    ExportRefused,
    ExportScope,
    chosen_ids,
    parse_export_window,
    refuse_what_rows_lack,
)
from apps.ledger.queries.exports import (
    Asker,
    ExportFact,
    ExportWhat,
    FileForm,
    export_page,
    file_parts,
    visible_export,
)
from apps.web.rest.idempotency import once
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import IdInBody, Parameters, StrictSerializer, Text, parsed
from apps.web.rest.views import Reads, RestView

WHATS = ("lines", "job_days", "days", "service_days", "run_days")
FORMS = ("csv", "parquet")
STATES = ("queued", "making", "done", "failed", "cancelled")


class NameList(serializers.ListField):
    """Names; an empty list asks for nothing in particular."""

    child = Text()


class ExportIn(StrictSerializer):
    """The rows to export: of lines, of job days (a job's lines of a day summed), of days, services or runs.

    As CSV packed by gzip, or as Parquet.
    """

    what = serializers.ChoiceField(choices=WHATS)
    form = serializers.ChoiceField(choices=FORMS, required=False, default="csv")
    window = Text(help_text="lastmonth, 2026-07, start/end and so on, as for costs")
    team = NameList(required=False, default=list, max_length=100)
    workload = NameList(required=False, default=list, max_length=100)
    pool = NameList(required=False, default=list, max_length=100)
    state = NameList(required=False, default=list, max_length=10)
    tags = serializers.DictField(child=Text(), required=False, default=dict)
    job_id = IdInBody(required=False, allow_null=True, default=None)


class ExportOut(Answer[ExportFact]):
    """An export as it stands. `file` is its address while there is one; `sha256` is of its bytes.

    `rows` have been written so far, of `rows_estimated`.
    """

    without = ("asker", "chosen", "team_ids", "digest")
    what = serializers.ChoiceField(choices=WHATS)
    form = serializers.ChoiceField(choices=FORMS)
    window = serializers.CharField()
    asked = serializers.DictField(child=serializers.JSONField())
    state = serializers.ChoiceField(choices=STATES)
    sha256 = serializers.CharField(allow_null=True)
    file = serializers.CharField(allow_null=True)
    teams = serializers.ListField(
        child=NamedOut(), allow_null=True, help_text="whose rows are in it; null: everybody's"
    )


class ExportView(RestView):
    """Who may read may ask for a file of what they read."""

    # A write here changes nothing but the caller's own exports.
    reads = changes = (Reads,)

    def asker(self) -> Asker:
        """The token or person who asks."""
        if isinstance(self.request.auth, TokenFact):
            return Asker(token_id=self.request.auth.id)
        return Asker(person_id=self.viewer().person_id)

    def seen(self, export_id: int) -> ExportFact:
        """One of the caller's; refuses ObjectDoesNotExist."""
        try:
            return visible_export(export_id, self.asker(), self.viewer())
        except ObjectDoesNotExist:
            raise ObjectDoesNotExist(f"there is no export {export_id}") from None

    def told(self, fact: ExportFact) -> dict[str, Any]:
        """An export as it is answered."""
        at = timezone.now()
        is_ready = fact.has_file(at) and fact.is_covered_by(self.viewer())
        names = {team.id: team.name for team in accounts.teams()}
        ids = fact.team_ids
        file = self.request.build_absolute_uri(f"/api/v1/exports/{fact.id}/file")
        return serialize_as(
            ExportOut,
            fact,
            window=fact.window.text,
            sha256=fact.digest or None,
            file=file if is_ready else None,
            teams=None if ids is None else [{"id": i, "name": names[i]} for i in sorted(ids)],
        )


class Exports(ExportView):
    """Files of ledger rows, made in the background and kept for a week."""

    row = ExportOut

    @extend_schema(operation_id="list_exports", parameters=[*PAGES], responses=list_of(ExportOut))
    def get(self, request: Request) -> Response:
        """The caller's exports, newest first; everybody's to who sees everything."""
        Parameters.of(request)
        return paged(
            request,
            export_page(self.asker(), self.viewer(), parse_page_request(request)),
            self.told,
        )

    @extend_schema(
        operation_id="ask_export",
        parameters=[REPEAT_KEY],
        request=ExportIn,
        responses={201: ExportOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Ask for a file of the rows that the caller may see; look at it again until it is done."""
        body, at = parsed(ExportIn, request), timezone.now()
        what, form = ExportWhat(body.pop("what")), FileForm(body.pop("form"))
        row_query = ExportScope(**body)
        try:
            refuse_what_rows_lack(what, row_query)
            wanted = actions.NewExport(
                what,
                parse_export_window(row_query.window, at),
                asked=row_query.words(),
                chosen=chosen_ids(row_query, self.viewer()),
                form=form,
            )
        except ExportRefused as refused:
            raise ValidationError({refused.field: [refused.message]}) from refused
        export_id = actions.request_export(wanted=wanted, asker=self.asker(), at=at)
        return Response(self.told(self.seen(export_id)), status=201)


class ExportDetail(ExportView):
    """One export."""

    @extend_schema(operation_id="export", responses=ExportOut)
    def get(self, request: Request, export_id: int) -> Response:
        """How far it is, and where its file is."""
        Parameters.of(request)
        return Response(self.told(self.seen(export_id)))

    @extend_schema(operation_id="cancel_export", responses={200: ExportOut})
    def delete(self, request: Request, export_id: int) -> Response:
        """Call it off, or give up its file; one that is over already stays as it is.

        For who asked for it, and for who manages.
        """
        Parameters.of(request)
        fact = self.seen(export_id)
        if fact.asker != self.asker() and not self.viewer().may_manage:
            raise PermissionDenied("this export is another's to call off")
        actions.cancel_export(export_id=export_id, at=timezone.now())
        return Response(self.told(self.seen(export_id)))


class ExportFile(ExportView):
    """The file of an export."""

    @extend_schema(
        operation_id="export_file",
        responses={
            (200, "application/gzip"): OpenApiResponse(
                OpenApiTypes.BINARY, description="CSV, compressed by gzip"
            ),
            (200, "application/vnd.apache.parquet"): OpenApiResponse(
                OpenApiTypes.BINARY, description="Parquet, where that was asked for"
            ),
        },
    )
    def get(self, request: Request, export_id: int) -> StreamingHttpResponse:
        """The rows as they were asked for, while they are kept and all are the caller's to read."""
        Parameters.of(request)
        with transaction.atomic():
            fact = self.seen(export_id)
            if not fact.has_file(timezone.now()) or not fact.is_covered_by(self.viewer()):
                raise ObjectDoesNotExist(f"export {export_id} has no file that you may read")
        return file_answer(fact)


def file_answer(fact: ExportFact) -> StreamingHttpResponse:
    """The file, streamed; refuses ObjectDoesNotExist where it is no longer on this disk."""
    try:
        parts = file_parts(fact)
    except FileNotFoundError:
        raise ObjectDoesNotExist(f"export {fact.id} has no file any more") from None
    return StreamingHttpResponse(
        parts,
        content_type=fact.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{fact.file_name}"',
            "Cache-Control": "no-store",
        },
    )
