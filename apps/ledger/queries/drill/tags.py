"""Which tags costs carry, for a choice among them."""

from dataclasses import replace

from django.conf import settings
from psycopg import sql

from apps.ledger.queries.costs import CostFilter, parameters, where
from apps.ledger.queries.tables import rows

MOST_TAGS = 200


def tags_used(chosen: CostFilter) -> dict[str, list[str]]:
    """The values of every tag that costs of the window carry, by key, in order; 200 in all."""
    if not settings.TAG_KEYS:
        return {}
    untagged = replace(chosen, tags={})
    found = rows(
        sql.SQL(
            """
            SELECT DISTINCT tag.key, tag.value
            FROM (SELECT DISTINCT day.tags FROM ledger_ledgerday AS day
                  WHERE {where} AND day.tags <> '{{}}'::jsonb) AS used
            CROSS JOIN LATERAL jsonb_each_text(used.tags) AS tag
            ORDER BY 1, 2 LIMIT %(most)s
            """
        ).format(where=where(untagged)),
        parameters(untagged) | {"most": MOST_TAGS},
    )
    values: dict[str, list[str]] = {}
    for key, value in found:
        values.setdefault(key, []).append(value)
    return values
