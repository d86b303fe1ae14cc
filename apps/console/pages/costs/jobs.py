"""A workload by job, a team's jobs of no workload, and one job's days and lines."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import EVERYONE, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.costs.asking import (
    all_costs,
    answer,
    asked_by,
    nothing,
    team_link,
    team_name,
)
from apps.console.pages.costs.lines import LinesOf, line_table, lines_csv
from apps.console.pages.costs.meters import meters_of_jobs, meters_of_rows
from apps.console.pages.costs.picture import Place
from apps.console.pages.costs.question import CostQuestion
from apps.console.pages.costs.table import (
    Heading,
    cost_row,
    cost_table,
    csv_cells,
    csv_headings,
    ordered,
)
from apps.console.pages.costs.values import CostTable, Detail
from apps.console.pages.costs.words import spent
from apps.console.pages.overview.sums import sums_of
from apps.economics.states import State
from apps.ledger.queries import CostStanding, DaySum, StateSum, standing
from apps.ledger.queries.drill import (
    Daily,
    Drill,
    JobSums,
    LineRow,
    Sureness,
    costs_by_day,
    costs_of_job_by_day,
    costs_of_jobs,
    lines_of_job,
)
from apps.show.amounts import counted
from apps.show.time import instant, weekday
from apps.workloads import queries as workloads
from apps.workloads.queries.run_picture import runs_of_job

DAY = timedelta(days=1)
MOST_LINES = 200
MOST_CSV_LINES = 50_000


@require_safe
@shown_to(EVERYONE)
def workload(request: HttpRequest, workload_id: int) -> HttpResponse:
    """One workload by job."""
    asked, at = asked_by(request)
    fact, found = _workload(asked, workload_id)
    drill = asked.of_workload(workload_id)
    finding = spent(asked, fact.name, sums_of(found.total))
    trail = [all_costs(asked), *team_link(asked, fact.team_id)]
    place = ("costs-workload", workload_id)
    if not found.count:
        return answer(request, asked, drill, trail, finding, empty=nothing(asked, *place))
    heading = _heading(asked, found, place, asked.href("costs-workload-csv", workload_id))
    daily, known = costs_by_day(drill, asked.viewer, at)
    return answer(
        request,
        asked,
        drill,
        trail,
        finding,
        tables=[_job_table(asked, heading, found)],
        place=Place("costs-workload", (workload_id,)),
        daily=daily,
        known=known,
        meters=meters_of_rows(asked, drill, "workload", "Workload", lambda _: (fact.name, "")),
    )


@require_safe
@shown_to(EVERYONE)
def workload_csv(request: HttpRequest, workload_id: int) -> HttpResponse:
    """The table by job."""
    asked, _ = asked_by(request)
    fact, found = _workload(asked, workload_id)
    return _jobs_csv(asked, f"costs of {fact.name}", found)


@require_safe
@shown_to(EVERYONE)
def jobs_of_team(request: HttpRequest, team_id: int) -> HttpResponse:
    """A team's jobs that belong to no workload."""
    asked, _ = asked_by(request)
    name = team_name(asked, team_id)
    drill = _of_no_workload(asked, team_id)
    found = costs_of_jobs(drill, asked.viewer, _sort(asked))
    finding = spent(asked, f"Jobs of {name} without a workload", sums_of(found.total))
    trail = [all_costs(asked), *team_link(asked, team_id)]
    place = ("costs-team-jobs", team_id)
    if not found.count:
        return answer(request, asked, drill, trail, finding, empty=nothing(asked, *place))
    heading = _heading(asked, found, place, asked.href("costs-team-jobs-csv", team_id))
    table = _job_table(asked, heading, found)
    return answer(request, asked, drill, trail, finding, tables=[table])


@require_safe
@shown_to(EVERYONE)
def jobs_of_team_csv(request: HttpRequest, team_id: int) -> HttpResponse:
    """The table by job."""
    asked, _ = asked_by(request)
    name = team_name(asked, team_id)
    found = costs_of_jobs(_of_no_workload(asked, team_id), asked.viewer, _sort(asked))
    return _jobs_csv(asked, f"jobs of {name} without a workload", found)


@require_safe
@shown_to(EVERYONE)
def job(request: HttpRequest, job_id: int) -> HttpResponse:
    """One job: who it is, its days, and its lines."""
    asked, at = asked_by(request)
    fact = _job(asked, job_id)
    by_day = costs_of_job_by_day(asked.drill, asked.viewer, job_id)
    lines = lines_of_job(asked.drill, asked.viewer, job_id, MOST_LINES + 1)
    owner = workloads.owners([job_id], at)[job_id]
    if not by_day and not lines and not asked.viewer.sees_team(owner.team_id):
        raise Http404("There is no such job.")
    whole = [each for states in by_day.values() for each in states]
    finding = spent(asked, f"Job {fact.raw_id}", sums_of(whole))
    trail = [all_costs(asked), *team_link(asked, owner.team_id)]
    if owner.workload_id is not None and owner.team_id in asked.teams:
        trail.append(_workload_link(asked, owner.workload_id))
    about = _about(asked, fact)
    drill = replace(asked.drill, job_id=job_id)
    if not lines:
        empty = _elsewhen(asked, fact)
        return answer(request, asked, drill, trail, finding, about=about, empty=empty)
    has_days = len(by_day) > 1
    return answer(
        request,
        asked,
        drill,
        trail,
        finding,
        about=about,
        known=_known(lines, whole, standing(drill.chosen.window, at)),
        place=Place("costs-job", (job_id,), "by-day" if has_days else "lines", is_compared=False),
        daily=Daily(days_of_job(by_day), None),
        meters=meters_of_jobs(asked, drill, lambda _: (fact.raw_id, ""), [job_id]),
        tables=[_day_table(asked, job_id, by_day)] if has_days else [],
        lines=line_table(asked, lines, _lines_of(asked, job_id, whole)),
    )


@require_safe
@shown_to(EVERYONE)
def job_csv(request: HttpRequest, job_id: int) -> HttpResponse:
    """The job's lines, 50,000 at most."""
    asked, at = asked_by(request)
    fact = _job(asked, job_id)
    lines = lines_of_job(asked.drill, asked.viewer, job_id, MOST_CSV_LINES)
    owner = workloads.owners([job_id], at)[job_id]
    if not lines and not asked.viewer.sees_team(owner.team_id):
        raise Http404("There is no such job.")
    return lines_csv(asked, f"lines of job {fact.raw_id}", lines)


def days_of_job(by_day: Mapping[date, Sequence[StateSum]]) -> tuple[DaySum, ...]:
    """The job's days, the first one first."""
    return tuple(DaySum(day, tuple(states)) for day, states in sorted(by_day.items()))


def _lines_of(asked: CostQuestion, job_id: int, whole: Sequence[StateSum]) -> LinesOf:
    return LinesOf(
        name="costs-job",
        of=(job_id,),
        csv_href=asked.href("costs-job-csv", job_id),
        whole=sums_of(whole),
        most=MOST_LINES,
    )


def _known(lines: Sequence[LineRow], whole: Sequence[StateSum], stands: CostStanding) -> Sureness:
    """How sure this one job's sums are."""
    held = sum(each.gpu_milliseconds for each in whole if each.state is not None)
    unobserved = sum(each.gpu_milliseconds for each in whole if each.state == State.UNOBSERVED)
    return Sureness(
        statuses=frozenset(each.status for each in lines),
        held_milliseconds=held,
        observed_milliseconds=held - unobserved,
        as_of=stands.as_of,
        pending_hours=stands.pending_hours,
    )


def _workload(asked: CostQuestion, workload_id: int) -> tuple[workloads.WorkloadFact, JobSums]:
    fact = workloads.workloads().get(workload_id)
    if fact is None:
        raise Http404("There is no such workload.")
    found = costs_of_jobs(asked.of_workload(workload_id), asked.viewer, _sort(asked))
    if not found.count and not asked.viewer.sees_team(fact.team_id):
        raise Http404("There is no such workload.")
    return fact, found


def _job(asked: CostQuestion, job_id: int) -> workloads.JobFact:
    fact = workloads.jobs([job_id]).get(job_id)
    if fact is None:
        raise Http404("There is no such job.")
    return fact


def _of_no_workload(asked: CostQuestion, team_id: int) -> Drill:
    return replace(asked.of_team(team_id), is_of_no_workload=True)


def _sort(asked: CostQuestion) -> str:
    return asked.sort.replace("name", "job")


def _heading(asked: CostQuestion, found: JobSums, place: tuple[str, int], csv_href: str) -> Heading:
    shown = len(found.jobs)
    note = f"the first {shown} of {found.count:,} in this order" if shown < found.count else ""
    return Heading(
        id="by-job",
        title="By job",
        note=note or counted(found.count, "job"),
        first="Job",
        csv_href=csv_href,
        sorts=lambda sort: asked.href(*place, sort=sort),
    )


def _job_table(asked: CostQuestion, heading: Heading, found: JobSums) -> CostTable:
    facts = workloads.jobs(list(found.jobs))
    rows = [
        cost_row(
            facts[job_id].raw_id,
            states,
            asked.down("costs-job", job_id),
            ", ".join(filter(None, (facts[job_id].name, facts[job_id].user))),
        )
        for job_id, states in found.jobs.items()
    ]
    return cost_table(asked, heading, rows, found.total)


def _jobs_csv(asked: CostQuestion, name: str, found: JobSums) -> HttpResponse:
    facts = workloads.jobs(list(found.jobs))
    rows = [
        csv_cells(
            asked,
            [
                facts[job_id].cluster,
                facts[job_id].raw_id,
                facts[job_id].name,
                facts[job_id].user,
                facts[job_id].account,
            ],
            states,
        )
        for job_id, states in found.jobs.items()
    ]
    return csv_answer(name, csv_headings("cluster", "job", "name", "user", "account"), rows)


def _day_table(
    asked: CostQuestion, job_id: int, by_day: Mapping[date, Sequence[StateSum]]
) -> CostTable:
    heading = Heading(
        id="by-day",
        title="By day",
        note="cost of each day, by state of its GPU time",
        first="Day",
        csv_href=asked.href("costs-job-days", job_id),
        sorts=lambda sort: f"{asked.href('costs-job', job_id, sort=sort)}#by-day",
    )
    days = sorted(by_day.items(), reverse=True)
    rows = [
        cost_row(weekday(day), states, asked.href("costs-job", job_id, window=str(day)))
        for day, states in days
    ]
    if asked.sort == "name":
        rows.reverse()
    elif asked.sort != "-name":
        rows = ordered(rows, asked.sort)
    return cost_table(asked, heading, rows, [each for _, states in days for each in states])


def _about(asked: CostQuestion, fact: workloads.JobFact) -> list[Detail]:
    zone = ZoneInfo(asked.organisation.zone)
    ran = [instant(fact.started_at, zone) if fact.started_at else "not started"]
    if fact.ended_at:
        ran.append(f"to {instant(fact.ended_at, zone)}")
    given = (
        ("Name", fact.name),
        ("User", fact.user),
        ("Account", fact.account),
        ("Partition", fact.partition),
        ("Cluster", fact.cluster),
        ("State", fact.state.capitalize()),
        ("Ran", " ".join(ran)),
    )
    told = [Detail(term, text) for term, text in given if text]
    carried = runs_of_job(fact.id, asked.viewer)
    return told + [Detail("Run", key, href=reverse("run", args=[one])) for one, key in carried]


def _workload_link(asked: CostQuestion, workload_id: int) -> Link:
    name = workloads.workloads()[workload_id].name
    return Link(name, asked.down("costs-workload", workload_id))


def _elsewhen(asked: CostQuestion, fact: workloads.JobFact) -> EmptyState:
    """The job ran at another time: where its costs are."""
    sentence = "Nothing of this job was charged in this period."
    if fact.started_at is None:
        return EmptyState("Nothing to show", sentence)
    zone = ZoneInfo(asked.organisation.zone)
    first = fact.started_at.astimezone(zone).date()
    last = fact.ended_at.astimezone(zone).date() if fact.ended_at else asked.today
    window = f"{first}/{last + DAY}"
    link = Link("Show the time in which it ran", asked.href("costs-job", fact.id, window=window))
    return EmptyState("Nothing to show", sentence, (Step("It ran at another time.", link=link),))
