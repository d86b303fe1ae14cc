"""The body of a delivery: how long, of what kind, never inflated beyond its bound."""

from collections.abc import Mapping
from typing import Any

from apps.files.limits import BodyKind
from apps.telemetry.actions.wire import BatchTooLarge, BatchUnreadable
from apps.web.rest.bodies import GzipUnreadable, inflated
from apps.web.rest.body_limits import most_bytes_of
from apps.web.rest.views import BodyTooLarge

MOST_INFLATED_BYTES = 32 * 1024 * 1024


class LengthMissing(Exception):
    """The request does not say how long its body is."""


class EncodingUnknown(Exception):
    """The body is neither plain nor gzip, or not JSON."""


def body(environ: Mapping[str, Any]) -> bytes:
    """The JSON text.

    Refuses EncodingUnknown, LengthMissing, BatchTooLarge and BatchUnreadable.
    """
    media = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise EncodingUnknown("send Content-Type: application/json")
    encoding = environ.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise EncodingUnknown("send the body as it is or with Content-Encoding: gzip")
    text = environ.get("CONTENT_LENGTH") or ""
    if not text.isdecimal():
        raise LengthMissing("send Content-Length; a body in chunks of unknown length is not read")
    length = int(text)
    most = most_bytes_of(BodyKind.TELEMETRY)
    if length > most:
        raise BatchTooLarge(f"{length} bytes; send at most {most} in one batch")
    sent: bytes = environ["wsgi.input"].read(length)
    return _inflated_body(sent) if encoding == "gzip" else sent


def _inflated_body(sent: bytes) -> bytes:
    try:
        return inflated(sent, MOST_INFLATED_BYTES)
    except GzipUnreadable as refused:
        raise BatchUnreadable(str(refused)) from refused
    except BodyTooLarge as refused:
        more = f"inflates to more than {MOST_INFLATED_BYTES} bytes; send less at once"
        raise BatchTooLarge(more) from refused
