"""Takes the body of a request, once who sends it, what they may do there and how much it takes of them are known."""

import asyncio
import io
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import IO, Any

from apps.files.limits import MEBIBYTE, STRANGERS_BYTES, size_words
from apps.telemetry.api import is_sender_cached
from apps.web.rest.body_limits import Address, BodySender, address_of, sender_of_environ
from controlplane.settings import ENVIRONMENT, HOME
from controlplane.spool import Spool, SpooledBody, SpoolFull

BATCHES = "/api/v1/telemetry/batches"
MOST_STRANGERS = 128
"""Bodies of strangers that are waited for at once."""
BODY_SECONDS = 10.0
LEAST_BYTES_PER_SECOND = 32 * 1024
UNKNOWN = 401, "Sign in first", f"Nobody unknown sends more than {size_words(STRANGERS_BYTES)}."
TOO_SLOW = 408, "Body too slow", "The body did not arrive in the time that its length allows."
CUT_OFF = 400, "Body cut off", "The body ended before its Content-Length."
NO_BODY_HERE = "This address takes no body with this method: its limit is 0 bytes."


class Refused(Exception):
    """The request goes no further; its parts are status, title and detail."""


def is_batch(environ: dict[str, Any]) -> bool:
    """Whether an agent delivers windows."""
    return (environ["REQUEST_METHOD"], environ["PATH_INFO"]) == ("POST", BATCHES)


class BodyReader:
    """One per web process: an event loop reads, threads look up who sends."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self.threads = threads
        self.strangers: dict[object, asyncio.Timeout] = {}
        self.spool = Spool(
            HOME / "uploads",
            most_bytes=ENVIRONMENT.spool_mib * MEBIBYTE,
            most_bytes_of_caller=ENVIRONMENT.spool_caller_mib * MEBIBYTE,
        )

    async def body(self, environ: dict[str, Any], protocol: Any) -> IO[bytes]:
        """All of it, once it is known that it is taken. Refuses Refused."""
        length = _length(environ)
        if length == 0:
            return io.BytesIO()
        address = address_of(environ["PATH_INFO"], environ["REQUEST_METHOD"])
        if address is None:
            # Where there is nothing, or not by this method, that is answered without the body.
            return _without_body(environ)
        if not address.most_bytes:
            raise Refused(413, "Body too large", NO_BODY_HERE)
        sender = await self._sender(environ, address, length)
        most = address.most_bytes if sender.key else min(address.most_bytes, STRANGERS_BYTES)
        if length is not None and length > most:
            if sender.key and address.answers_too_large:
                return io.BytesIO()
            raise Refused(*_too_large(most))
        async with self._time(sender, length) as limit:
            body = await self._read(protocol, length, most, sender, limit)
        environ["CONTENT_LENGTH"] = str(body.seek(0, io.SEEK_END))
        body.seek(0)
        return body

    async def _sender(
        self, environ: dict[str, Any], address: Address, length: int | None
    ) -> BodySender:
        """Who sends more than strangers may, where they may do so here. Refuses Refused.

        Who sends less is looked at once the body is here.
        """
        header = environ.get("HTTP_AUTHORIZATION")
        if is_batch(environ) and is_sender_cached(header):
            # By its header: no agent may use up what the others have room for.
            return BodySender(
                f"agent:{blake2b((header or '').encode(), digest_size=16).hexdigest()}"
            )
        if length is not None and length <= STRANGERS_BYTES:
            return BodySender("")
        loop = asyncio.get_running_loop()
        sender = await loop.run_in_executor(self.threads, sender_of_environ, environ, address)
        if not sender.key and length is not None:
            raise Refused(*UNKNOWN)
        if sender.may_not:
            raise Refused(403, "Permission denied", sender.may_not)
        return sender

    @asynccontextmanager
    async def _time(self, sender: BodySender, length: int | None) -> AsyncIterator[asyncio.Timeout]:
        """As long as a body of this length may take; of strangers only so many at once. Refuses Refused."""
        mine = object()
        try:
            async with asyncio.timeout(
                BODY_SECONDS + (length or 0) / LEAST_BYTES_PER_SECOND
            ) as limit:
                if not sender.key:
                    self._give_way()
                    self.strangers[mine] = limit
                yield limit
        except TimeoutError:
            raise Refused(*TOO_SLOW) from None
        finally:
            self.strangers.pop(mine, None)

    def _give_way(self) -> None:
        if len(self.strangers) >= MOST_STRANGERS:
            oldest = next(iter(self.strangers))
            self.strangers.pop(oldest).reschedule(asyncio.get_running_loop().time())

    async def _read(
        self,
        protocol: Any,
        length: int | None,
        most: int,
        sender: BodySender,
        limit: asyncio.Timeout,
    ) -> IO[bytes]:
        """The body, in memory or, where it is long, in a file that has no name. Refuses Refused."""
        if length is not None and length <= STRANGERS_BYTES:
            whole = await protocol()
            if len(whole) < length:
                raise Refused(*CUT_OFF)
            return io.BytesIO(whole)
        holding = self.spool.holding(sender.key)
        try:
            if length is not None:
                holding.grow(length)
            await _fill(holding, protocol, length, most, limit)
            return holding.body()
        except SpoolFull as full:
            holding.close()
            raise Refused(503, "No room for this body now", str(full)) from None
        except BaseException:
            holding.close()
            raise


async def _fill(
    holding: SpooledBody, protocol: Any, length: int | None, most: int, limit: asyncio.Timeout
) -> None:
    """Take a body part by part; of one in chunks each gives time for the next, up to `most` bytes."""
    async for part in protocol:
        if length is None:
            if holding.size_bytes + len(part) > most:
                is_strangers = most <= STRANGERS_BYTES
                raise Refused(*(UNKNOWN if is_strangers else _too_large(most)))
            holding.grow(len(part))
            when = limit.when()
            if when is not None:
                limit.reschedule(when + len(part) / LEAST_BYTES_PER_SECOND)
        holding.write(part)
    if length is not None and holding.size_bytes < length:
        raise Refused(*CUT_OFF)


def _too_large(most: int) -> tuple[int, str, str]:
    return (
        413,
        "Body too large",
        f"This address takes at most {size_words(most)} ({most} bytes) at once.",
    )


def _without_body(environ: dict[str, Any]) -> IO[bytes]:
    environ["CONTENT_LENGTH"] = "0"
    return io.BytesIO()


def _length(environ: dict[str, Any]) -> int | None:
    """How long the body is; None: it comes in chunks, and its end says so."""
    text = environ.get("CONTENT_LENGTH", "")
    if text:
        return int(text) if text.isdecimal() else 0
    # HTTP/2 has no header for it: a body simply comes.
    is_open_ended = environ["SERVER_PROTOCOL"] in {"HTTP/2", "HTTP/2.0"}
    is_change = environ["REQUEST_METHOD"] not in {"GET", "HEAD", "OPTIONS"}
    in_chunks = "HTTP_TRANSFER_ENCODING" in environ or (is_open_ended and is_change)
    return None if in_chunks else 0
