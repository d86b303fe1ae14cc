"""Files in a bucket of S3, or of what speaks its language, by fsspec.

Keys, region and endpoint come from the environment (AWS_…) or the machine's role, as boto3 has them.
"""

import errno
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from apps.files.drafts import FileEntry
from apps.files.trouble import PlaceUnreachable

REFUSES_CONDITION = frozenset({errno.EINVAL, errno.EBUSY, errno.ENOSYS})
PART_BYTES = 16 << 20
"""Ten thousand parts, as many as S3 takes of a file, are 160 GB; a part is held in memory."""


@contextmanager
def _asking_bucket() -> Iterator[None]:
    """Refuse PlaceUnreachable of whatever the bucket's driver raises, but that a file is not there."""
    # Whoever has a driver has botocore; who has none never comes here.
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (FileNotFoundError, PlaceUnreachable):
        raise
    except (BotoCoreError, ClientError, OSError) as trouble:
        raise PlaceUnreachable(str(trouble)) from trouble


class BucketDraft:
    """A multipart upload: nothing is in the bucket under its name before it is completed."""

    def __init__(self, opened: Any) -> None:
        self.opened = opened
        self.is_over = False

    def write(self, block: bytes, /) -> int:
        """Append some bytes."""
        with _asking_bucket():
            return int(self.opened.write(block))

    def flush(self) -> None:
        """Do nothing: parts go as they fill."""

    def publish(self) -> None:
        """Complete the upload."""
        if not self.is_over:
            with _asking_bucket():
                self.opened.close()
                self.opened.commit()
            self.is_over = True

    def discard(self) -> None:
        """Abort the upload."""
        if not self.is_over:
            self.is_over = True
            # Closing would send what is left.
            self.opened.closed = True
            # Who forgets drafts may have aborted it before.
            with _asking_bucket(), suppress(FileNotFoundError):
                self.opened.discard()


class BucketPlace:
    """A bucket, or what of it begins with a prefix."""

    def __init__(self, address: str, temporary: Path) -> None:
        self.scheme, _, root = address.partition("://")
        self.root = root.strip("/")
        self.temporary = temporary

    def open(self, name: str) -> IO[bytes]:
        """Open a whole file for reading. Refuses FileNotFoundError."""
        with _asking_bucket():
            opened = self._system().open(self._key(name), "rb", block_size=PART_BYTES)
        return cast(IO[bytes], opened)

    def draft(self, name: str) -> BucketDraft:
        """Begin a file."""
        with _asking_bucket():
            opened = self._system().open(
                self._key(name), "wb", block_size=PART_BYTES, autocommit=False
            )
        return BucketDraft(opened)

    def delete(self, name: str) -> None:
        """Delete a file, if there is one."""
        with _asking_bucket(), suppress(FileNotFoundError):
            self._system().rm_file(self._key(name))

    def entries(self, folder: str) -> Iterator[FileEntry]:
        """List the files in a folder and in those below it, by name."""
        with _asking_bucket():
            listed = self._system().find(self._key(folder), detail=True)
        for key in sorted(listed):
            yield FileEntry(
                key.removeprefix(self.root).lstrip("/"),
                int(listed[key]["size"]),
                listed[key]["LastModified"],
            )

    def is_there(self, name: str) -> bool:
        """Return whether the whole file is there."""
        try:
            with _asking_bucket():
                return bool(self._system().info(self._key(name))["type"] == "file")
        except FileNotFoundError:
            return False

    @contextmanager
    def local_copy(self, name: str) -> Iterator[str]:
        """Give a copy in a folder of its own, which is deleted after."""
        self.temporary.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=self.temporary))
        try:
            path = folder / PurePosixPath(name).name
            with _asking_bucket():
                self._copy_to(name, path)
            yield str(path)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _copy_to(self, name: str, path: Path) -> None:
        """Copy a file out of the bucket. Refuses PlaceUnreachable of all that hinders it but that there is none."""
        try:
            with self.open(name) as source, path.open("xb") as out:
                shutil.copyfileobj(source, out, PART_BYTES)
        except (FileNotFoundError, PlaceUnreachable):
            raise
        except OSError as trouble:
            raise PlaceUnreachable(str(trouble)) from trouble

    def forget_drafts(self, folder: str, begun_before: datetime) -> int:
        """Abort uploads that began before; return how many."""
        system, bucket = self._system(), self._bucket
        with _asking_bucket():
            old = [
                {"Key": upload["Key"], "UploadId": upload["UploadId"]}
                for upload in self._uploads_under_way(system, folder)
                if upload["Initiated"] < begun_before
            ]
            for upload in old:
                # Whoever began it may have completed or aborted it meanwhile.
                with suppress(FileNotFoundError):
                    system.call_s3("abort_multipart_upload", Bucket=bucket, **upload)
        return len(old)

    def begin_mark(self, name: str, mark: str) -> None:
        """Write a small file where there is none of this name."""
        _, _, key = self._key(name).partition("/")
        system, params = self._system(), {"Bucket": self._bucket, "Key": key, "Body": mark.encode()}
        with _asking_bucket():
            try:
                system.call_s3("put_object", IfNoneMatch="*", **params)
            except FileExistsError:
                return
            except OSError as refused:
                if refused.errno not in REFUSES_CONDITION:
                    raise
                # There is one, or the store knows no conditions.
                if not self.is_there(name):
                    system.call_s3("put_object", **params)

    def _uploads_under_way(self, system: Any, folder: str) -> Iterator[Mapping[str, Any]]:
        """Yield every upload below a folder: S3 lists a thousand at a time."""
        _, _, prefix = self._key(folder).partition("/")
        after: dict[str, str] = {}
        while True:
            page = system.call_s3(
                "list_multipart_uploads", Bucket=self._bucket, Prefix=f"{prefix}/", **after
            )
            yield from page.get("Uploads") or ()
            if not page.get("IsTruncated"):
                return
            after = {
                "KeyMarker": page["NextKeyMarker"],
                "UploadIdMarker": page.get("NextUploadIdMarker") or "",
            }

    @property
    def _bucket(self) -> str:
        return self.root.partition("/")[0]

    def _key(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root

    def _system(self) -> Any:
        """Return the driver, which keeps its connections for the process and knows of forks."""
        # Only here: who keeps files in a folder never loads it.
        import fsspec

        # Its stubs say nothing of it.
        driver: Any = fsspec
        try:
            return driver.filesystem(self.scheme, use_listings_cache=False)
        except ImportError as missing:
            raise PlaceUnreachable(
                f"{self.scheme}:// needs a driver that is not installed: uv sync --extra s3"
            ) from missing
