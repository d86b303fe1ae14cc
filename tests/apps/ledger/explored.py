"""Two days of a node that three teams know: what the Cost explorer and its address are asked about."""

from datetime import timedelta

from django.core.cache import cache

from tests import make
from tests.apps.ledger import scene

DAY = "2026-03-03"
"""The second of the two days, of which 7 hours are settled."""


def make_explored() -> None:
    """Research holds two GPUs for an hour, the day after four; then a secret team one beside them."""
    cache.clear()
    make.make_organisation()
    cluster_id = make.make_cluster("atlas")
    pool_id = make.make_pool("h100", cluster_id=cluster_id)
    next_day = scene.TEN + timedelta(hours=20)
    until = next_day + scene.HOUR
    node_id = scene.make_priced_node(pool_id=pool_id, started_at=scene.TEN)
    scene.make_rule("research", make.make_team("=Research", cost_centre="CC-1"))
    scene.make_rule("secret", make.make_team("Secret project"))
    scene.make_job("1", node_id, gpus=2, user="ada")
    scene.make_job("2", node_id, gpus=4, user="ada", from_=next_day, to=until)
    scene.make_job("3", node_id, gpus=1, user="eve", account="secret", from_=next_day, to=until)
    scene.settle(at=until + timedelta(days=1), ends_at=until)
