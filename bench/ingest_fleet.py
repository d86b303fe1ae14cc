"""A fleet to send from, in the database of RUNRATE_DATABASE_URL: `python -m bench.ingest_fleet N`.

Prints the agents' secrets as JSON.
"""

import json
import os
import sys
from datetime import UTC, datetime, timedelta

import django

HOURS_BACK = 13 * 24


def main(nodes: int) -> list[str]:
    """Migrate, bootstrap, and enrol an agent on each of `nodes` nodes; their secrets."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    django.setup()
    from controlplane.readiness import make_ready

    make_ready()
    from apps.fleet import actions as fleet

    at = datetime.now(UTC)
    started_at = at - timedelta(hours=HOURS_BACK)
    pool_id = fleet.add_pool(
        pool=fleet.EnteredPool(
            name="bench",
            provider="aws",
            region="us-east-1",
            instance_type="p5.48xlarge",
            gpu_model="NVIDIA H100 80GB HBM3",
            gpus_per_node=8,
            purchase_option="on_demand",
        ),
        at=at,
    )
    secrets = []
    for place in range(nodes):
        node = fleet.NewNode(name=f"n{place}", pool_id=pool_id, started_at=started_at, units=8)
        node_id = fleet.add_node(node=node, at=at)
        invitation = fleet.invite_agent(node_id=node_id, expires_at=at + timedelta(days=1), at=at)
        agent = fleet.enrol(secret=invitation, source="nvml", version="0.1.0", at=at)
        secrets.append(agent.secret)
    return secrets


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
