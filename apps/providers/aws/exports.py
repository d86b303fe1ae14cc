"""AWS's bills as it delivers them to S3: what a period's manifest names, fetched as one file."""

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shutil import copyfileobj
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from botocore.exceptions import ClientError
from pyarrow import parquet as untyped

from apps.files.limits import UNPACKED, BodyKind
from apps.files.lines import LONGEST_LINE
from apps.files.parquet import ParquetRefused, open_parquet
from apps.files.unpacking import UnpackRefused, open_unpacked
from apps.providers.aws.access import CONFIG, in_words, session_of
from apps.providers.pace import Pace
from apps.providers.reading import (
    BillDelivery,
    CloudAccess,
    DeliveryIncomplete,
    DeliveryUnreadable,
)

if TYPE_CHECKING:  # the types come with the tools of development only
    from mypy_boto3_s3 import S3Client

# Data exports say BILLING_PERIOD=2026-10, the older reports 20261001-20261101.
PERIOD = re.compile(r"/(?:BILLING_PERIOD=(\d{4})-(\d{2})|(\d{4})(\d{2})\d{2}-\d{8})/")
MANIFEST = re.compile(r"-Manifest\.json$", re.IGNORECASE)
NOT_THERE = {"404", "NoSuchKey", "NotFound"}
PARQUET: Any = untyped
ROWS_AT_ONCE = 10_000
LEVEL = 1


@dataclass(frozen=True, slots=True)
class LatestManifest:
    """The newest manifest of a period such as 2026-10; `etag` changes with what is in it."""

    period: str
    key: str
    etag: str
    written_at: datetime


@dataclass(slots=True)
class ExportPlace:
    """Where one export is delivered, and who asks."""

    client: "S3Client"
    bucket: str
    prefix: str
    pace: Pace

    @property
    def name(self) -> str:
        """The export's own name."""
        return self.prefix.rpartition("/")[2]

    def deliveries(self) -> list[BillDelivery]:
        """The newest manifest of each period, oldest period first. Refuses CloudRefused."""
        newest: dict[str, LatestManifest] = {}
        with in_words():
            pages = self.client.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket, Prefix=f"{self.prefix}/"
            )
            for page in pages:
                for manifest in _manifests_in(page.get("Contents", [])):
                    current = newest.get(manifest.period)
                    if current is None or current.written_at <= manifest.written_at:
                        newest[manifest.period] = manifest
                self.pace.wait()
        return [
            BillDelivery(period, newest[period].key, newest[period].etag)
            for period in sorted(newest)
        ]

    def fetch(self, delivery: BillDelivery, folder: Path) -> Path:
        """One file of all rows that the manifest stands for, in `folder`.

        Refuses DeliveryIncomplete, DeliveryUnreadable and CloudRefused.
        """
        keys = _data_keys(self, delivery)
        if not keys:
            raise DeliveryIncomplete(f"the manifest of {delivery.period} names no file")
        parts = [_download_part(self, key, folder / f"part-{n}") for n, key in enumerate(keys)]
        with in_words():
            now = self.client.head_object(Bucket=self.bucket, Key=delivery.key)["ETag"].strip('"')
        if now != delivery.version:
            raise DeliveryIncomplete(f"{delivery.period} was delivered anew while it was fetched")
        if len(parts) == 1:
            return parts[0]
        return _join_parts(parts, keys[0], folder)


def open_export(account: CloudAccess) -> ExportPlace:
    """The place that the account's `s3://bucket/prefix/name` names."""
    parts = urlsplit(account.export_uri)
    client = session_of(account).client(
        "s3", region_name=account.export_region or None, config=CONFIG
    )
    return ExportPlace(client, parts.netloc, parts.path.strip("/"), Pace(per_second=20))


def _manifests_in(rows: Sequence[Any]) -> Iterator[LatestManifest]:
    for row in rows:
        period = PERIOD.search(f"/{row['Key']}")
        if period and MANIFEST.search(row["Key"]):
            year, month = (period[1], period[2]) if period[1] else (period[3], period[4])
            etag = row["ETag"].strip('"')
            yield LatestManifest(f"{year}-{month}", row["Key"], etag, row["LastModified"])


def _data_keys(place: ExportPlace, delivery: BillDelivery) -> list[str]:
    """Names come from the manifest alone: files of other deliveries lie beside them."""
    with in_words():
        got = place.client.get_object(Bucket=place.bucket, Key=delivery.key)
        text = got["Body"].read()
    try:
        manifest: Mapping[str, Any] = json.loads(text)
        named = manifest.get("dataFiles") or manifest.get("reportKeys") or []
        return [_object_key(entry) for entry in named]
    except (ValueError, AttributeError, TypeError) as broken:
        raise DeliveryUnreadable(
            f"the manifest {delivery.key} cannot be read: {broken}"
        ) from broken


def _object_key(named: str) -> str:
    """A key, or s3://bucket/key."""
    return urlsplit(named).path.lstrip("/") if named.startswith("s3://") else named.lstrip("/")


def _download_part(place: ExportPlace, key: str, path: Path) -> Path:
    place.pace.wait()
    with in_words():
        try:
            body = place.client.get_object(Bucket=place.bucket, Key=key)["Body"]
        except ClientError as refused:
            if refused.response.get("Error", {}).get("Code") not in NOT_THERE:
                raise
            raise DeliveryIncomplete(f"{key} is named but not there yet") from refused
        with path.open("wb") as out:
            copyfileobj(body, out, 1 << 20)
    return path


def _join_parts(parts: Sequence[Path], key: str, folder: Path) -> Path:
    target = folder / "whole"
    if key.endswith(".parquet"):
        _join_parquet(parts, target)
    else:
        _join_csv(parts, target)
    for part in parts:
        part.unlink()
    return target


def _join_parquet(parts: Sequence[Path], target: Path) -> None:
    """Each part is decoded within bounds: who writes to a bucket is not always who reads it."""
    out: Any = None
    try:
        for part in parts:
            with open_parquet(part) as source:
                if out is None:
                    out = PARQUET.ParquetWriter(target, source.schema)
                if source.names != out.schema.names:
                    raise DeliveryUnreadable("the files of one delivery have different columns")
                for batch in source.batches:
                    out.write_batch(batch.cast(out.schema))
    except ParquetRefused as refused:
        raise DeliveryUnreadable(f"a file of the delivery cannot be read: {refused}") from refused
    finally:
        if out is not None:
            out.close()


@contextmanager
def _unpacked(part: Path) -> Iterator[IO[bytes]]:
    try:
        with part.open("rb") as packed, open_unpacked(packed, UNPACKED[BodyKind.BILL]) as source:
            yield source
    except UnpackRefused as refused:
        raise DeliveryUnreadable(f"a file of the delivery cannot be read: {refused}") from refused


def _join_csv(parts: Sequence[Path], target: Path) -> None:
    """Each part has the heading of its own; no time in the file: the same rows, the same bytes."""
    heading = b""
    with target.open("wb") as raw, gzip.GzipFile("", "wb", LEVEL, fileobj=raw, mtime=0) as out:
        for part in parts:
            with _unpacked(part) as source:
                first = source.readline(LONGEST_LINE)
                if len(first) == LONGEST_LINE:
                    raise DeliveryUnreadable("the heading of a file is longer than a megabyte")
                if heading and first != heading:
                    raise DeliveryUnreadable("the files of one delivery have different columns")
                if not heading:
                    out.write(first)
                heading = first
                copyfileobj(source, out, 1 << 20)
