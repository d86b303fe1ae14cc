"""Where reports arrive: one a minute and agent, so a plain view through Django will do."""

import msgspec
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.accounts.queries import Scope
from apps.files.limits import BodyKind
from apps.telemetry.actions.reporting import ReportAnswer, receive_report
from apps.telemetry.api.bodies import body
from apps.telemetry.api.senders import note, sender_of
from apps.web.rest.body_limits import takes_body, without_scope


@takes_body(BodyKind.TELEMETRY, may_not=without_scope(Scope.INGEST))
@csrf_exempt
@require_POST
def take_report(request: HttpRequest) -> HttpResponse:
    """`POST /api/v1/telemetry/reports`. Refuses what batches refuse."""
    at = timezone.now()
    sender = sender_of(request.META.get("HTTP_AUTHORIZATION"), at)
    receipt = receive_report(body=body(request.META), agent=sender.agent, at=at)
    note(sender, receipt.version, receipt.offset_ms, at)
    answer = ReportAnswer(receipt.accepted, receipt.duplicate, receipt.ignored, receipt.offset_ms)
    return HttpResponse(msgspec.json.encode(answer), content_type="application/json")
