"""Services, one of them, and their tables as CSV."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts import queries as accounts
from apps.console.pages.access import EVERYONE, shown_to
from apps.console.pages.csv_table import csv_answer
from apps.console.pages.fleet.asking import Asking, asking
from apps.console.pages.services.listing import listed_services, services_page
from apps.console.pages.services.one import service_page
from apps.console.pages.services.question import services_question
from apps.console.pages.services.rows import UNIT_HEADER, named_cells
from apps.ledger.queries.unit_costs import SERVICE_KINDS, unit_cost_groups
from apps.workloads import queries as workloads
from apps.workloads.queries import WorkloadFact

SERVICES_HEADER = ("service", "team", *UNIT_HEADER)
DAYS_HEADER = ("day", *UNIT_HEADER)
FEATURES_HEADER = ("feature", "part", *UNIT_HEADER)


@require_safe
@shown_to(EVERYONE)
def services(request: HttpRequest) -> HttpResponse:
    """What services cost, and what their units do."""
    page = services_page(request.GET, asking(request, "services"))
    return render(request, "services/page.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def services_csv(request: HttpRequest) -> HttpResponse:
    """The same as a table."""
    who = asking(request, "services")
    asked = services_question(request.GET, who)
    facts = workloads.workloads()
    teams = {team.id: team.name for team in accounts.teams()}
    rows = [
        (cost, (facts[cost.keys[0]].name, teams[facts[cost.keys[0]].team_id]))
        for cost in listed_services(asked)[0]
    ]
    return csv_answer("services", SERVICES_HEADER, named_cells(rows, who.organisation.currency))


@require_safe
@shown_to(EVERYONE)
def services_days_csv(request: HttpRequest) -> HttpResponse:
    """All services together by day."""
    return _days(request, None, "services-days")


@require_safe
@shown_to(EVERYONE)
def service(request: HttpRequest, service_id: int) -> HttpResponse:
    """One service: its features, its days, how fast it answered."""
    who = asking(request, "services")
    page = service_page(known(service_id, who), request.GET, who)
    return render(request, "services/service.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def features_csv(request: HttpRequest, service_id: int) -> HttpResponse:
    """A service by feature; the parts that no feature has are rows of their own."""
    who = asking(request, "services")
    known(service_id, who)
    asked = services_question(request.GET, who, service_id)
    rows = [
        (cost, (cost.keys[0], cost.purpose.name.lower() if cost.purpose is not None else ""))
        for cost in unit_cost_groups(asked.chosen, ["feature"])
    ]
    name = f"service-{service_id}-features"
    return csv_answer(name, FEATURES_HEADER, named_cells(rows, who.organisation.currency))


@require_safe
@shown_to(EVERYONE)
def service_days_csv(request: HttpRequest, service_id: int) -> HttpResponse:
    """A service by day."""
    known(service_id, asking(request, "services"))
    return _days(request, service_id, f"service-{service_id}-days")


def known(service_id: int, who: Asking) -> WorkloadFact:
    """The service, or the page that there is none: another team's is as if it were not there."""
    found = workloads.workloads().get(service_id)
    if found is None or found.kind not in SERVICE_KINDS:
        raise Http404
    if not who.viewer.sees_team(found.team_id):
        raise Http404
    return found


def _days(request: HttpRequest, service_id: int | None, name: str) -> HttpResponse:
    who = asking(request, "services")
    asked = services_question(request.GET, who, service_id)
    rows = [(cost, (cost.keys[0].isoformat(),)) for cost in unit_cost_groups(asked.chosen, ["day"])]
    return csv_answer(name, DAYS_HEADER, named_cells(rows, who.organisation.currency))
