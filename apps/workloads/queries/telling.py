"""Who has told of a job so far, and of which nodes: what an agent's own say in it rests on."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection

from apps.economics.jobs import JobSource
from apps.fleet.queries import clusters
from apps.workloads.models import Allocation

NamedJob = tuple[str, str]
"""A cluster's name and a raw id in it."""


@dataclass(frozen=True, slots=True)
class ToldSoFar:
    """What was said of a raw id: the nodes it names, and whether none but agents said it.

    `agent_node_ids` are the nodes whose agents did, as far as that is known.
    `is_placed`: it holds, or held, something on the node asked for.
    """

    node_names: frozenset[str]
    is_of_agents_alone: bool
    agent_node_ids: frozenset[int]
    is_placed: bool


def told_so_far(named: Collection[NamedJob], node_id: int) -> dict[NamedJob, ToldSoFar]:
    """Of each of these jobs that anybody told of, all its attempts together."""
    ids = {fact.name: cluster_id for cluster_id, fact in clusters().items()}
    keys = {
        (ids[cluster], raw_id): (cluster, raw_id) for cluster, raw_id in named if cluster in ids
    }
    if not keys:
        return {}
    raw_ids = [raw_id for _, raw_id in keys]
    held = Allocation.objects.filter(node_id=node_id, job__raw_id__in=raw_ids)
    placed = set(held.values_list("job__cluster_id", "job__raw_id"))
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT job.cluster_id, job.raw_id, bool_and(event.source_rank = %s),
                   array_agg(DISTINCT held.value->>'node'), array_agg(DISTINCT event.agent_node_id)
            FROM unnest(%s::int8[], %s::text[]) AS key (cluster_id, raw_id)
            JOIN workloads_job AS job USING (cluster_id, raw_id)
            JOIN workloads_jobevent AS event ON event.job_id = job.id
            LEFT JOIN LATERAL jsonb_array_elements(event.content->'allocations') AS held ON true
            GROUP BY job.cluster_id, job.raw_id
            """,
            [int(JobSource.AGENT), [cluster_id for cluster_id, _ in keys], raw_ids],
        )
        return {
            keys[cluster_id, raw_id]: ToldSoFar(
                frozenset(filter(None, names)),
                of_agents,
                frozenset(filter(None, node_ids)),
                (cluster_id, raw_id) in placed,
            )
            for cluster_id, raw_id, of_agents, names, node_ids in cursor
        }
