"""Is it alive, is it ready, and how is it doing: for load balancers and scrapers."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from django.db import Error as DatabaseTrouble
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_safe

from apps.accounts.queries import has_organisation
from apps.files import place_trouble
from apps.files.limits import BodyKind
from apps.fleet.queries.not_understood import not_understood_by_door
from apps.marks.queries import waiting_by_pass
from apps.web.rest.body_limits import takes_body
from controlplane.schema_state import schema_state
from controlplane.statement_limits import READINESS, limited

Answerer = Callable[[HttpRequest], HttpResponseBase]

METRICS = """\
# HELP runrate_changed_hours Node-hours, hours and days that a pass must do again.
# TYPE runrate_changed_hours gauge
{changed}
# HELP runrate_oldest_changed_hour_age_seconds Age of the oldest hour that waits for its pass.
# TYPE runrate_oldest_changed_hour_age_seconds gauge
{ages}
# HELP runrate_not_understood How often a door met a name that it does not know, in the last two weeks.
# TYPE runrate_not_understood gauge
{not_understood}
"""


@takes_body(BodyKind.NOTHING)
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@takes_body(BodyKind.NOTHING)
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """The process can reach its database, and the database has the tables that this code expects."""
    reasons = unreadiness()
    return JsonResponse(readiness(reasons, place_trouble()), status=503 if reasons else 200)


def readiness(reasons: Mapping[str, object], files: str) -> dict[str, object]:
    """Return what `/readyz` says where these reasons stand against it.

    `files` is what is wrong with the place where files are kept, empty: nothing. Imports and exports wait for it; no
    page does, and no agent: the process is ready without it.
    """
    return {"ready": not reasons, **reasons} | ({"files": files} if files else {})


def unreadiness_of_thread() -> dict[str, object]:
    """Return `unreadiness` as a thread of its own asks for it: over a connection that still lives."""
    close_old_connections()
    return unreadiness()


def unreadiness() -> dict[str, object]:
    """Return why this process cannot work yet, by `reason` and what belongs to it; empty where it can.

    The database has `READINESS_SECONDS` for each question.
    """
    try:
        with limited(READINESS):
            state = schema_state()
            if not state.fits:
                count = len(state.pending)
                return {
                    "reason": f"{count} {'migration waits' if count == 1 else 'migrations wait'}",
                    "pending_migrations": count,
                }
            return {} if has_organisation() else {"reason": "no organisation yet"}
    except DatabaseTrouble as trouble:
        return {"reason": type(trouble).__name__}


@takes_body(BodyKind.NOTHING)
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
    unread = [
        f'runrate_not_understood{{door="{door}"}} {times}'
        for door, times in not_understood_by_door()
    ]
    text = METRICS.format(
        changed="\n".join(changed), ages="\n".join(ages), not_understood="\n".join(unread)
    )
    return HttpResponse(text, content_type="text/plain; version=0.0.4")


BY_PATH: dict[str, Answerer] = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}


def answer_by_any_name(get_response: Answerer) -> Answerer:
    """Middleware: a balancer or scraper asks by an address of its own, not by a listed host name."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return BY_PATH.get(request.path, get_response)(request)

    return middleware
