"""Messages in Redis: one that is none is put aside and counted, and the worker lives.

Kombu reads JSON out of a list where it takes a message; what raises there ends the worker, and the message is gone by then.
"""

import logging
from typing import Any

from kombu.transport.redis import Channel, Transport

from controlplane.unreadable import UNREADABLE

log = logging.getLogger(__name__)

COUNT_KEY, KEPT_KEY = "runrate.unreadable.count", "runrate.unreadable"
MOST_KEPT = 100
"""So many of the latest are kept for whoever wants to know what they were."""


class RedisChannel(Channel):
    """A connection to the queues, which are lists."""

    def _brpop_read(self, **options: Any) -> Any:
        """Hand on the message that was waited for; one that is none is put aside. Refuses Empty."""
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]  # its stubs lack it
        except UNREADABLE as problem:
            self._put_aside(problem)
            return True

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """Take the oldest message that can be read. Refuses Empty."""
        while True:
            try:
                return super()._get(queue)
            except UNREADABLE as problem:
                self._put_aside(problem)

    def _put_aside(self, problem: Exception) -> None:
        # Of JSON and of UTF-8 the error has what it is of; of a message that nests too deep nothing is left.
        text = getattr(problem, "doc", None) or getattr(problem, "object", None) or str(problem)
        with self.conn_or_acquire() as client:
            count = client.incr(COUNT_KEY)
            client.lpush(KEPT_KEY, text)
            client.ltrim(KEPT_KEY, 0, MOST_KEPT - 1)
        log.warning(
            "message_unreadable kept=%s count=%s reason=%s", KEPT_KEY, count, type(problem).__name__
        )


class RedisTransport(Transport):
    """The transport of `redis://` and `rediss://`."""

    Channel = RedisChannel
