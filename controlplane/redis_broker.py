"""Messages in Redis: one that is none is counted and told of, and the worker lives.

Kombu reads JSON out of a list where it takes a message; what raises there ends the worker, and the message is gone by then. What
is told has nothing of what the message said, in its own words or in those of an error: others may read this Redis too.
"""

import logging
from typing import Any

from kombu.transport.redis import Channel, Transport

from controlplane.unreadable import UNREADABLE

log = logging.getLogger(__name__)

COUNT_KEY, KEPT_KEY = "runrate.unreadable.count", "runrate.unreadable"
MOST_KEPT = 100
"""Of so many of the latest it is kept how long they were and what was wrong; when, the log says."""


class RedisChannel(Channel):
    """A connection to the queues, which are lists."""

    def _brpop_read(self, **options: Any) -> Any:
        """Hand on the message that was waited for; one that is none is told of. Refuses Empty."""
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]  # its stubs lack it
        except UNREADABLE as problem:
            self._tell(problem)
            return True

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """Take the oldest message that can be read. Refuses Empty."""
        while True:
            try:
                return super()._get(queue)
            except UNREADABLE as problem:
                self._tell(problem)

    def _tell(self, problem: Exception) -> None:
        told = f"{_size_of(problem)}{type(problem).__name__}"
        with self.conn_or_acquire() as client:
            count = client.incr(COUNT_KEY)
            client.lpush(KEPT_KEY, told)
            client.ltrim(KEPT_KEY, 0, MOST_KEPT - 1)
        log.warning(
            "message_unreadable kept=%s count=%s reason=%s", KEPT_KEY, count, type(problem).__name__
        )


def _size_of(problem: Exception) -> str:
    """How long the message was, where its error has it: of JSON that is no message, and of what nests too deep, nothing is left."""
    message = getattr(problem, "doc", None) or getattr(problem, "object", None)
    if message is None:
        return ""
    size_bytes = len(message if isinstance(message, bytes) else message.encode())
    return f"{size_bytes} bytes "


class RedisTransport(Transport):
    """The transport of `redis://` and `rediss://`."""

    Channel = RedisChannel
