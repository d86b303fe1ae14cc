"""The troubles that a place of files can have, apart from a file that is not in it."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
AWAY = frozenset(
    {
        *(errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ENODEV, errno.ENXIO, errno.ENOLINK),
        *(errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENETUNREACH),
        *(errno.ETIMEDOUT, errno.ECONNRESET, errno.ECONNABORTED, errno.ESHUTDOWN),
    }
)
"""What reading raises once a disk, or the host that a folder is mounted from, has gone."""


class PlaceUnreachable(OSError):
    """The place where files are kept cannot be asked: a bucket that does not answer, a folder that is not mounted."""


class PlaceFull(OSError):
    """The place where files are kept has no room for more."""


@contextmanager
def reaching(address: str) -> Iterator[None]:
    """Refuse PlaceFull or PlaceUnreachable of whatever a folder raises, but that a file is not there."""
    try:
        yield
    except (FileNotFoundError, PlaceFull, PlaceUnreachable):
        raise
    except OSError as trouble:
        reason = trouble.strerror or str(trouble)
        if trouble.errno in FULL:
            raise PlaceFull(f"{address} has no room: {reason}") from trouble
        raise PlaceUnreachable(f"{address} cannot be reached: {reason}") from trouble


@contextmanager
def reading_from(address: str) -> Iterator[None]:
    """Refuse PlaceUnreachable where a file that is being read goes away with its place."""
    try:
        yield
    except (FileNotFoundError, PlaceUnreachable):
        raise
    except OSError as trouble:
        if trouble.errno in AWAY:
            raise PlaceUnreachable(f"{address} went away: {trouble.strerror}") from trouble
        raise
