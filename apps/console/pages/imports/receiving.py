"""Takes an uploaded file to where it is kept, as it comes in."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from typing import Any, ClassVar

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.html import format_html
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from apps.accounts.queries import Role
from apps.console.kit.cells import WRAPPED
from apps.console.kit.change import Act, ChangeForm, Done
from apps.console.kit.entries import UploadField
from apps.console.kit.page import ConsolePage, answered
from apps.console.kit.request import Context, View, request_context, shown_to
from apps.console.kit.table import Table
from apps.files import PlaceFull, PlaceUnreachable
from apps.files.limits import BodyKind, size_words
from apps.ledger.queries.bills.deliveries import RejectedBillFact
from apps.tables.column import Column
from apps.uploads.files import StoredFile, UploadDraft
from apps.uploads.imports import RejectedFact
from apps.web.rest.body_limits import largest_file_of, most_bytes_of, takes_body

NO_FILE = "No file came: choose one that is not empty."
REJECTED_ROWS = Table[RejectedBillFact | RejectedFact](
    "rejected",
    "Rejected rows",
    (
        Column("line", "Line", lambda row: row.line),
        Column("field", "Field", lambda row: row.field,
               shown=lambda row, _: format_html("<code>{}</code>", row.field)),
        Column("reason", "Why", lambda row: row.reason, WRAPPED),
    ),
)  # fmt: skip


class UploadForm(ChangeForm):
    """The file that is sent."""

    takes: ClassVar[BodyKind] = BodyKind.JOBS
    file = UploadField("File", needed=NO_FILE, takes=BodyKind.JOBS)


class ToUploads(FileUploadHandler):
    """Writes one file and its digest; a second file in the same form is passed over."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.upload: UploadDraft | None = None
        self.is_open = False

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """The first file begins."""
        super().new_file(*args, **kwargs)
        if self.upload is None:
            self.upload = UploadDraft()
            self.is_open = True

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """To where it is kept; no other handler gets it."""
        if self.upload is not None and self.is_open:
            self.upload.write(raw_data)

    def file_complete(self, file_size: int) -> "UploadedFile[Any] | None":
        """The file is there; what stands for it has no content of its own."""
        if self.upload is None or not self.is_open:
            return None
        self.upload.publish()
        self.is_open = False
        return UploadedFile(None, self.file_name, self.content_type, file_size)

    def upload_interrupted(self) -> None:
        """Nobody will ask for half a file."""
        self.forget()

    def forget(self) -> None:
        """Delete what was written."""
        if self.upload is not None:
            self.upload.forget()
            self.is_open = False

    def forget_what_can(self) -> None:
        """Delete what was written, where its place lets anybody."""
        with suppress(PlaceUnreachable):
            self.forget()

    def received(self, file: "UploadedFile[Any]") -> StoredFile:
        """The file that a form has, as it is kept. Refuses FileNotFoundError where none came."""
        if self.upload is None:
            raise FileNotFoundError(file.name)
        return self.upload.stored(file.name or "")


def _answer_too_large(request: HttpRequest, page: ConsolePage, kind: BodyKind) -> HttpResponse:
    most = size_words(largest_file_of(kind))
    message = f"That file is larger than the {most} that are taken: send it as gzip or Parquet."
    return answered(request, replace(page, problems=(message,)), 413)


def _storage_failure_response(
    request: HttpRequest, page: ConsolePage, trouble: PlaceFull | PlaceUnreachable
) -> HttpResponse:
    message = f"That file could not be kept: {trouble}."
    status = 507 if isinstance(trouble, PlaceFull) else 503
    return answered(request, replace(page, problems=(message,)), status)


def receiving(
    roles: frozenset[Role],
    active_entry: str,
    form: type[UploadForm],
    page: Callable[[Context, ChangeForm | None], ConsolePage],
) -> Callable[[Callable[[Context, StoredFile, Mapping[str, Any]], Done]], View[[]]]:
    """Make a view of what people of these roles do by sending this form, whose file goes to disk as it comes.

    What is decorated keeps the file, with what else was entered; `page` is the form's.

    The token is in the form, and reading the form takes the file in: so the size and who sends it are
    looked at first, then where the file goes is set, and only then is the token asked for. A file
    that is too large is refused unread, on `page`. Unless the answer is a redirect the file is deleted.
    """

    def decorate(keep: Callable[[Context, StoredFile, Mapping[str, Any]], Done]) -> View[[]]:
        @takes_body(form.takes, answers_too_large=True)
        @csrf_exempt
        @require_POST
        @shown_to(roles)
        @wraps(keep)
        def view(request: HttpRequest, /) -> HttpResponseBase:
            context = request_context(request, active_entry, carries=False)
            if int(request.META.get("CONTENT_LENGTH") or 0) > most_bytes_of(form.takes):
                return _answer_too_large(request, page(context, None), form.takes)
            receiver = ToUploads(request)

            def answer_form(request: HttpRequest) -> HttpResponse:
                act = Act(
                    form=form(context.sent, context, is_sent=True),
                    apply=lambda entered: keep(
                        context, receiver.received(entered["file"]), entered
                    ),
                    page=lambda sent: page(context, sent),
                )
                return act.answer(request, context)

            handlers: list[FileUploadHandler] = [receiver]
            request.upload_handlers = handlers
            try:
                answer: HttpResponseBase = csrf_protect(answer_form)(request)
            except (PlaceFull, PlaceUnreachable) as trouble:
                answer = _storage_failure_response(request, page(context, None), trouble)
            if answer.status_code != 302:
                receiver.forget_what_can()
            return answer

        return view

    return decorate
