"""Put a scenario's teams, clusters, pools, nodes and rules on record, and issue its tokens.

The scenario file belongs to the agent's distribution and is read here as data: server and agent
share no code.
"""

import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from importlib import resources
from typing import Any

from apps.accounts import actions as accounts
from apps.accounts import queries as accounts_queries
from apps.economics.ownership import Rule
from apps.fleet import actions as fleet
from apps.fleet import queries as fleet_queries
from apps.workloads.actions.rules import add_rule
from apps.workloads.actions.workloads import add_workload
from apps.workloads.queries import RuleFact

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DemoSpan:
    """When the scenario plays, and when it was put on record."""

    starts_at: datetime
    ends_at: datetime
    at: datetime

    def moment(self, hours: float) -> datetime:
        """A moment of the scenario's own clock."""
        return self.starts_at + timedelta(hours=hours)


def scenario(name: str) -> Table:
    """A scenario that the agent ships, as its TOML says it."""
    path = resources.files("runrate_agent") / "scenarios" / f"{name}.toml"
    return tomllib.loads(path.read_text())


def fill(story: Table, span: DemoSpan) -> dict[str, Any]:
    """Everything of the scenario that a server must know beforehand.

    Returns the content of the agent's token file: a token for each node and each cluster.
    """
    teams = _teams(story)
    clusters = {
        name: fleet.add_cluster(name=name, kind=kind, at=span.starts_at)
        for name, kind in story["clusters"].items()
    }
    pools = _pools(story, clusters, teams, span)
    nodes = _nodes(story, clusters, pools, span)
    for outage in story.get("outages", ()):
        _outage(outage, nodes, span)
    _rules(story, clusters, teams, span)
    return {
        "jobs": {name: _cluster_token(name, clusters[name], span) for name in clusters},
        "nodes": {name: _node_token(name, nodes[name], span) for name in nodes},
    }


def confirm_most(span: DemoSpan) -> None:
    """Somebody has said of all nodes but the last that their devices are theirs."""
    nodes = sorted(fleet_queries.nodes_lived(span.starts_at, span.ends_at), key=lambda n: n.id)
    for node in nodes[:-1]:
        fleet.confirm_devices(node_id=node.id, at=span.at)


def _teams(story: Table) -> dict[str, int]:
    special = accounts_queries.special_teams()
    teams = {"Platform": special.platform_id}
    for team in story["teams"]:
        owner = team["owner"]
        person = accounts.add_person(
            email=f"{owner.lower().replace(' ', '.')}@demo.example",
            name=owner,
            role="lead",
            password=secrets.token_urlsafe(24),
        )
        teams[team["name"]] = accounts.add_team(
            name=team["name"], cost_centre=team["cost_centre"], owner_id=person
        )
    return teams


def _pools(
    story: Table, clusters: Mapping[str, int], teams: Mapping[str, int], span: DemoSpan
) -> dict[str, Table]:
    pools: dict[str, Table] = {}
    for pool in story["pools"]:
        pool_id = fleet.add_pool(
            pool=fleet.NewPool(
                name=pool["name"],
                provider=pool["provider"],
                purchase_option=pool["purchase_option"],
                cluster_id=clusters[pool["cluster"]],
                region=pool["region"],
                instance_type=pool["instance_type"],
                gpu_model=pool["gpu_model"],
                gpus_per_node=pool["gpus_per_node"],
                owner_team_id=teams[pool["owner_team"]],
            ),
            at=span.starts_at,
        )
        pools[pool["name"]] = {**pool, "id": pool_id}
    return pools


def _nodes(
    story: Table, clusters: Mapping[str, int], pools: Mapping[str, Table], span: DemoSpan
) -> dict[str, int]:
    nodes = {}
    for node in story["nodes"]:
        pool = pools[node["pool"]]
        nodes[node["name"]] = fleet.add_node(
            node=fleet.NewNode(
                name=node["name"],
                pool_id=pool["id"],
                started_at=span.moment(node.get("started_hours", 0)),
                units=pool["gpus_per_node"],
                cluster_id=clusters[pool["cluster"]],
                provider_id=_provider_id(node["name"]) if pool["provider"] == "aws" else "",
            ),
            at=span.at,
        )
        if "ended_hours" in node:
            fleet.end_node(
                node_id=nodes[node["name"]],
                ended_at=span.moment(node["ended_hours"]),
                reason=node["end_reason"],
                at=span.at,
            )
    return nodes


def _provider_id(name: str) -> str:
    """What the cloud calls a machine; made of its name, so that it is the same every time."""
    return f"i-0{sha256(name.encode()).hexdigest()[:16]}"


def _outage(outage: Table, nodes: Mapping[str, int], span: DemoSpan) -> None:
    starts = outage["started_hours"]
    fleet.record_outage(
        outage=fleet.NewOutage(
            node_id=nodes[outage["node"]],
            kind=outage["kind"],
            starts_at=span.moment(starts),
            ends_at=span.moment(starts + outage["hours"]),
        ),
        at=span.at,
    )


def _rules(
    story: Table, clusters: Mapping[str, int], teams: Mapping[str, int], span: DemoSpan
) -> None:
    for rule in story["rules"]:
        team_id = teams[rule["team"]]
        asked = Rule(
            priority=rule["priority"],
            team_id=team_id,
            workload_id=add_workload(name=rule["workload"], team_id=team_id, kind=rule["kind"]),
            cluster_id=clusters[rule["cluster"]],
            account=rule.get("account", ""),
            namespace=rule.get("namespace", ""),
        )
        add_rule(rule=RuleFact(asked, span.starts_at, None), at=span.at)


def _node_token(name: str, node_id: int, span: DemoSpan) -> str:
    token = accounts.make_token(
        name=f"agent of {name}", scopes=["ingest"], expires_at=None, at=span.at
    )
    fleet.bind_agent(node_id=node_id, token_id=token.id, source="simulated", at=span.at)
    return token.secret


def _cluster_token(name: str, cluster_id: int, span: DemoSpan) -> str:
    token = accounts.make_token(
        name=f"scheduler of {name}", scopes=["jobs", "runs"], expires_at=None, at=span.at
    )
    fleet.bind_cluster_token(token_id=token.id, cluster_id=cluster_id)
    return token.secret
