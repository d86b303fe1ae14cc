"""Senders of batches, asked for all at once every few seconds, and who was heard."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import InterfaceError, OperationalError

from apps.accounts.actions import touch_tokens
from apps.accounts.authentication import token_from_header
from apps.accounts.queries import digest_of, tokens_in_force, tokens_with_scope
from apps.fleet.actions import AgentHeartbeat, record_heartbeats
from apps.fleet.queries import AgentFact, agent_of_token, agents_by_token
from apps.telemetry.actions import ceilings
from apps.telemetry.actions.attempts import leave_lost_connection
from apps.telemetry.actions.interning import has_cached_devices

SCOPE = "ingest"
# A token revoked is a token refused, by every web process, within this time.
BELIEVED_SECONDS = 10
MOST_SENDERS_KEPT = 50_000
SEEN_EVERY_SECONDS = 60
NOTED_EVERY_SECONDS = 2


class TokenLacksScope(Exception):
    """The token is good, but not for this."""


class TokenWithoutAgent(Exception):
    """The token may ingest, but no agent enrolled with it, so it has no node to write."""


@dataclass(frozen=True, slots=True)
class Sender:
    """An agent and the token it comes with."""

    token_id: int
    agent: AgentFact


class _Memory:
    """The senders that this process knows, by the digest of their header, and when they spoke.

    `expected` are those known before they came, by the digest of their token.
    """

    def __init__(self) -> None:
        self.senders: dict[bytes, Sender] = {}
        self.expected: dict[bytes, Sender] = {}
        self.asked_at = 0.0
        self.heard_at: dict[int, float] = {}
        self.to_note: dict[int, AgentHeartbeat] = {}
        self.noted_at = 0.0


_memory = _Memory()


def forget() -> None:
    """Drop what is kept in memory, as a new process would."""
    global _memory
    _memory = _Memory()
    ceilings.forget()


def remember(at: datetime) -> None:
    """Know every agent's token beforehand: after a restart a fleet comes all at once."""
    agents = agents_by_token()
    _memory.expected = _senders(tokens_with_scope(SCOPE, at), agents)
    _memory.asked_at = at.timestamp()


def expect(headers: Iterable[str | None], at: datetime) -> None:
    """Know beforehand the senders of what came together: one question for all that are new.

    Whoever is not found, or where the database is away, is asked about alone by `sender_of`.
    """
    strange = {header for header in headers if header and not is_sender_cached(header)}
    # A secret of ours is plain letters; what else comes is refused, but by itself.
    digests = {digest_of(_secret_of(header)) for header in strange if header.isascii()}
    digests -= _memory.expected.keys()
    if len(digests) < 2:
        return
    if len(_memory.expected) >= MOST_SENDERS_KEPT:
        _memory.expected.clear()
    try:
        tokens = tokens_with_scope(SCOPE, at, digests)
        _memory.expected |= _senders(tokens, agents_by_token(tokens.values()))
    except (OperationalError, InterfaceError) as trouble:
        leave_lost_connection(trouble)


def _senders(tokens: Mapping[bytes, int], agents: Mapping[int, AgentFact]) -> dict[bytes, Sender]:
    """By the digest of the token; one that no agent enrolled with is nobody's."""
    return {
        digest: Sender(token_id, agents[token_id])
        for digest, token_id in tokens.items()
        if token_id in agents
    }


def _secret_of(header: str) -> str:
    scheme, _, secret = header.partition(" ")
    return secret.strip() if scheme == "Bearer" else ""


def sender_of(header: str | None, at: datetime) -> Sender:
    """Return the sender whose token an Authorization header bears.

    Refuses AuthenticationRefused, TokenLacksScope and TokenWithoutAgent.
    """
    if at.timestamp() - _memory.asked_at >= BELIEVED_SECONDS:
        _forget_refused_tokens(at)
    key = _header_digest(header or "")
    sender = _memory.senders.get(key)
    if sender is None:
        sender = _authenticated_sender(header, at)
        if len(_memory.senders) >= MOST_SENDERS_KEPT:
            _memory.senders.clear()
        _memory.senders[key] = sender
    return sender


def is_sender_cached(header: str | None) -> bool:
    """Whether a delivery with this header was taken lately; asks nobody."""
    return header is not None and _header_digest(header) in _memory.senders


def is_delivery_routine(header: str | None) -> bool:
    """Whether a small delivery with this header can be stored without registering anything.

    Asks nobody. The first of a node waits for its GPUs to be registered, those after it share one
    script.
    """
    sender = _memory.senders.get(_header_digest(header)) if header is not None else None
    return sender is not None and has_cached_devices(sender.agent.agent_id)


def note(sender: Sender, version: str, offset_ms: int, at: datetime) -> None:
    """Say that the agent lives: once a minute each, and for all that spoke in one statement."""
    agent_id, moment = sender.agent.agent_id, at.timestamp()
    if moment - _memory.heard_at.get(agent_id, 0) >= SEEN_EVERY_SECONDS:
        _memory.heard_at[agent_id] = moment
        _memory.to_note[sender.token_id] = AgentHeartbeat(agent_id, version, offset_ms)
    if _memory.to_note and moment - _memory.noted_at >= NOTED_EVERY_SECONDS:
        _memory.noted_at = moment
        noted, _memory.to_note = _memory.to_note, {}
        touch_tokens(token_ids=list(noted), at=at)
        record_heartbeats(agents=list(noted.values()), at=at)


def _header_digest(header: str) -> bytes:
    return hashlib.sha256(header.encode(errors="replace")).digest()


def _authenticated_sender(header: str | None, at: datetime) -> Sender:
    expected = _memory.expected.get(digest_of(_secret_of(header or "")))
    if expected is not None:
        return expected
    token = token_from_header(header, at)
    if SCOPE not in token.scopes:
        raise TokenLacksScope(f"this token may not send batches; it lacks the scope {SCOPE!r}")
    agent = agent_of_token(token.id)
    if agent is None:
        raise TokenWithoutAgent(
            "no agent enrolled with this token, so it has no node to write: invite an agent to a "
            "node and let it enrol"
        )
    return Sender(token.id, agent)


def _forget_refused_tokens(at: datetime) -> None:
    """One question for all senders: asked for each by itself, a fleet's come all at once."""
    asked_before = _memory.asked_at
    _memory.asked_at = at.timestamp()  # other threads go on with what is known meanwhile
    senders, expected = dict(_memory.senders), dict(_memory.expected)
    try:
        ids = {sender.token_id for sender in (*senders.values(), *expected.values())}
        good = tokens_in_force(ids, at)
    except (OperationalError, InterfaceError):
        _memory.asked_at = asked_before
        raise
    for memory, were in ((_memory.senders, senders), (_memory.expected, expected)):
        for key, sender in were.items():
            if sender.token_id not in good:
                memory.pop(key, None)
