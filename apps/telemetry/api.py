"""Where batches arrive: the hottest path of the service, hence a plain function of the request.

It reads a WSGI environ, so that a server may call it without Django's middleware in between.
"""

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.accounts.actions import touch_token
from apps.accounts.authentication import AuthenticationRefused, token_from_header
from apps.fleet.actions import agent_seen
from apps.fleet.queries import AgentFact, agent_of_token
from apps.telemetry.actions.ingest import Receipt, ingest
from apps.telemetry.actions.partitions import PartitionsBusy
from apps.telemetry.actions.remarks import Remark
from apps.telemetry.actions.wire import BatchTooLarge, BatchUnreadable

SCOPE = "ingest"
MOST_BYTES = 5 * 1024 * 1024
MOST_INFLATED_BYTES = 32 * 1024 * 1024
# A token revoked is a token refused, by every web process, within this time.
SENDERS_KEPT_SECONDS = 10
MOST_SENDERS_KEPT = 50_000
SEEN_EVERY_SECONDS = 60
GZIP_WINDOW = 31

__all__ = [
    "AuthenticationRefused",
    "BatchTooLarge",
    "BatchUnreadable",
    "EncodingUnknown",
    "LengthMissing",
    "PartitionsBusy",
    "TokenLacksScope",
    "TokenWithoutAgent",
    "receive_batch",
    "received",
]


class TokenLacksScope(Exception):
    """The token is good, but not for this."""


class TokenWithoutAgent(Exception):
    """The token may ingest, but no agent enrolled with it, so it has no node to write."""


class LengthMissing(Exception):
    """The request does not say how long its body is."""


class EncodingUnknown(Exception):
    """The body is neither plain nor gzip, or not JSON."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Whose token this is, as it was a few seconds ago."""

    token_id: int
    agent: AgentFact
    until: float


class Remarked(msgspec.Struct, frozen=True):
    """A remark as it is answered."""

    index: int | None
    field: str
    reason: str


class Answer(msgspec.Struct, frozen=True):
    """The body of every 200."""

    accepted: int
    duplicate: bool
    rejected: list[Remarked]
    ignored: list[Remarked]


_senders: dict[bytes, Sender] = {}
_seen: dict[int, float] = {}


@csrf_exempt
@require_POST
def receive_batch(request: HttpRequest) -> HttpResponse:
    """`POST /api/v1/telemetry/batches`, the way it comes through Django."""
    return HttpResponse(received(request.META), content_type="application/json")


def received(environ: Mapping[str, Any]) -> bytes:
    """The JSON answer to a delivery that arrives now.

    Refuses AuthenticationRefused, TokenLacksScope, TokenWithoutAgent, LengthMissing,
    EncodingUnknown, BatchTooLarge, BatchUnreadable and PartitionsBusy; a database that is away is Django's
    OperationalError or InterfaceError.
    """
    try:
        return _received(environ, timezone.now())
    except (OperationalError, InterfaceError):
        if connection.in_atomic_block:
            raise
        # The connection may have died while idle; the next delivery deserves a new one.
        connection.close()
        raise


def forget() -> None:
    """Drop what is kept in memory, as a new process would."""
    _senders.clear()
    _seen.clear()


def _received(environ: Mapping[str, Any], at: datetime) -> bytes:
    sender = _sender(environ.get("HTTP_AUTHORIZATION"), at)
    receipt = ingest(body=_body(environ), agent=sender.agent, at=at)
    _note(sender, receipt, at)
    return msgspec.json.encode(
        Answer(
            accepted=receipt.accepted,
            duplicate=receipt.duplicate,
            rejected=[_remarked(each) for each in receipt.remarks if not each.kept],
            ignored=[_remarked(each) for each in receipt.remarks if each.kept],
        )
    )


def _remarked(remark: Remark) -> Remarked:
    return Remarked(remark.index, remark.field, remark.reason)


def _sender(header: str | None, at: datetime) -> Sender:
    key = hashlib.sha256((header or "").encode(errors="replace")).digest()
    sender = _senders.get(key)
    if sender is not None and at.timestamp() < sender.until:
        return sender
    _senders.pop(key, None)
    token = token_from_header(header, at)
    if SCOPE not in token.scopes:
        raise TokenLacksScope(f"this token may not send batches; it lacks the scope {SCOPE!r}")
    agent = agent_of_token(token.id)
    if agent is None:
        raise TokenWithoutAgent(
            "no agent enrolled with this token, so it has no node to write: invite an agent to a "
            "node and let it enrol"
        )
    if len(_senders) >= MOST_SENDERS_KEPT:
        _senders.clear()
    _senders[key] = Sender(token.id, agent, at.timestamp() + SENDERS_KEPT_SECONDS)
    return _senders[key]


def _body(environ: Mapping[str, Any]) -> bytes:
    media = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise EncodingUnknown("send Content-Type: application/json")
    encoding = environ.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise EncodingUnknown("send the body as it is or with Content-Encoding: gzip")
    text = environ.get("CONTENT_LENGTH") or ""
    if not text.isdecimal():
        raise LengthMissing("send Content-Length; a body in chunks of unknown length is not read")
    length = int(text)
    if length > MOST_BYTES:
        raise BatchTooLarge(f"{length} bytes; send at most {MOST_BYTES} in one batch")
    body: bytes = environ["wsgi.input"].read(length)
    return _inflated(body) if encoding == "gzip" else body


def _inflated(body: bytes) -> bytes:
    """Never more than the limit in memory, however much the body would become."""
    stream = zlib.decompressobj(GZIP_WINDOW)
    try:
        text = stream.decompress(body, MOST_INFLATED_BYTES + 1)
    except zlib.error as trouble:
        raise BatchUnreadable(f"is not gzip: {trouble}") from trouble
    if len(text) > MOST_INFLATED_BYTES:
        raise BatchTooLarge(f"inflates to more than {MOST_INFLATED_BYTES} bytes; send less at once")
    if not stream.eof:
        raise BatchUnreadable("the gzip body ends before it is complete")
    return text


def _note(sender: Sender, receipt: Receipt, at: datetime) -> None:
    """Say that the agent lives, outside the transaction and at most once a minute."""
    agent_id, moment = sender.agent.agent_id, at.timestamp()
    if moment - _seen.get(agent_id, 0) < SEEN_EVERY_SECONDS:
        return
    _seen[agent_id] = moment
    touch_token(token_id=sender.token_id, at=at)
    agent_seen(agent_id=agent_id, version=receipt.version, clock_offset_ms=receipt.offset_ms, at=at)
