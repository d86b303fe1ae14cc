"""Celery's messages as files: a message is there whole or not at all, and a spoilt one harms nobody.

Kombu's own file transport writes a message where readers look for it, and a worker that meets half
of one ends. It also keeps its queues in files that can be spoilt; here every exchange has one queue,
of its own name, so nothing has to be kept.
"""

import logging
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any

from kombu.transport import TRANSPORT_ALIASES
from kombu.transport.filesystem import Channel as FileChannel
from kombu.transport.filesystem import Transport as FileTransport
from kombu.transport.filesystem import exchange_queue_t
from kombu.utils.json import dumps, loads

from controlplane.folders import own_folder
from controlplane.unreadable import UNREADABLE

log = logging.getLogger(__name__)

SCHEME = "files"
SPOILT = "unreadable"
"""The folder in which spoilt messages are kept for whoever wants to know what they were."""


class Channel(FileChannel):
    """One folder of messages for all queues."""

    supports_fanout = False

    def get_table(self, exchange: str) -> list[exchange_queue_t]:  # type: ignore[override]  # its two superclasses differ
        """The one queue of an exchange."""
        return [exchange_queue_t(exchange, "", exchange)]

    def _queue_bind(
        self, exchange: str, routing_key: str | None, pattern: str | None, queue: str | None
    ) -> None:
        """Nothing is kept of it."""

    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]  # its two superclasses differ
        """Written under another name first: a rename is at once."""
        folder = own_folder(Path(self.data_folder_out))
        path = folder / f"{time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        draft = path.with_name(f".{path.name}.draft")
        draft.write_text(dumps(payload))
        draft.replace(path)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """The oldest message that can be read; each goes to one worker only. Refuses Empty."""
        for path in _waiting(Path(self.data_folder_in), queue):
            mine = path.with_name(f".{path.name}.taken")
            try:
                path.rename(mine)
            except FileNotFoundError:
                continue  # another worker has it
            payload = self._read(mine)
            if payload is None:
                log.warning("message_unreadable path=%s", _set_aside(mine, path.name))
                continue
            mine.unlink(missing_ok=True)
            return payload
        raise Empty

    def _size(self, queue: str) -> int:
        """How many wait."""
        return sum(1 for _ in _waiting(Path(self.data_folder_in), queue))

    def _read(self, path: Path) -> Any:
        """The message; None where it is none, as after a disk that was full."""
        try:
            payload = loads(path.read_bytes().decode())
            self.Message(payload, channel=self)
        except UNREADABLE:
            return None
        return payload


def _waiting(folder: Path, queue: str) -> Iterator[Path]:
    """The oldest first. The folder is made again where somebody took it away."""
    try:
        paths = sorted(folder.iterdir())
    except FileNotFoundError:
        own_folder(folder)
        return
    yield from (path for path in paths if path.name.partition(".")[2] == f"{queue}.msg")


def _set_aside(path: Path, name: str) -> Path:
    kept = own_folder(path.parent / SPOILT) / name
    path.replace(kept)
    return kept


LOOKS_FOR_MESSAGES: list[Callable[[], None]] = []
"""What a process does each time that it looks for messages, also where it could take none."""


class Transport(FileTransport):
    """The transport of `files://`."""

    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Take a message, or find none within the time."""
        for show in LOOKS_FOR_MESSAGES:
            show()
        super().drain_events(connection, timeout)


TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
# By name: who has files for a broker never loads a driver of Redis.
TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = (
    "controlplane.redis_broker:RedisTransport"
)
