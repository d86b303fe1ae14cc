"""Is it alive, is it ready, and how is it doing: for load balancers and scrapers."""

from collections.abc import Callable
from datetime import UTC, datetime

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_safe

from apps.marks.queries import waiting_by_pass

Answerer = Callable[[HttpRequest], HttpResponseBase]

METRICS = """\
# HELP runrate_changed_hours Node-hours, hours and days that a pass must do again.
# TYPE runrate_changed_hours gauge
{changed}
# HELP runrate_oldest_changed_hour_age_seconds Age of the oldest hour that waits for its pass.
# TYPE runrate_oldest_changed_hour_age_seconds gauge
{ages}
"""


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """The process can reach its database, and the database has the tables it expects."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM accounts_organisation")
            organisations = cursor.fetchone()[0]
    except DatabaseError as trouble:
        return JsonResponse({"ready": False, "reason": type(trouble).__name__}, status=503)
    if not organisations:
        return JsonResponse({"ready": False, "reason": "no organisation yet"}, status=503)
    return JsonResponse({"ready": True})


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text: how much work waits and for how long."""
    waiting = waiting_by_pass()
    at = datetime.now(UTC)
    changed = [f'runrate_changed_hours{{pass="{each.pass_name}"}} {each.marks}' for each in waiting]
    ages = [
        f'runrate_oldest_changed_hour_age_seconds{{pass="{each.pass_name}"}} '
        f"{(at - each.oldest).total_seconds():.0f}"
        for each in waiting
        if each.oldest is not None
    ]
    text = METRICS.format(changed="\n".join(changed), ages="\n".join(ages))
    return HttpResponse(text, content_type="text/plain; version=0.0.4")


BY_PATH: dict[str, Answerer] = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}


def answer_by_any_name(get_response: Answerer) -> Answerer:
    """Middleware: a balancer or scraper asks by an address of its own, not by a listed host name."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return BY_PATH.get(request.path, get_response)(request)

    return middleware
