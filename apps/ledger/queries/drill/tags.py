"""Tags that costs carry, for a choice among them."""

from dataclasses import replace

from django.conf import settings
from psycopg import sql

from apps.ledger.queries.cube.question import CubeQuestion
from apps.ledger.queries.cube.sources import DAYS, TAG, name_of
from apps.ledger.queries.cube.subqueries import condition_of, parameters_of, rows_of
from apps.ledger.queries.tables import rows

MOST_TAGS = 200


def tags_used(question: CubeQuestion) -> dict[str, list[str]]:
    """The values of every tag that costs of the window carry, by key, in order; 200 in all."""
    if not settings.TAG_KEYS:
        return {}
    others = {name: keys for name, keys in question.filters.items() if name_of(name) != TAG}
    untagged = replace(question, filters=others, group_by=())
    tag_rows = rows(
        sql.SQL(
            """
            SELECT DISTINCT tag.key, tag.value
            FROM (SELECT DISTINCT day.tags FROM {rows}
                  WHERE {where} AND day.tags <> '{{}}'::jsonb) AS used
            CROSS JOIN LATERAL jsonb_each_text(used.tags) AS tag
            ORDER BY 1, 2 LIMIT %(most)s
            """
        ).format(rows=rows_of(untagged, DAYS), where=condition_of(untagged, DAYS)),
        parameters_of(untagged, DAYS) | {"most": MOST_TAGS},
    )
    values: dict[str, list[str]] = {}
    for key, value in tag_rows:
        values.setdefault(key, []).append(value)
    return values
