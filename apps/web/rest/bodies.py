"""A JSON body as it is or gzipped, never inflated beyond its bound."""

import zlib

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request

from apps.web.rest.views import BodyTooLarge

MOST_INFLATED_BYTES = 32 * 1024 * 1024
GZIP_WINDOW = 31


class GzipUnreadable(ValueError):
    """A body that says it is gzip and is not, or not all of it."""


def json_body(request: Request) -> bytes:
    """The JSON text of a request.

    Refuses UnsupportedMediaType of a body that is not JSON, as it is or gzipped; BodyTooLarge;
    GzipUnreadable.
    """
    media_type = (request.content_type or "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType(media_type)
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise UnsupportedMediaType(encoding, "send the body as it is or gzipped")
    try:
        sent = bytes(request.body)
    except RequestDataTooBig as refused:
        raise BodyTooLarge from refused
    return inflated(sent, MOST_INFLATED_BYTES) if encoding == "gzip" else sent


def inflated(sent: bytes, most_bytes: int) -> bytes:
    """Return what was gzipped; never more than so much in memory, however much it would become.

    Refuses GzipUnreadable and, of more, BodyTooLarge.
    """
    stream = zlib.decompressobj(GZIP_WINDOW)
    try:
        text = stream.decompress(sent, most_bytes + 1)
    except zlib.error as trouble:
        raise GzipUnreadable(f"is not gzip: {trouble}") from trouble
    if len(text) > most_bytes:
        raise BodyTooLarge
    if not stream.eof:
        raise GzipUnreadable("the gzip body ends before it is complete")
    return text
