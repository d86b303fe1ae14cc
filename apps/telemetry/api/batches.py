"""Where batches arrive: the hottest path of the service, hence a plain function of the request.

It reads a WSGI environ, so that a server may call it without Django's middleware in between.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.telemetry.actions.ingest import ingest
from apps.telemetry.actions.remarks import Remark
from apps.telemetry.api.bodies import body
from apps.telemetry.api.senders import note, sender_of


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
    try:
        return _received(environ)
    except (OperationalError, InterfaceError):
        # The connection may have died while idle; the next delivery deserves a new one.
        if not connection.in_atomic_block:
            connection.close()
        raise


def _received(environ: Mapping[str, Any]) -> bytes:
    at = timezone.now()
    sender = sender_of(environ.get("HTTP_AUTHORIZATION"), at)
    receipt = ingest(body=body(environ), agent=sender.agent, at=at)
    note(sender, receipt.version, receipt.offset_ms, at)
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
