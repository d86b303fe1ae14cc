"""On which nodes jobs held something, hour by hour."""

from collections.abc import Collection
from datetime import datetime

from django.db import connection

NODES = """
SELECT DISTINCT allocation.node_id, asked.hour
FROM unnest(%(jobs)s::int8[], %(hours)s::timestamptz[]) AS asked (job_id, hour)
JOIN workloads_allocation AS allocation
  ON allocation.job_id = asked.job_id AND allocation.node_id IS NOT NULL
 AND allocation.period && tstzrange(asked.hour, asked.hour + interval '1 hour')
ORDER BY allocation.node_id, asked.hour
"""


def nodes_of_job_hours(
    job_hours: Collection[tuple[int, datetime]],
) -> list[tuple[int, datetime]]:
    """The nodes on which these jobs held something in these hours, each once, with the hour."""
    job_ids, hours = [job_id for job_id, _ in job_hours], [hour for _, hour in job_hours]
    with connection.cursor() as cursor:
        cursor.execute(NODES, {"jobs": job_ids, "hours": hours})
        return list(cursor.fetchall())
