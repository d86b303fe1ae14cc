"""Nodes that let themselves in: one join token, traded by each machine for its own node's token."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Any

from django.db import transaction
from django.db.models import Q

from apps.accounts.actions.tokens import (
    TokenAlreadyRevoked,
    fresh_secret,
    make_token,
    revoke_token,
)
from apps.accounts.queries import Scope, digest_of, tokens_in_force
from apps.economics.hours import HOUR
from apps.economics.machines import is_host_name, plain
from apps.economics.refusal import Refusal
from apps.fleet.actions.enrolment import EnrolledAgent, bind_agent, bind_cluster_token
from apps.fleet.actions.inventory import NewNode, NodeNameTaken, add_node
from apps.fleet.actions.trust import TrustMatter, raise_trust_incident
from apps.fleet.actions.waiting import NodeWaits, keep_waiting, refuse_or_admit
from apps.fleet.models import Agent, Cluster, JoinToken, Node, Pool, TrustKind
from apps.fleet.queries.inventory import nodes_named
from apps.logs.changes import logged_change
from apps.show.entries import Entry

JOIN_PREFIX = "rrj_"
JOINED_SCOPES = (Scope.INGEST, Scope.JOBS)
"""What a node's own token may be given; measuring always is."""
MOST_PATTERNS = 1_000
MOST_NODES = 100_000
USUAL_NODES = 20
"""As many nodes a join token lets in where nobody says another number."""
LIVELY = timedelta(minutes=5)
"""An agent heard of so lately still runs: another machine does not take its place."""
TAKEOVERS = 3
"""So often in an hour an agent that still spoke was replaced: no restart, an incident."""


class JoinTokenNotUnderstood(Refusal):
    """A join token that could let nobody in, or that contradicts itself."""


class JoinTokenUnknown(Exception):
    """No join token was ever made with this secret."""


class JoinTokenOver(Exception):
    """It expired, or was revoked."""


class NodeNotOfToken(Exception):
    """The token is not for a node of this name."""


class NodeNameOdd(Exception):
    """A new node is called by letters, digits, dots, hyphens and underscores."""


class NodeNotOnRecord(Exception):
    """No node of this name lives in the cluster, and the token names no pool to add one to."""


class NodeHasAnAgent(Exception):
    """Another machine reports under this name, and was heard of minutes ago."""


@dataclass(frozen=True, slots=True)
class NewJoinToken:
    """A join token that is asked for; `node_names` are names or shell patterns such as `gpu-*`.

    Of nodes that are not on record it lets in so many that at most `most_nodes` of its live.
    """

    name: Annotated[str, Entry(help="what carries it, such as a DaemonSet")]
    cluster_id: int
    node_names: Annotated[
        tuple[str, ...], Entry(help="names, or patterns such as gpu-*", least=1, most=1_000)
    ]
    expires_at: datetime
    pool_id: int | None = None
    reports_jobs: Annotated[
        bool, Entry(help="whether nodes may tell which jobs hold their GPUs")
    ] = True
    most_nodes: int = USUAL_NODES


@dataclass(frozen=True, slots=True)
class IssuedJoinToken:
    """The only moment at which the secret is known."""

    id: int
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class JoiningNode:
    """A machine's words about itself; `machine` tells it from another one of its name, if given."""

    name: str
    machine: str
    source: str
    version: str


@logged_change()
def make_join_token(
    *, token: NewJoinToken, at: datetime, made_by_id: int | None = None
) -> IssuedJoinToken:
    """Make a join token; only its hash is kept. Refuses JoinTokenNotUnderstood."""
    check_join_token(token, at)
    secret = fresh_secret(JOIN_PREFIX)
    row = JoinToken.objects.create(
        name=token.name,
        digest=digest_of(secret),
        cluster_id=token.cluster_id,
        pool_id=token.pool_id,
        node_names=list(token.node_names),
        scopes=[*JOINED_SCOPES] if token.reports_jobs else [Scope.INGEST],
        most_nodes=token.most_nodes,
        made_by_id=made_by_id,
        created_at=at,
        expires_at=token.expires_at,
    )
    return IssuedJoinToken(row.id, secret)


def check_join_token(token: NewJoinToken, at: datetime) -> None:
    """Refuses JoinTokenNotUnderstood where it could let nobody in."""
    if token.expires_at <= at:
        message = f"the token would have expired at {token.expires_at:%Y-%m-%d %H:%M}Z"
        raise JoinTokenNotUnderstood("expires_at", message)
    if not token.node_names or not all(name.strip() for name in token.node_names):
        message = "give the names of nodes, or patterns such as gpu-*"
        raise JoinTokenNotUnderstood("node_names", message)
    if len(token.node_names) > MOST_PATTERNS:
        message = f"{len(token.node_names)} names are more than {MOST_PATTERNS}; give patterns"
        raise JoinTokenNotUnderstood("node_names", message)
    if not 1 <= token.most_nodes <= MOST_NODES:
        message = f"a join token is for 1 to {MOST_NODES:,} nodes"
        raise JoinTokenNotUnderstood("most_nodes", message)
    cluster = Cluster.objects.get(pk=token.cluster_id)
    if token.pool_id is None:
        return
    pool = Pool.objects.get(pk=token.pool_id)
    if pool.cluster_id not in (None, cluster.id):
        message = f"{pool.name} is a pool of another cluster than {cluster.name}"
        raise JoinTokenNotUnderstood("pool", message)
    if not pool.gpus_per_node:
        message = f"{pool.name} does not say how many GPUs a node of it has"
        raise JoinTokenNotUnderstood("pool", message)


@logged_change()
@transaction.atomic
def revoke_join_token(*, join_token_id: int, at: datetime) -> None:
    """No node joins with it any more; those that did keep their own. Refuses JoinTokenOver."""
    row = JoinToken.objects.select_for_update().get(pk=join_token_id)
    if row.revoked_at is not None:
        raise JoinTokenOver(f"{row.name} was revoked at {row.revoked_at:%Y-%m-%d %H:%M}Z")
    row.revoked_at = at
    row.save(update_fields=["revoked_at"])


@logged_change()
def join_node(
    *, secret: str, node: JoiningNode, at: datetime, good_for: timedelta | None = None
) -> EnrolledAgent:
    """Trade a join token for a token that writes this node alone, as often as machines come.

    A machine that comes again gets a new token and its earlier one ends. The token is good for so
    long (None: until it is revoked). One that is not on record, beyond the token's number, waits
    for a person (decision 0229). Refuses JoinTokenUnknown, JoinTokenOver, NodeNotOfToken,
    NodeNameOdd, NodeNotOnRecord, NodeHasAnAgent, NodeWaits, NodeTurnedAway and SourceUnknown.
    """
    try:
        return _join(secret, node, at, good_for)
    except NodeWaits as waits:
        keep_waiting(waits=waits, machine=plain(node.machine), version=plain(node.version), at=at)
        raise


@transaction.atomic
def _join(
    secret: str, node: JoiningNode, at: datetime, good_for: timedelta | None
) -> EnrolledAgent:
    joining = _join_token(secret, node.name, at)
    node_id = _find_or_add_live_node(joining, node.name, at)
    Node.objects.select_for_update(no_key=True).get(pk=node_id)
    earlier = _earlier_agent(node_id, node, at)
    takeovers = _count_takeover(earlier, node, at)
    token = make_token(
        name=f"agent on {node.name}",
        scopes=joining.scopes,
        expires_at=None if good_for is None else at + good_for,
        at=at,
    )
    if Scope.JOBS in joining.scopes:
        bind_cluster_token(token_id=token.id, cluster_id=joining.cluster_id)
    if earlier is None:
        agent_id = bind_agent(
            node_id=node_id, token_id=token.id, source=node.source, version=node.version, at=at
        )
    else:
        agent_id = earlier.id
        with suppress(TokenAlreadyRevoked):
            revoke_token(token_id=earlier.token_id, at=at)
    # It stays of the token that added its node: two tokens of a cluster would else hand nodes to
    # one another and add as many again.
    joined_by = joining.id if earlier is None else earlier.join_token_id
    Agent.objects.filter(pk=agent_id).update(
        token_id=token.id,
        join_token_id=joined_by,
        machine=node.machine,
        version=node.version,
        enrolled_at=at,
        **takeovers,
    )
    return EnrolledAgent(
        token.id, token.secret, agent_id, node_id, node.name, frozenset(joining.scopes)
    )


def _join_token(secret: str, name: str, at: datetime) -> JoinToken:
    row = JoinToken.objects.select_related("cluster", "pool").filter(digest=digest_of(secret))
    joining = row.first()
    if joining is None:
        raise JoinTokenUnknown("no join token was made with this secret")
    ended = min(filter(None, (joining.revoked_at, joining.expires_at)))
    if ended <= at:
        reason = "was revoked" if ended == joining.revoked_at else "expired"
        raise JoinTokenOver(f"the join token {reason} at {ended:%Y-%m-%d %H:%M}Z")
    if not any(fnmatchcase(name, pattern) for pattern in joining.node_names):
        allowed = ", ".join(joining.node_names[:5])
        raise NodeNotOfToken(f"this join token is for nodes named {allowed}; not for {name!a}")
    return joining


def _find_or_add_live_node(joining: JoinToken, name: str, at: datetime) -> int:
    """The node of this name in the token's cluster; added to the token's pool where none lives."""
    node_id = _node_alive(joining.cluster_id, name, at)
    if node_id is not None:
        return node_id
    if joining.pool is None:
        raise NodeNotOnRecord(
            f"no node named {name!a} lives in cluster {joining.cluster.name}: add it, or make a"
            " join token with a pool, to which nodes are added as they join"
        )
    if not is_host_name(name):
        raise NodeNameOdd(
            f"a node cannot be called {name!a}: letters, digits, '.', '-' and '_', at most 253 of"
            " them, a letter or digit first and last"
        )
    _refuse_namesake(joining.cluster_id, name, at)
    refuse_or_admit(joining, name, at)
    new = NewNode(name, joining.pool.id, at, joining.pool.gpus_per_node, joining.cluster_id)
    try:
        with transaction.atomic():
            return add_node(node=new, at=at)
    except NodeNameTaken:
        # Another process of the machine was quicker; or a life of it is to begin later.
        node_id = _node_alive(joining.cluster_id, name, at)
        if node_id is None:
            raise
        return node_id


def _refuse_namesake(cluster_id: int, name: str, at: datetime) -> None:
    """Refuse NodeNameOdd where a node lives that such a machine could pass for, or is.

    Names of hosts are the same in any case, and with or without their domain.
    """
    folded = name.lower()
    short = folded.partition(".")[0]
    alike = Q(name__iexact=folded) | Q(name__iexact=short) | Q(name__istartswith=f"{folded}.")
    namesakes = Node.objects.filter(alike, cluster_id=cluster_id, period__contains=at)
    for other in namesakes.order_by("id").values_list("name", flat=True):
        if other != name:
            raise NodeNameOdd(
                f"the node {other} lives in this cluster, and {name} would be the same machine:"
                f" have its agent report as {other}, or end that node first"
            )


def _node_alive(cluster_id: int, name: str, at: datetime) -> int | None:
    for node_id, began_at, ended_at in nodes_named(cluster_id, [name]).get(name, []):
        if began_at <= at and (ended_at is None or at < ended_at):
            return node_id
    return None


def _earlier_agent(node_id: int, node: JoiningNode, at: datetime) -> Agent | None:
    """The agent of this source that joined for this node before; the new one takes its place.

    Refuses NodeHasAnAgent where any agent of the node, however it came, still runs elsewhere.
    """
    agents = Agent.objects.filter(node_id=node_id)
    others = [agent for agent in agents if not (agent.machine and agent.machine == node.machine)]
    good = tokens_in_force([other.token_id for other in others], at)
    heard = [
        heard_at for other in others if other.token_id in good and (heard_at := _heard_at(other))
    ]
    if heard and at - max(heard) < LIVELY:
        raise NodeHasAnAgent(
            f"another machine reports as {node.name} and was heard of at {max(heard):%H:%M:%S}Z:"
            " two machines bear one name, or this one was set up anew and has to wait for five"
            " minutes"
        )
    joined = agents.filter(source=node.source).exclude(join_token=None)
    return joined.order_by("-enrolled_at", "-id").first()


def _count_takeover(earlier: Agent | None, node: JoiningNode, at: datetime) -> dict[str, Any]:
    """Return the agent's count of takeovers, where one that still spoke loses its token now.

    One is a restart. Several in an hour are two agents of one machine that end each other's tokens,
    or one that starts again and again: an incident of the node.
    """
    heard = None if earlier is None else _heard_at(earlier)
    if earlier is None or heard is None or at - heard >= LIVELY:
        return {}
    since = earlier.takeovers_since
    if since is None or not since <= at < since + HOUR:
        return {"takeovers": 1, "takeovers_since": at}
    takeovers = earlier.takeovers + 1
    if takeovers >= TAKEOVERS:
        matter = TrustMatter(
            TrustKind.AGENTS,
            f"agents of {earlier.source} on {node.name} took each other’s place {takeovers} times"
            f" since {since:%H:%M}Z: two run on one machine, or one starts again and again",
            node_id=earlier.node_id,
        )
        raise_trust_incident(matter=matter, at=at)
    return {"takeovers": takeovers}


def _heard_at(agent: Agent) -> datetime | None:
    """When it spoke last; to join is to speak, while other agents may be set up before they run."""
    if agent.join_token_id is None:
        return agent.last_seen_at
    return max(filter(None, (agent.last_seen_at, agent.enrolled_at)))
