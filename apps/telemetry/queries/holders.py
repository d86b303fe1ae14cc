"""The texts behind the small integers that stand for holders."""

from collections.abc import Collection, Iterable

from django.db import connection


def holder_keys(ids: Collection[int]) -> dict[int, str]:
    """The agent's text for each holder; 0 is ''."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, key FROM telemetry_holderkey WHERE id = ANY(%s)", [list(ids)])
        return dict(cursor.fetchall())


def holder_ids(keys: Iterable[str]) -> dict[str, int]:
    """The integers of those keys that any agent has ever sent."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT key, id FROM telemetry_holderkey WHERE key = ANY(%s)", [list(keys)])
        return dict(cursor.fetchall())
