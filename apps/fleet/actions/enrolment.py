"""Agents come to a node with a one-time token and leave with one of their own."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import connection, transaction

from apps.accounts.actions.tokens import fresh_secret, make_token
from apps.accounts.queries import Scope, digest_of
from apps.economics.refusal import Refusal
from apps.fleet.models import Agent, Cluster, ClusterToken, Enrolment, Node
from apps.logs.changes import logged_change

ONCE_A = timedelta(minutes=1)
# Locked in order: two web processes may have heard the same agents.
SEEN = """
WITH said AS (
    SELECT * FROM unnest(%(ids)s::int4[], %(versions)s::text[], %(offsets)s::int8[])
                  AS said (agent_id, version, clock_offset_ms)
), due AS (
    SELECT agent.id FROM fleet_agent AS agent JOIN said ON said.agent_id = agent.id
    WHERE agent.last_seen_at IS NULL OR agent.last_seen_at <= %(before)s
       OR agent.version <> said.version
    ORDER BY agent.id FOR NO KEY UPDATE OF agent
)
UPDATE fleet_agent AS agent
SET last_seen_at = %(at)s, version = said.version, clock_offset_ms = said.clock_offset_ms
FROM said, due WHERE agent.id = said.agent_id AND agent.id = due.id
"""


class InvitationUnknown(Exception):
    """No enrolment was ever invited with this token."""


class InvitationSpent(Exception):
    """An invitation enrols one agent; a second one may be somebody else's."""


class InvitationExpired(Exception):
    """The invitation was not used in time."""


class InvitationExpiresInThePast(Refusal):
    """An invitation that could never be used."""


class SourceUnknown(Refusal):
    """Not one of the ways in which an agent can measure."""


@dataclass(frozen=True, slots=True)
class AgentHeartbeat:
    """An agent's last words about itself."""

    agent_id: int
    version: str
    clock_offset_ms: int


@dataclass(frozen=True, slots=True)
class EnrolledAgent:
    """The agent and its own token, whose secret is known only now; `id` is the token's.

    `scopes` are what the token may do.
    """

    id: int
    secret: str = field(repr=False)
    agent_id: int
    node_id: int
    node_name: str
    scopes: frozenset[str] = frozenset({Scope.INGEST})


@logged_change()
def invite_agent(*, node_id: int, expires_at: datetime, at: datetime) -> str:
    """The secret with which one agent may enrol for a node until `expires_at`; only its hash is kept.

    Refuses InvitationExpiresInThePast.
    """
    if expires_at <= at:
        raise InvitationExpiresInThePast(
            "expires_at", f"it would have expired at {expires_at:%Y-%m-%d %H:%M}Z"
        )
    secret = fresh_secret("rre_")
    Enrolment.objects.create(
        digest=digest_of(secret), node_id=node_id, created_at=at, expires_at=expires_at
    )
    return secret


@logged_change()
@transaction.atomic
def enrol(
    *, secret: str, source: str, version: str, at: datetime, good_for: timedelta | None = None
) -> EnrolledAgent:
    """Trade an invitation for an agent's own token, once, also when two try at once.

    The token is good for so long (None: until it is revoked). Refuses InvitationUnknown, InvitationSpent, InvitationExpired and SourceUnknown.
    """
    invitation = (
        Enrolment.objects.select_for_update(of=("self",))
        .select_related("node")
        .filter(digest=digest_of(secret))
        .first()
    )
    if invitation is None:
        raise InvitationUnknown("no agent was invited with this token")
    if invitation.used_at is not None:
        raise InvitationSpent(f"it was used at {invitation.used_at:%Y-%m-%d %H:%M}Z")
    if invitation.expires_at <= at:
        raise InvitationExpired(f"it expired at {invitation.expires_at:%Y-%m-%d %H:%M}Z")
    invitation.used_at = at
    invitation.save(update_fields=["used_at"])
    node = invitation.node
    token = make_token(
        name=f"agent on {node.name}",
        scopes=[Scope.INGEST],
        expires_at=None if good_for is None else at + good_for,
        at=at,
    )
    agent_id = bind_agent(node_id=node.id, token_id=token.id, source=source, version=version, at=at)
    return EnrolledAgent(token.id, token.secret, agent_id, node.id, node.name)


@logged_change()
def bind_agent(*, node_id: int, token_id: int, source: str, version: str = "", at: datetime) -> int:
    """This token belongs to an agent that writes only this node; the agent's id.

    Refuses SourceUnknown.
    """
    sources = dict(Agent._meta.get_field("source").flatchoices)
    if source not in sources:
        raise SourceUnknown("source", f"{source!r} is none of {', '.join(sources)}")
    return Agent.objects.create(
        node_id=Node.objects.get(pk=node_id).id,
        token_id=token_id,
        source=source,
        version=version,
        enrolled_at=at,
    ).id


@logged_change()
def bind_cluster_token(*, token_id: int, cluster_id: int) -> None:
    """This token writes only the jobs of this cluster."""
    ClusterToken.objects.create(token_id=token_id, cluster=Cluster.objects.get(pk=cluster_id))


@transaction.atomic
def record_heartbeats(*, agents: Collection[AgentHeartbeat], at: datetime) -> None:
    """Note that agents spoke, at most once a minute each; never inside the ingest transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            SEEN,
            {
                "at": at,
                "before": at - ONCE_A,
                "ids": [agent.agent_id for agent in agents],
                "versions": [agent.version for agent in agents],
                "offsets": [agent.clock_offset_ms for agent in agents],
            },
        )
