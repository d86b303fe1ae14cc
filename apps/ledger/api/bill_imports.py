"""Imports of bills by REST: created, read, and taken back."""

import hashlib
from dataclasses import asdict
from typing import Any, ClassVar

from django.core.exceptions import ObjectDoesNotExist
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.files.limits import BodyKind
from apps.ledger.actions.bill_acceptance import LONGEST_REASON, accept_unread_rows
from apps.ledger.actions.bill_uploads import (
    UNDER_WAY,
    BillUpload,
    call_off_bill,
    keep_bill,
    read_bill_again,
)
from apps.ledger.actions.bills import BASES, undo_delivery
from apps.ledger.queries.bills.deliveries import (
    DeliveryFact,
    RejectedBillFact,
    bills_of_deliveries,
    delivery,
    delivery_page,
    rejected_page,
)
from apps.uploads.files import LONGEST_NAME, UploadDraft
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import Parameters, StrictSerializer, Text, parsed
from apps.web.rest.views import AcceptsBills, CanManageBilling, Permissions, RestView, SeesPrices

STATES = ("waiting", "running", "held", "done", "failed", "undone")


class BillUploadIn(StrictSerializer):
    """A file of a bill, as a form; with `addition` it is one of several and replaces nothing."""

    file = serializers.FileField(max_length=LONGEST_NAME)
    addition = serializers.BooleanField(required=False, default=False)


class BillAcceptanceIn(StrictSerializer):
    """Why a bill import is accepted without the rows that could not be read."""

    reason = Text(max_length=LONGEST_REASON)


class BillTotalOut(serializers.Serializer[Any]):
    """The sum of the rows taken in, in one currency, exactly."""

    currency = serializers.CharField()
    billed = serializers.CharField()
    effective = serializers.CharField()
    list = serializers.CharField()
    contracted = serializers.CharField()


class BillImportOut(Answer[DeliveryFact]):
    """The import of a bill's file and its result; the figures are those of `import_focus`.

    `address` is its own, `rejected_rows` that of the rows that could not be read. One that is
    `held` has such rows and would replace others: nothing of it counts until it is accepted.
    """

    without = ("is_addition", "stored_as", "person__name", "accepted_by__name")
    first = (
        *("id", "name", "layout", "addition", "state", "rejected_rows", "rows", "imported"),
        *("unchanged", "replaced", "rejected", "totals", "bills", "flags", "size_bytes", "failure"),
    )
    address = serializers.CharField()
    addition = serializers.BooleanField(source="is_addition")
    state = serializers.ChoiceField(choices=STATES)
    rejected_rows = serializers.CharField()
    totals = BillTotalOut(many=True)
    bills = serializers.ListField(child=serializers.IntegerField(), help_text="by id")
    by = serializers.CharField(source="person__name", allow_null=True)
    accepted_by = serializers.CharField(source="accepted_by__name", allow_null=True)


class RejectedBillRowOut(Answer[RejectedBillFact]):
    """A row that was not taken: its line in the file, the column, and why."""


class BillImportsView(RestView):
    """Who sees prices reads; finance and platform bring in and take back."""

    reads = (SeesPrices,)
    changes: ClassVar[Permissions] = (CanManageBilling,)

    def told(self, fact: DeliveryFact, bills: list[int] | None = None) -> dict[str, Any]:
        """A bill import as REST answers it."""
        address = self.request.build_absolute_uri(f"/api/v1/bills/imports/{fact.id}")
        return serialize_as(
            BillImportOut,
            fact,
            address=address,
            rejected_rows=f"{address}/rejected",
            bills=bills_of_deliveries([fact.id])[fact.id] if bills is None else bills,
            totals=[
                {"currency": currency} | {basis: sums[basis] for basis in BASES}
                for currency, sums in sorted(fact.totals.items())
            ],
        )


class BillImports(BillImportsView):
    """Files of bills."""

    row = BillImportOut
    parser_classes = [MultiPartParser]
    body = BodyKind.BILL

    @extend_schema(
        operation_id="list_bill_imports", parameters=[*PAGES], responses=list_of(BillImportOut)
    )
    def get(self, request: Request) -> Response:
        """Bill imports, the newest first."""
        Parameters.of(request)
        page = delivery_page(parse_page_request(request))
        bills = bills_of_deliveries([fact.id for fact in page.rows])
        return paged(request, page, lambda fact: self.told(fact, bills[fact.id]))

    @extend_schema(
        operation_id="import_bill",
        parameters=[REPEAT_KEY],
        request={"multipart/form-data": BillUploadIn},
        responses={202: BillImportOut},
    )
    @once(content_of=lambda request: _form_digest(request))
    def post(self, request: Request) -> Response:
        """Bring in a file of at most 512 MiB: FOCUS 1.0 to 1.4 or an AWS report (CSV, gzip, Parquet).

        The worker takes it in; look at `address` until its `state` is done or failed. The same file
        again changes nothing, a corrected one replaces its period; one with rows that cannot be
        read replaces nothing, and is `held` where it would.
        """
        body = parsed(BillUploadIn, request)
        upload = _store_file(body["file"], is_addition=body["addition"], by=self.viewer().person_id)
        serialized = self.told(_get_delivery_or_404(keep_bill(upload=upload, at=timezone.now())))
        return Response(serialized, status=202, headers={"Location": serialized["address"]})


class BillImportView(BillImportsView):
    """One bill import."""

    @extend_schema(operation_id="bill_import", responses=BillImportOut)
    def get(self, request: Request, import_id: int) -> Response:
        """How far it is, and what came of it."""
        Parameters.of(request)
        return Response(self.told(_get_delivery_or_404(import_id)))


class RejectedBillRows(BillImportsView):
    """Rows of a bill import that could not be read."""

    row = RejectedBillRowOut

    @extend_schema(
        operation_id="list_rejected_bill_rows",
        parameters=[*PAGES],
        responses=list_of(RejectedBillRowOut),
    )
    def get(self, request: Request, import_id: int) -> Response:
        """By line; the first 10,000 are kept."""
        Parameters.of(request)
        _get_delivery_or_404(import_id)
        page = rejected_page(import_id, parse_page_request(request))
        return paged(request, page, lambda row: serialize_as(RejectedBillRowOut, row))


class BillImportUndo(BillImportsView):
    """A bill import undone."""

    body = BodyKind.EMPTY

    @extend_schema(
        operation_id="undo_bill_import",
        parameters=[REPEAT_KEY],
        request=None,
        responses=BillImportOut,
    )
    @once()
    def post(self, request: Request, import_id: int) -> Response:
        """Its rows go and those that it replaced count again; the newest of a bill, in open months.

        One that was undone already stays as it is.
        """
        parsed(StrictSerializer, request)
        if _get_delivery_or_404(import_id).undone_at is None:
            undo_delivery(import_id=import_id, at=timezone.now())
        return Response(self.told(_get_delivery_or_404(import_id)))


class BillImportCalledOff(BillImportsView):
    """A bill import of which nothing is taken."""

    body = BodyKind.EMPTY

    @extend_schema(
        operation_id="call_off_bill_import",
        parameters=[REPEAT_KEY],
        request=None,
        responses=BillImportOut,
    )
    @once()
    def post(self, request: Request, import_id: int) -> Response:
        """Take nothing of a file that waits or is being read: it is `failed` then, and its file goes."""
        parsed(StrictSerializer, request)
        _get_delivery_or_404(import_id)
        call_off_bill(import_id=import_id, at=timezone.now())
        return Response(self.told(_get_delivery_or_404(import_id)))


class BillImportReadAgain(BillImportsView):
    """A bill import that was broken off, read once more."""

    body = BodyKind.EMPTY

    @extend_schema(
        operation_id="read_bill_import_again",
        parameters=[REPEAT_KEY],
        request=None,
        responses={202: BillImportOut},
    )
    @once()
    def post(self, request: Request, import_id: int) -> Response:
        """Have a `failed` file read again from its first row; it is kept for a day.

        One that waits for that already, or is being read, stays as it is.
        """
        parsed(StrictSerializer, request)
        if _get_delivery_or_404(import_id).state not in UNDER_WAY:
            read_bill_again(import_id=import_id, at=timezone.now())
        return Response(self.told(_get_delivery_or_404(import_id)), status=202)


class BillImportAcceptance(BillImportsView):
    """A bill import that is accepted without the rows that could not be read."""

    # A token has no name to give.
    changes = (AcceptsBills,)

    @extend_schema(
        operation_id="accept_bill_import",
        parameters=[REPEAT_KEY],
        request=BillAcceptanceIn,
        responses=BillImportOut,
    )
    @once()
    def post(self, request: Request, import_id: int) -> Response:
        """Accept what it lacks, with a reason; for people. One that is held takes its place then.

        Until somebody does, or a later import of the same bills comes, their months stay open.
        """
        body = parsed(BillAcceptanceIn, request)
        _get_delivery_or_404(import_id)
        accept_unread_rows(
            import_id=import_id,
            person_id=self.viewer().person_id,
            reason=body["reason"],
            at=timezone.now(),
        )
        return Response(self.told(_get_delivery_or_404(import_id)))


def _get_delivery_or_404(import_id: int) -> DeliveryFact:
    fact = delivery(import_id)
    if fact is None:
        raise ObjectDoesNotExist(f"there is no import {import_id}")
    return fact


def _form_digest(request: Request) -> bytes:
    """Return the digest of a form, with the digest of its file in the file's place."""
    digest = hashlib.sha256()
    for name in sorted(request.data):
        value = request.data[name]
        digest.update(f"{name}\n".encode())
        if isinstance(value, UploadedFile):
            for chunk in value.chunks():
                digest.update(chunk)
        else:
            digest.update(str(value).encode())
    return digest.digest()


def _store_file(file: "UploadedFile[Any]", *, is_addition: bool, by: int | None) -> BillUpload:
    """The file where the worker finds it, with its digest."""
    draft = UploadDraft("bill")
    try:
        for chunk in file.chunks():
            draft.write(chunk)
        draft.publish()
    except BaseException:
        draft.forget()
        raise
    stored = draft.stored(file.name or "", unnamed="a bill")
    return BillUpload(**asdict(stored), is_addition=is_addition, person_id=by)
