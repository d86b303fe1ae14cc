"""Join tokens of before get room for the nodes that their cluster has, as the migration says."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.databases import other_database
from tests.make import NOON

BEFORE = ("fleet", "0001_squashed_0016_join_tokens_in_the_trail")
NUMBERED = ("fleet", "0017_trust_in_nodes")
LIVING = {"empty": 0, "small": 3, "ten": 10, "large": 14}
POOL = """
INSERT INTO fleet_pool (id, name, provider, region, instance_type, gpu_model, gpus_per_node, unit,
                        purchase_option, idle_sharing, created_at)
VALUES (1, 'pool', 'aws', '', '', 'H100', 8, 'gpu', 'on_demand', 'held', now())
"""
CLUSTER = (
    "INSERT INTO fleet_cluster (name, kind, created_at) VALUES (%s, 'slurm', now()) RETURNING id"
)
NODES = """
INSERT INTO fleet_node (name, kind, provider_id, period, end_reason, created_at, cluster_id, pool_id)
SELECT %(life)s || number, 'machine', '', tstzrange(%(begin)s, %(end)s), '', now(), %(cluster)s, 1
FROM generate_series(1, %(count)s) AS number
"""
TOKEN = """
INSERT INTO fleet_jointoken (name, digest, cluster_id, node_names, scopes, created_at, expires_at)
VALUES (%s, %s, %s, '{gpu-*}', '{ingest}', %s, %s)
"""


def plant_tokens() -> None:
    """A token of each cluster, whose nodes live, and nine that ended in each."""
    with connection.cursor() as cursor:
        cursor.execute(POOL)
        for name, living in LIVING.items():
            cursor.execute(CLUSTER, [name])
            (cluster_id,) = cursor.fetchone()
            given = {"life": "living-", "begin": NOON, "end": None, "cluster": cluster_id}
            cursor.execute(NODES, given | {"count": living})
            ended = {"life": "ended-", "end": NOON + timedelta(days=1), "count": 9}
            cursor.execute(NODES, given | ended)
            expires_at = NOON + timedelta(days=9)
            cursor.execute(TOKEN, [name, name.encode(), cluster_id, NOON, expires_at])


@pytest.mark.django_db(transaction=True)
def test_tokens_of_before_get_twice_the_living_nodes_of_their_cluster() -> None:
    with other_database():
        MigrationExecutor(connection).migrate([BEFORE])
        plant_tokens()
        MigrationExecutor(connection).migrate([NUMBERED])
        with connection.cursor() as cursor:
            cursor.execute("SELECT name, most_nodes FROM fleet_jointoken")
            numbers = dict(cursor.fetchall())
    assert numbers == {"empty": 20, "small": 20, "ten": 20, "large": 28}
