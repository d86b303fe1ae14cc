"""The table behind the picture of each page of Costs, as CSV: a row a day."""

from collections.abc import Iterable
from dataclasses import replace

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.console.kit.request import EVERYONE, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.costs.asking import asked_by, team_name
from apps.console.pages.costs.jobs import days_of_job
from apps.console.pages.costs.places import HELD_BY_NO_JOB, in_state
from apps.console.pages.costs.question import CostQuestion
from apps.console.pages.costs.table import csv_cells, csv_headings
from apps.ledger.queries import DaySum
from apps.ledger.queries.drill import costs_by_day, costs_of_job_by_day
from apps.workloads import queries as workloads


@require_safe
@shown_to(EVERYONE)
def costs_days(request: HttpRequest) -> HttpResponse:
    """Every day of everything that the viewer sees."""
    asked, at = asked_by(request)
    daily, _ = costs_by_day(asked.drill, asked.viewer, at)
    return _days_csv(asked, "costs by day", daily.days)


@require_safe
@shown_to(EVERYONE)
def team_days(request: HttpRequest, team_id: int) -> HttpResponse:
    """Every day of a team."""
    asked, at = asked_by(request)
    name = team_name(asked, team_id)
    daily, _ = costs_by_day(asked.of_team(team_id), asked.viewer, at)
    return _days_csv(asked, f"costs of {name} by day", daily.days)


@require_safe
@shown_to(EVERYONE)
def no_job_days(request: HttpRequest, team_id: int) -> HttpResponse:
    """Every day of what no job held of a team's, in one state."""
    asked, at = asked_by(request)
    name = team_name(asked, team_id)
    if asked.state not in HELD_BY_NO_JOB:
        raise Http404("Jobs are in this state too.")
    drill = in_state(asked.of_team(team_id), asked.state)
    daily, _ = costs_by_day(drill, asked.viewer, at)
    return _days_csv(asked, f"costs of {name} without a job by day", daily.days)


@require_safe
@shown_to(EVERYONE)
def workload_days(request: HttpRequest, workload_id: int) -> HttpResponse:
    """Every day of a workload."""
    asked, at = asked_by(request)
    fact = workloads.workloads().get(workload_id)
    if fact is None:
        raise Http404("There is no such workload.")
    daily, _ = costs_by_day(asked.of_workload(workload_id), asked.viewer, at)
    if not daily.days and not asked.viewer.sees_team(fact.team_id):
        raise Http404("There is no such workload.")
    return _days_csv(asked, f"costs of {fact.name} by day", daily.days)


@require_safe
@shown_to(EVERYONE)
def job_days(request: HttpRequest, job_id: int) -> HttpResponse:
    """Every day of a job."""
    asked, at = asked_by(request)
    fact = workloads.jobs([job_id]).get(job_id)
    if fact is None:
        raise Http404("There is no such job.")
    drill = replace(asked.drill, job_id=job_id)
    by_day = costs_of_job_by_day(drill, asked.viewer, job_id)
    owner = workloads.owners([job_id], at)[job_id]
    if not by_day and not asked.viewer.sees_team(owner.team_id):
        raise Http404("There is no such job.")
    return _days_csv(asked, f"costs of job {fact.raw_id} by day", days_of_job(by_day))


def _days_csv(asked: CostQuestion, name: str, found: Iterable[DaySum]) -> HttpResponse:
    rows = [csv_cells(asked, [each.day.isoformat()], each.states) for each in found]
    return csv_answer(name, csv_headings("day"), rows)
