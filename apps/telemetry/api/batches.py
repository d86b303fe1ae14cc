"""Where batches arrive: the hottest path of the service, hence a plain function of the request.

It reads a WSGI environ, so that a server may call it without Django's middleware in between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import msgspec
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.accounts.queries import Scope
from apps.files.limits import BodyKind
from apps.logs.context import current_request
from apps.telemetry.actions.attempts import capture_exception
from apps.telemetry.actions.deliveries import BatchDelivery, Receipt
from apps.telemetry.actions.ingest import ingest_batches
from apps.telemetry.actions.window_errors import Remark
from apps.telemetry.api.bodies import body
from apps.telemetry.api.senders import Sender, expect, note, sender_of
from apps.web.rest.body_limits import takes_body, without_scope


class Remarked(msgspec.Struct, frozen=True):
    """A remark as it is answered."""

    index: int | None
    field: str
    reason: str


class BatchReply(msgspec.Struct, frozen=True):
    """The body of every 200."""

    accepted: int
    duplicate: bool
    rejected: list[Remarked]
    ignored: list[Remarked]


@takes_body(BodyKind.TELEMETRY, may_not=without_scope(Scope.INGEST))
@csrf_exempt
@require_POST
def receive_batch(request: HttpRequest) -> HttpResponse:
    """`POST /api/v1/telemetry/batches`, the way it comes through Django."""
    return HttpResponse(received(request.META), content_type="application/json")


def received(environ: Mapping[str, Any]) -> bytes:
    """The JSON answer to a delivery that arrives now.

    Refuses what `sender_of`, `body` and `ingest` refuse, and PartitionsBusy; a database that is
    away is Django's OperationalError or InterfaceError.
    """
    (answer,) = receive_batches([environ])
    if isinstance(answer, Exception):
        raise answer
    return answer


def receive_batches(environs: Sequence[Mapping[str, Any]]) -> list[bytes | Exception]:
    """The answer to each of some deliveries that arrive together, or what `received` would raise."""
    at = timezone.now()
    expect((environ.get("HTTP_AUTHORIZATION") for environ in environs), at)
    arrivals = [capture_exception(partial(_read_arrival, environ, at)) for environ in environs]
    read_arrivals = [candidate for candidate in arrivals if isinstance(candidate, _Arrival)]
    receipts = iter(ingest_batches([read_arrival.delivery for read_arrival in read_arrivals]))
    answers: list[bytes | Exception] = []
    for arrival in arrivals:
        outcome = next(receipts) if isinstance(arrival, _Arrival) else arrival
        if isinstance(arrival, _Arrival) and isinstance(outcome, Receipt):
            answers.append(capture_exception(partial(_encode_reply, arrival.sender, outcome, at)))
        elif isinstance(outcome, Exception):
            answers.append(outcome)
    lost = any(isinstance(answer, (OperationalError, InterfaceError)) for answer in answers)
    if lost and not connection.in_atomic_block:
        # The connection may have died while idle; the next delivery deserves a new one.
        connection.close()
    return answers


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A batch of telemetry that its sender may send."""

    sender: Sender
    delivery: BatchDelivery


def _read_arrival(environ: Mapping[str, Any], at: datetime) -> _Arrival:
    sender = sender_of(environ.get("HTTP_AUTHORIZATION"), at)
    request_id = current_request() or environ.get("HTTP_X_REQUEST_ID", "")
    return _Arrival(sender, BatchDelivery(body(environ), sender.agent, at, request_id))


def _encode_reply(sender: Sender, receipt: Receipt, at: datetime) -> bytes:
    note(sender, receipt.version, receipt.offset_ms, at)
    return msgspec.json.encode(
        BatchReply(
            accepted=receipt.accepted,
            duplicate=receipt.duplicate,
            rejected=[_serialize_remark(remark) for remark in receipt.remarks if not remark.kept],
            ignored=[_serialize_remark(remark) for remark in receipt.remarks if remark.kept],
        )
    )


def _serialize_remark(remark: Remark) -> Remarked:
    return Remarked(remark.index, remark.field, remark.reason)
