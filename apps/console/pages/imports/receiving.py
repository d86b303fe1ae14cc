"""Takes an uploaded file straight to disk, under RUNRATE_HOME/uploads, as it comes in."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.html import format_html
from django.views.decorators.csrf import csrf_protect

from apps.console.kit.cells import WRAPPED
from apps.console.kit.page import ConsolePage, answered
from apps.console.kit.table import Column, Table
from apps.ledger.queries.bills.deliveries import RejectedBillFact
from apps.workloads.queries.imports import RejectedFact

LARGEST_BYTES = 512 * 1024 * 1024
FORM_BYTES = 64 * 1024
"""What a form adds to the file in it."""
LONGEST_NAME = 120
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


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that lies under RUNRATE_HOME/uploads as `stored_as`; `name` is what its owner said."""

    name: str
    stored_as: str
    size_bytes: int
    digest: str


class ToUploads(FileUploadHandler):
    """Writes one file and its digest; a second file in the same form is passed over."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.path: Path | None = None
        self.out: IO[bytes] | None = None
        self.digest = hashlib.sha256()

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """The first file begins."""
        super().new_file(*args, **kwargs)
        if self.path is None:
            folder = Path(settings.HOME) / "uploads"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path = folder / f"{secrets.token_hex(16)}.jobs"
            self.out = self.path.open("xb")
            self.path.chmod(0o600)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """To disk; no other handler gets it."""
        if self.out is not None:
            self.out.write(raw_data)
            self.digest.update(raw_data)

    def file_complete(self, file_size: int) -> "UploadedFile[Any] | None":
        """The file is there; what stands for it has no content of its own."""
        if self.out is None:
            return None
        self.out.close()
        self.out = None
        return UploadedFile(None, self.file_name, self.content_type, file_size)

    def upload_interrupted(self) -> None:
        """Nobody will ask for half a file."""
        self.forget()

    def forget(self) -> None:
        """Delete what was written."""
        if self.out is not None:
            self.out.close()
            self.out = None
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def receive(
    request: HttpRequest,
    keep: Callable[[ReceivedFile], HttpResponse],
    page: Callable[[str], ConsolePage],
) -> HttpResponseBase:
    """Take the one file of a form to disk as it comes, and answer with what `keep` makes of it.

    For views that are exempt from the token's check: the token is in the form, and reading the form
    takes the file in, so the size and who sends it are looked at first, then where the file goes is
    set, and only then is the token asked for. Where no file came, or one too large, `page` says so.
    Unless the answer is a redirect the file is deleted.
    """
    receiver = ToUploads(request)
    handlers: list[FileUploadHandler] = [receiver]

    def refuse(problem: str, status: int) -> HttpResponse:
        return answered(request, page(problem), status)

    def answer_form(request: HttpRequest) -> HttpResponse:
        file = _received_file(request, receiver)
        if file is None:
            return refuse("No file came: choose one that is not empty.", 400)
        return keep(file)

    if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST_BYTES + FORM_BYTES:
        return refuse("That file is too large to be taken: send it as gzip or Parquet.", 413)
    request.upload_handlers = handlers
    answer: HttpResponseBase = csrf_protect(answer_form)(request)
    if answer.status_code != 302:
        receiver.forget()
    return answer


def _received_file(request: HttpRequest, receiver: ToUploads) -> ReceivedFile | None:
    file = request.FILES.get("file")
    if file is None or not file.size or receiver.path is None:
        return None
    name = PurePath(file.name or "").name[:LONGEST_NAME].replace("\0", "") or "a file"
    return ReceivedFile(name, receiver.path.name, file.size, receiver.digest.hexdigest())
