"""Claims of a whole node that two jobs of one scheduler made for the same time: one cannot be."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection

MOST = 100
OVERLAPS = """
SELECT DISTINCT held.node_name, least(job.raw_id, other_job.raw_id), greatest(job.raw_id, other_job.raw_id)
FROM workloads_allocation AS held
JOIN workloads_job AS job ON job.id = held.job_id
JOIN fleet_nodecapacity_fact AS capacity
  ON capacity.node_id = held.node_id AND capacity.period && held.period
JOIN workloads_allocation AS other
  ON other.node_id = held.node_id AND other.job_id <> held.job_id AND other.period && held.period
JOIN workloads_job AS other_job
  ON other_job.id = other.job_id AND other_job.cluster_id = job.cluster_id
WHERE held.job_id = ANY(%s) AND NOT upper_inf(held.period) AND NOT upper_inf(other.period)
  AND upper(held.period * other.period) - lower(held.period * other.period) > interval '1 minute'
  AND held.gpus_numerator >= held.gpus_denominator * capacity.units
  AND other.gpus_numerator >= other.gpus_denominator * capacity.units
  AND capacity.units > 0
ORDER BY 1, 2, 3
LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class DoubleClaim:
    """A node and the two jobs that each held all its GPUs for more than a minute at once."""

    node: str
    first_job: str
    second_job: str


def double_claims(job_ids: Collection[int]) -> list[DoubleClaim]:
    """Return the double claims of whole nodes in which one of these jobs is, at most a hundred."""
    with connection.cursor() as cursor:
        cursor.execute(OVERLAPS, [list(job_ids), MOST])
        return [DoubleClaim(*row) for row in cursor.fetchall()]
