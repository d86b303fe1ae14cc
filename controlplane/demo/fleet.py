"""Put a scenario's teams, clusters, pools, nodes and rules on record, and issue its tokens.

The scenario file belongs to the agent's distribution and is read here as data: server and agent
share no code.
"""

import secrets
import tomllib
from collections.abc import Iterator, Mapping, Sequence
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
    """When the scenario plays, and when it was put on record; so many weeks before the last one."""

    starts_at: datetime
    ends_at: datetime
    at: datetime
    weeks_ago: int = 0

    def moment(self, hours: float) -> datetime:
        """A moment of the scenario's own clock."""
        return self.starts_at + timedelta(hours=hours)


def scenario(name: str) -> Table:
    """A scenario that the agent ships, as its TOML says it."""
    path = resources.files("runrate_agent") / "scenarios" / f"{name}.toml"
    told: Table = tomllib.loads(path.read_text())
    return {**scenario(told["based_on"]), **told} if "based_on" in told else told


@dataclass(frozen=True, slots=True)
class Chapter:
    """A scenario and when it plays."""

    story: Table
    span: DemoSpan


def fill(chapters: Sequence[Chapter], since: datetime) -> dict[str, Any]:
    """Everything of the scenarios, the earlier first, that a server must know of the time `since`.

    The organisation is that of the last. A node that lives to the end of one chapter and is in the
    next goes on. Returns a token for each node and each cluster, and one of who counts.
    """
    story, at = chapters[-1].story, chapters[-1].span.at
    teams = _teams(story)
    clusters = {
        name: fleet.add_cluster(name=name, kind=kind, at=since)
        for name, kind in story["clusters"].items()
    }
    pools = _pools(story, clusters, teams, since)
    nodes = {
        life.name: _node(life, clusters, pools[life.pool], at) for life in _lives(chapters, since)
    }
    for chapter in chapters:
        for outage in chapter.story.get("outages", ()):
            if chapter.span.moment(outage["started_hours"]) >= since:
                _outage(outage, nodes, chapter.span)
    _rules(story, clusters, teams, since, at)
    return {
        "jobs": {name: _cluster_token(name, clusters[name], at) for name in clusters},
        "nodes": {name: _node_token(name, nodes[name], at) for name in nodes},
        "counts": _counter_token(at),
    }


def confirm_most(span: DemoSpan) -> None:
    """Somebody has said of all nodes but the last that their devices are theirs."""
    nodes = sorted(
        fleet_queries.nodes_alive_between(span.starts_at, span.ends_at), key=lambda n: n.id
    )
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
    story: Table, clusters: Mapping[str, int], teams: Mapping[str, int], since: datetime
) -> dict[str, Table]:
    pools: dict[str, Table] = {}
    for pool in story["pools"]:
        pool_id = fleet.add_pool(
            pool=fleet.EnteredPool(
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
            at=since,
        )
        pools[pool["name"]] = {**pool, "id": pool_id}
    return pools


@dataclass(frozen=True, slots=True)
class NodeLife:
    """A machine of some chapter, and through those after it."""

    name: str
    pool: str
    started_at: datetime
    ended_at: datetime | None
    end_reason: str


def _lives(chapters: Sequence[Chapter], since: datetime) -> Iterator[NodeLife]:
    """Those that lived after `since`."""
    lives: dict[str, NodeLife] = {}
    for chapter in chapters:
        for node in chapter.story["nodes"]:
            name, ends = node["name"], node.get("ended_hours")
            began_at = chapter.span.moment(node.get("started_hours", 0))
            lives[name] = NodeLife(
                name=name,
                pool=node["pool"],
                started_at=lives[name].started_at if name in lives else max(began_at, since),
                ended_at=None if ends is None else chapter.span.moment(ends),
                end_reason=node.get("end_reason", ""),
            )
    for life in lives.values():
        if life.ended_at is None or life.ended_at > since:
            yield life


def _node(life: NodeLife, clusters: Mapping[str, int], pool: Table, at: datetime) -> int:
    return fleet.add_node(
        node=fleet.NewNode(
            name=life.name,
            pool_id=pool["id"],
            started_at=life.started_at,
            units=pool["gpus_per_node"],
            cluster_id=clusters[pool["cluster"]],
            provider_id=_provider_id(life.name) if pool["provider"] == "aws" else "",
            ended_at=life.ended_at,
            end_reason=life.end_reason,
        ),
        at=at,
    )


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
    story: Table,
    clusters: Mapping[str, int],
    teams: Mapping[str, int],
    since: datetime,
    at: datetime,
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
        add_rule(rule=RuleFact(asked, since, None), at=at)


def _node_token(name: str, node_id: int, at: datetime) -> str:
    token = accounts.make_token(name=f"agent of {name}", scopes=["ingest"], expires_at=None, at=at)
    fleet.bind_agent(node_id=node_id, token_id=token.id, source="simulated", at=at)
    return token.secret


def _counter_token(at: datetime) -> str:
    token = accounts.make_token(
        name="gateway of the demo", scopes=["requests", "usage"], expires_at=None, at=at
    )
    return token.secret


def _cluster_token(name: str, cluster_id: int, at: datetime) -> str:
    token = accounts.make_token(
        name=f"scheduler of {name}", scopes=["jobs", "runs"], expires_at=None, at=at
    )
    fleet.bind_cluster_token(token_id=token.id, cluster_id=cluster_id)
    return token.secret
