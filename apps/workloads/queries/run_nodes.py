"""On which nodes runs were while much of their time went to one thing."""

from collections.abc import Collection
from datetime import datetime

from django.db import connection

from apps.economics.run_time import Bucket

# Postgres counts the places of an array from 1.
NODES = """
SELECT DISTINCT allocation.node_id, told.hour
FROM workloads_runhour AS told
JOIN workloads_allocation AS allocation
  ON allocation.job_id = told.job_key AND allocation.node_id IS NOT NULL
 AND allocation.period && tstzrange(told.hour, told.hour + interval '1 hour')
CROSS JOIN LATERAL (SELECT sum(each) FROM unnest(told.bucket_ms) AS each) AS whole (ms)
WHERE told.run_id = ANY(%(runs)s) AND told.bucket_ms[%(bucket)s + 1] > 0
  AND told.bucket_ms[%(bucket)s + 1] >= %(share)s * (whole.ms - told.bucket_ms[%(untold)s + 1])
  AND (%(from)s::timestamptz IS NULL OR told.hour >= %(from)s)
  AND (%(to)s::timestamptz IS NULL OR told.hour < %(to)s)
ORDER BY allocation.node_id, told.hour
"""


def nodes_while(
    bucket: Bucket,
    share: float,
    run_ids: Collection[int],
    span: tuple[datetime | None, datetime | None],
) -> list[tuple[int, datetime]]:
    """Nodes of these runs' jobs, each with an hour in which the bucket had this share or more.

    Of what was told of the hour; each node and hour once.
    """
    asked = {"bucket": int(bucket), "untold": int(Bucket.UNTOLD), "share": share}
    with connection.cursor() as cursor:
        cursor.execute(NODES, {**asked, "runs": list(run_ids), "from": span[0], "to": span[1]})
        return list(cursor.fetchall())
