"""Takes an uploaded file straight to disk, under RUNRATE_HOME/uploads, as it comes in."""

import hashlib
import secrets
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest

LARGEST_BYTES = 512 * 1024 * 1024


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
