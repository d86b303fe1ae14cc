"""The texts behind the small integers that stand for holders."""

from collections.abc import Collection

from django.db import connection


def holder_keys(ids: Collection[int]) -> dict[int, str]:
    """The agent's text for each holder; 0 is ''."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, key FROM telemetry_holderkey WHERE id = ANY(%s)", [list(ids)])
        return dict(cursor.fetchall())
