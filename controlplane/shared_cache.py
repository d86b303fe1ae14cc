"""Django's cache in the database, so that all web processes count sign-ins and requests together.

Each operation is one statement and atomic by itself; `incr` too, unlike that of Django's own backend.
The table is unlogged: nothing waits for a disk, and a crash of the database empties it. Values are
what JSON holds. What a process may know by itself belongs into the cache `process`.
"""

import json
import secrets
from collections.abc import Sequence
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import connection

SWEPT_ONCE_IN = 200
GET = "SELECT value FROM shared_cache WHERE key = %s AND ends_at > statement_timestamp()"
SET = """
    INSERT INTO shared_cache (key, value, ends_at)
    VALUES (%s, %s, coalesce(statement_timestamp() + %s * interval '1 second', 'infinity'))
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends_at = excluded.ends_at
"""
ADD = f"{SET} WHERE shared_cache.ends_at <= statement_timestamp() RETURNING key"
INCR = """
    UPDATE shared_cache SET value = (value::text::bigint + %s)::text::jsonb
    WHERE key = %s AND ends_at > statement_timestamp() RETURNING value
"""
TOUCH = """
    UPDATE shared_cache
    SET ends_at = coalesce(statement_timestamp() + %s * interval '1 second', 'infinity')
    WHERE key = %s AND ends_at > statement_timestamp() RETURNING key
"""
DELETE = "DELETE FROM shared_cache WHERE key = %s RETURNING ends_at > statement_timestamp()"
SWEEP = "DELETE FROM shared_cache WHERE ends_at <= statement_timestamp()"


class SharedCache(BaseCache):
    """The table `shared_cache`; what ended is swept out by those who add."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """The value; `default` where there is none or its time is over."""
        row = _row(GET, self._key(key, version))
        return default if row is None else json.loads(row[0])

    def set(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        """Keep the value, over any that is there."""
        _row(SET, self._key(key, version), json.dumps(value), self._seconds(timeout))

    def add(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        """Keep the value where there is none whose time is not over; whether it was kept."""
        if not secrets.randbelow(SWEPT_ONCE_IN):
            _row(SWEEP)
        given = self._key(key, version), json.dumps(value), self._seconds(timeout)
        return _row(ADD, *given) is not None

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        """Add to a number; refuses ValueError where there is none."""
        row = _row(INCR, delta, self._key(key, version))
        if row is None:
            raise ValueError(f"there is no {key!r}")
        return int(row[0])

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Keep what is there for another while."""
        return _row(TOUCH, self._seconds(timeout), self._key(key, version)) is not None

    def delete(self, key: Any, version: int | None = None) -> bool:
        """Forget it; whether it was there."""
        row = _row(DELETE, self._key(key, version))
        return row is not None and bool(row[0])

    def clear(self) -> None:
        """Forget everything."""
        _row("DELETE FROM shared_cache")

    def _key(self, key: Any, version: int | None) -> str:
        return str(self.make_and_validate_key(key, version=version))

    def _seconds(self, timeout: Any) -> float | None:
        chosen = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        return None if chosen is None else float(chosen)


def _row(statement: str, *given: str | float | None) -> Sequence[Any] | None:
    """What the statement returns first."""
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return cursor.fetchone() if cursor.description else None
