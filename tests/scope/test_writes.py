"""Nobody changes what is not theirs to change, and no form is taken from another site."""

from typing import Any

import pytest
from django.core.cache import cache
from django.urls import resolve

from tests.planted import undone
from tests.scope.addresses import by_room, every_address
from tests.scope.asking import rows_written
from tests.scope.world import World

pytestmark = pytest.mark.django_db
ROOMS = by_room()
ON_PAGES = ("a stranger", "cy", "dee", "ada", "the token manage")
ON_REST = (
    "a stranger", "cy", "dee", "ada", "the token osprey", "the token jobs", "the token read",
    "the token harbour", "the token runs", "the token requests", "the token usage",
)  # fmt: skip
METHODS = ("post", "put", "patch", "delete")
REFUSED = {401, 403, 404, 405}
FOR_ANYBODY = ("sign-in", "sign-out", "account", "invitation/", "healthz", "readyz", "metrics")
"""Where people come in, go, and look after their own password, and where machines ask for health."""
MEANT_FOR = {
    "api/v1/jobs": {"the token jobs"},
    "api/v1/jobs/bulk": {"the token jobs"},
    "api/v1/telemetry/batches": {"the token osprey"},
    "api/v1/telemetry/reports": {"the token osprey"},
    "api/v1/request-hours": {"the token osprey", "the token requests"},
    "api/v1/run-reports": {"the token runs"},
    "api/v1/usage-events": {"the token usage"},
    "api/v1/usage-events/litellm": {"the token usage"},
    "api/v1/usage-events/otel": {"the token usage"},
    "api/v1/workload-changes": {"the token jobs"},
    # A preview says what would be, to whoever may read prices.
    "api/v1/rates/preview": {"the token read"},
    "api/v1/rates/<int:rate_id>/end/preview": {"the token read"},
    "api/v1/enrolments": set(ON_REST),
    # Whoever reads may ask for a file of what they read, and call their own off.
    "api/v1/exports": {"cy", "dee", "ada", "the token read", "the token harbour"},
    "exports/ask": {"cy", "dee", "ada"},
    "api/v1/crossovers": {"dee", "ada"},
    "api/v1/crossovers/<int:scenario_id>": {"ada"},
    # A lead adds scenarios of their own teams, and changes these.
    "crossover/new": {"dee", "ada"},
    "crossover/of-service": {"dee", "ada"},
    "crossover/<int:scenario_id>/change": {"ada"},
    # A question keeps nothing.
    "api/v1/crossovers/evaluate": {"cy", "dee", "ada", "the token read", "the token harbour"},
    # A team's own token asks where its jobs may run.
    "api/v1/quotes": {"the token harbour"},
    "api/v1/admissions": {"the token harbour"},
    # Whoever is in a team asks for it, and withdraws what they asked for.
    "api/v1/capacity-requests": {"dee", "ada"},
    "api/v1/capacity-requests/<int:capacity_request_id>/decision": {"ada"},
    "capacity-requests/new": {"cy", "dee", "ada"},
    "capacity-requests/<int:capacity_request_id>/withdraw": {"ada"},
    # Everybody keeps views, and changes their own.
    "views/new": {"cy", "dee", "ada"},
    # Whoever is in a team notes what happened.
    "annotations/new": {"dee", "ada"},
    "api/v1/annotations": {"dee", "ada"},
    "views/<int:view_id>/change": {"ada"},
    # A lead promises for their own services, and notes what changed of them.
    "services/<int:service_id>/objectives/new": {"ada"},
    "services/<int:service_id>/changes/new": {"ada"},
    # A lead decides about their own workloads, and states what these are worth.
    "weekly-reviews/<slug:week>/workloads/<int:workload_id>/decide": {"ada"},
    "workloads/<int:workload_id>/values/new": {"ada"},
    "workloads/<int:workload_id>/scores/new": {"ada"},
    "api/v1/weekly-reviews/<str:week>/notes": {"dee", "ada"},
    "api/v1/workload-values": {"dee", "ada"},
    "api/v1/workload-scores": {"dee", "ada"},
}
"""Who gets as far as to have what they send read; an invitation to enrol is a credential itself."""
THEIRS = {
    "services/<int:service_id>/objectives/<int:objective_id>/end": {"ada"},
    "api/v1/crossovers/<int:scenario_id>": {"ada"},
    "api/v1/crossovers/<int:scenario_id>/runs": {"ada"},
    "crossover/<int:scenario_id>/delete": {"ada"},
    "crossover/<int:scenario_id>/run": {"ada"},
    # A lead answers the alerts of their teams; each person has read what they have read.
    "alerts/<int:alert_id>/acknowledge": {"ada"},
    "alerts/<int:alert_id>/mute": {"ada"},
    "alerts/<int:alert_id>/resolve": {"ada"},
    "api/v1/alerts/<int:alert_id>/acknowledge": {"ada"},
    "api/v1/alerts/<int:alert_id>/mute": {"ada"},
    "api/v1/alerts/<int:alert_id>/resolve": {"ada"},
    "findings/spend/<int:anomaly_id>/explain": {"ada"},
    "findings/spend/<int:anomaly_id>/false-alarm": {"ada"},
    "findings/spend/<int:anomaly_id>/mute": {"ada"},
    "findings/spend/<int:anomaly_id>/verdicts/<int:verdict_id>/take-back": {"ada"},
    "findings/<int:finding_id>/explain": {"ada"},
    "findings/<int:finding_id>/false-alarm": {"ada"},
    "findings/<int:finding_id>/mute": {"ada"},
    "findings/<int:finding_id>/verdicts/<int:finding_verdict_id>/take-back": {"ada"},
    "api/v1/anomalies/<int:finding_id>/explain": {"ada"},
    "api/v1/anomalies/<int:finding_id>/false-alarm": {"ada"},
    "api/v1/anomalies/<int:finding_id>/mute": {"ada"},
    "api/v1/anomalies/<int:finding_id>/verdicts/<int:finding_verdict_id>/take-back": {"ada"},
    "api/v1/spend-anomalies/<int:anomaly_id>/explain": {"ada"},
    "api/v1/spend-anomalies/<int:anomaly_id>/false-alarm": {"ada"},
    "api/v1/spend-anomalies/<int:anomaly_id>/mute": {"ada"},
    "api/v1/spend-anomalies/<int:anomaly_id>/verdicts/<int:verdict_id>/take-back": {"ada"},
    "alerts/read": {"cy", "dee", "ada"},
    # So with recommendations.
    "recommendations/<int:recommendation_id>/<slug:step>": {"ada"},
    "api/v1/recommendations/<int:recommendation_id>/<slug:answer>": {"ada"},
    "views/<int:view_id>/remove": {"ada"},
    "annotations/<int:chart_note_id>/remove": {"ada"},
    "api/v1/annotations/<int:chart_note_id>": {"ada"},
}
"""Whose it is to change, by a form without a field, or a request without a body."""


@pytest.mark.parametrize("room", ROOMS)
def test_nobody_changes_what_is_not_theirs(world: World, room: str) -> None:
    taken, written = [], []
    for address in ROOMS[room]:
        cache.clear()
        with undone():
            path, before = address.filled(world.planted), rows_written()
            askers = ON_REST if address.is_rest else ON_PAGES
            for name in (each for each in askers if each not in THEIRS.get(address.pattern, ())):
                for method in methods_of(path, name):
                    client = world.askers[name].client()
                    response = getattr(client, method)(
                        path, content_type="application/json", data="{}"
                    )
                    if not is_refused(response) and name not in MEANT_FOR.get(address.pattern, ()):
                        taken.append((address, f"{method} by {name}: {response.status_code}"))
            if rows_written() != before:
                written.append(address.pattern)
    assert [each for each in taken if not each[0].pattern.startswith(FOR_ANYBODY)] == []
    assert written == []


def test_a_form_of_another_site_is_refused_whoever_is_signed_in(world: World) -> None:
    before, taken = rows_written(), {}
    client = world.askers["petra"].client(enforce_csrf_checks=True)
    for address in every_address():
        response = client.post(address.filled(world.planted), {"name": "from elsewhere"})
        # An enrolment asks for the invitation in its body; a session means nothing to it.
        refused = REFUSED | ({400, 415} if "enrolments" in address.pattern else set())
        if response.status_code not in refused or rows_written() != before:
            taken[address.pattern] = response.status_code
    assert taken == {}


def methods_of(path: str, name: str) -> list[str]:
    """Those that the view takes; where it does not say, a form, and from a lead another too.

    A page that takes forms looks at who asks, and refuses other methods whoever it is.
    """
    view = getattr(resolve(path).func, "view_class", None)
    if view is None:
        return ["post", "delete"] if name == "ada" else ["post"]
    return [method for method in METHODS if hasattr(view, method)]


def is_refused(response: Any) -> bool:
    """Not for this caller, or not here at all; people are sent to sign in."""
    location = response.headers.get("Location", response.headers.get("HX-Redirect", ""))
    return response.status_code in REFUSED or location.startswith("/sign-in")
