"""On which nodes runs were while much of their time went to one thing."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db import connection

from apps.economics.run_time import Bucket

# Postgres counts the places of an array from 1.
NODES = """
SELECT DISTINCT asked.bucket, allocation.node_id, told.hour
FROM workloads_runhour AS told
CROSS JOIN unnest(%(buckets)s::int4[], %(shares)s::float8[]) AS asked (bucket, share)
JOIN workloads_allocation AS allocation
  ON allocation.job_id = told.job_key AND allocation.node_id IS NOT NULL
 AND allocation.period && tstzrange(told.hour, told.hour + interval '1 hour')
CROSS JOIN LATERAL (SELECT sum(each) FROM unnest(told.bucket_ms) AS each) AS whole (ms)
WHERE told.run_id = ANY(%(runs)s) AND told.bucket_ms[asked.bucket + 1] > 0
  AND told.bucket_ms[asked.bucket + 1] >= asked.share * (whole.ms - told.bucket_ms[%(untold)s + 1])
  AND (%(from)s::timestamptz IS NULL OR told.hour >= %(from)s)
  AND (%(to)s::timestamptz IS NULL OR told.hour < %(to)s)
ORDER BY asked.bucket, allocation.node_id, told.hour
"""


def nodes_while(
    shares: Mapping[Bucket, float],
    run_ids: Collection[int],
    span: tuple[datetime | None, datetime | None],
) -> dict[Bucket, list[tuple[int, datetime]]]:
    """For each bucket the nodes of these runs' jobs, with an hour in which it had this share or more.

    Of what was told of the hour; each node and hour once. A bucket without any is left out.
    """
    if not shares:
        return {}
    params: dict[str, Any] = {
        "buckets": [int(bucket) for bucket in shares],
        "shares": list(shares.values()),
        "untold": int(Bucket.UNTOLD),
        "runs": list(run_ids),
        "from": span[0],
        "to": span[1],
    }
    nodes_by_bucket: dict[Bucket, list[tuple[int, datetime]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(NODES, params)
        for bucket, node_id, hour in cursor:
            nodes_by_bucket.setdefault(Bucket(bucket), []).append((node_id, hour))
    return nodes_by_bucket
