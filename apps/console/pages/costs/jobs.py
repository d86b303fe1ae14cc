"""A workload by job, a team's jobs of no workload, and one job's days and lines."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from django.http import Http404, HttpResponse
from django.urls import path, reverse

from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, Section, shown
from apps.console.kit.request import EVERYONE, Context, found_or_404
from apps.console.kit.table import Table, TableSection
from apps.console.pages.costs.below import CostPlace, cost_page, empty_page, meters_of
from apps.console.pages.costs.days import days_file
from apps.console.pages.costs.details import Detail, DetailList
from apps.console.pages.costs.lines import LinesOf, line_section, lines_file
from apps.console.pages.costs.question import AskedCosts, asked_costs
from apps.console.pages.costs.sums import states_less, sums_of
from apps.console.pages.costs.tables import CostRow, cost_table
from apps.console.pages.costs.teams import MOST_CSV_LINES, MOST_LINES, all_costs
from apps.console.pages.costs.words import spent
from apps.console.pages.recommendations.touching import work_section
from apps.economics.states import State
from apps.ledger.queries import States, StateSum, standing
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.days import Daily, costs_by_day
from apps.ledger.queries.cube.states import JobSums, Sureness, job_sums, state_sums
from apps.ledger.queries.drill import LineRow, lines_of_job
from apps.show.amounts import counted
from apps.show.time import instant, weekday
from apps.workloads import queries as workloads
from apps.workloads.queries.run_picture import runs_of_job

DAY = timedelta(days=1)
JOB_KEYS = ("cluster", "job", "name", "user", "account")
OF_NO_JOB = "Of no job"
NOT_OF_JOBS = "calls, credits, shared charges and commitments that are charged to it as a whole"


@shown(EVERYONE, "costs")
def workload(context: Context, workload_id: int) -> ConsolePage:
    """One workload by job."""
    asked = asked_costs(context)
    question = asked.question.of(workload=[workload_id])
    fact, jobs = _workload_jobs(asked, workload_id)
    daily = costs_by_day(question, context.at, asked.comparison)
    if not daily.days and not context.viewer.sees_team(fact.team_id):
        raise Http404("There is no such workload.")
    finding = spent(asked, fact.name, sums_of(daily.states))
    trail = [all_costs(asked), *asked.team_link(fact.team_id)]
    if not daily.days:
        return empty_page(asked, finding, trail, asked.nothing("costs-workload", workload_id))
    return cost_page(
        asked,
        finding,
        CostPlace("costs-workload", (workload_id,), "by-job"),
        daily,
        trail,
        tables=[_job_section(asked, jobs, tuple(daily.states))],
        to_do=work_section(context, fact),
        meters=meters_of(asked, question, "workload", "Workload", lambda _: (fact.name, "")),
    )


@shown(EVERYONE, "costs")
def workload_csv(context: Context, workload_id: int) -> HttpResponse:
    """The table by job."""
    asked = asked_costs(context)
    fact, jobs = _workload_jobs(asked, workload_id)
    whole = state_sums(asked.question.of(workload=[workload_id])).get((), ())
    if not whole and not context.viewer.sees_team(fact.team_id):
        raise Http404("There is no such workload.")
    rows = [*_job_rows(asked, jobs), *_rows_of_no_job(jobs, whole)]
    return _job_table(asked).csv(rows, context, f"costs of {fact.name}")


@shown(EVERYONE, "costs")
def workload_days(context: Context, workload_id: int) -> HttpResponse:
    """Every day of a workload."""
    asked = asked_costs(context)
    fact = _workload_fact(workload_id)
    daily = costs_by_day(asked.question.of(workload=[workload_id]), context.at)
    if not daily.days and not context.viewer.sees_team(fact.team_id):
        raise Http404("There is no such workload.")
    return days_file(asked, f"costs of {fact.name} by day", daily.days)


@shown(EVERYONE, "costs")
def jobs_of_team(context: Context, team_id: int) -> ConsolePage:
    """A team's jobs that belong to no workload."""
    asked = asked_costs(context)
    name, jobs = asked.team_name(team_id), _loose_jobs(asked, team_id)
    finding = spent(asked, f"Jobs of {name} without a workload", sums_of(jobs.total))
    trail = [all_costs(asked), *asked.team_link(team_id)]
    if not jobs.count:
        return empty_page(asked, finding, trail, asked.nothing("costs-team-jobs", team_id))
    return ConsolePage(
        context=context,
        finding=finding,
        filters=asked.filters(),
        problems=asked.problems,
        trail=tuple(trail),
        sections=(_job_section(asked, jobs),),
    )


@shown(EVERYONE, "costs")
def jobs_of_team_csv(context: Context, team_id: int) -> HttpResponse:
    """The table by job."""
    asked = asked_costs(context)
    rows = _job_rows(asked, _loose_jobs(asked, team_id))
    name = f"jobs of {asked.team_name(team_id)} without a workload"
    return _job_table(asked).csv(rows, context, name)


@shown(EVERYONE, "costs")
def job(context: Context, job_id: int) -> ConsolePage:
    """One job: who it is, its days, and its lines."""
    asked = asked_costs(context)
    fact, owner, days = _job_days(asked, job_id)
    lines = lines_of_job(asked.question, job_id, MOST_LINES + 1)
    whole = [each for states in days.values() for each in states]
    sums = sums_of(whole)
    finding = spent(asked, f"Job {fact.raw_id}", sums)
    trail = [all_costs(asked), *asked.team_link(owner.team_id)]
    if owner.workload_id is not None and owner.team_id in asked.teams:
        trail.append(_workload_link(asked, owner.workload_id))
    about = _about_job(asked, fact)
    if not lines:
        return ConsolePage(
            context=context,
            finding=finding,
            filters=asked.filters(is_of_job=True),
            problems=asked.problems,
            trail=tuple(trail),
            sections=(about, _ran_elsewhen(asked, fact)),
        )
    has_days = len(days) > 1
    return cost_page(
        asked,
        finding,
        CostPlace("costs-job", (job_id,), "by-day" if has_days else "lines"),
        Daily(days),
        trail,
        about=about,
        known=_job_sureness(lines, whole, asked),
        meters=meters_of(
            asked, asked.question, "job", "Job", lambda _: (fact.raw_id, ""), [job_id]
        ),
        tables=[_day_section(asked, job_id, days)] if has_days else [],
        lines=line_section(asked, lines, LinesOf(f"{context.path}.csv", sums, MOST_LINES)),
        is_of_job=True,
    )


@shown(EVERYONE, "costs")
def job_csv(context: Context, job_id: int) -> HttpResponse:
    """The job's lines, 50,000 at most."""
    asked = asked_costs(context)
    fact, _, _ = _job_days(asked, job_id)
    lines = lines_of_job(asked.question, job_id, MOST_CSV_LINES)
    return lines_file(asked, f"lines of job {fact.raw_id}", lines)


@shown(EVERYONE, "costs")
def job_days(context: Context, job_id: int) -> HttpResponse:
    """Every day of a job."""
    asked = asked_costs(context)
    fact, _, days = _job_days(asked, job_id)
    return days_file(asked, f"costs of job {fact.raw_id} by day", days)


def _workload_fact(workload_id: int) -> workloads.WorkloadFact:
    return found_or_404(workloads.workloads().get(workload_id), "There is no such workload.")


def _workload_jobs(asked: AskedCosts, workload_id: int) -> tuple[workloads.WorkloadFact, JobSums]:
    fact = _workload_fact(workload_id)
    return fact, _jobs_of(asked, asked.question.of(workload=[workload_id]))


def _loose_jobs(asked: AskedCosts, team_id: int) -> JobSums:
    asked.team_name(team_id)
    return _jobs_of(asked, asked.question.of(team=[team_id], workload=[None]))


def _jobs_of(asked: AskedCosts, question: CubeQuestion) -> JobSums:
    """The first 200, in the order of the address."""
    column, is_descending = _job_table(asked).chosen(asked.context.query)
    key = "job" if column is None or column.key == "name" else column.key
    return job_sums(question, f"-{key}" if is_descending else key)


def _job_days(
    asked: AskedCosts, job_id: int
) -> tuple[workloads.JobFact, workloads.OwnerFact, dict[date, States]]:
    """The job and its days, the first one first; none of others is known to who sees no such team."""
    fact = found_or_404(workloads.jobs([job_id]).get(job_id), "There is no such job.")
    found = state_sums(asked.question.of(job=[job_id]).by("day"))
    days = {day: states for (day,), states in found.items() if isinstance(day, date)}
    owner = workloads.owners([job_id], asked.context.at)[job_id]
    if not days and not asked.context.viewer.sees_team(owner.team_id):
        raise Http404("There is no such job.")
    return fact, owner, days


def _job_sureness(
    lines: Sequence[LineRow], whole: Sequence[StateSum], asked: AskedCosts
) -> Sureness:
    """How sure this one job's sums are."""
    stands = standing(asked.question.window, asked.context.at)
    held = sum(each.gpu_milliseconds for each in whole if each.state is not None)
    unobserved = sum(each.gpu_milliseconds for each in whole if each.state == State.UNOBSERVED)
    return Sureness(
        statuses=frozenset(each.status for each in lines),
        held_milliseconds=held,
        observed_milliseconds=held - unobserved,
        as_of=stands.as_of,
        pending_hours=stands.pending_hours,
        is_closed=stands.is_closed,
    )


def _job_table(asked: AskedCosts) -> Table[CostRow]:
    return cost_table(asked, "by-job", "Job", JOB_KEYS, "By job")


def _job_rows(asked: AskedCosts, jobs: JobSums) -> list[CostRow]:
    facts = workloads.jobs(list(jobs.jobs))
    return [
        CostRow(
            (fact.cluster, fact.raw_id, fact.name, fact.user, fact.account),
            sums_of(states),
            fact.raw_id,
            asked.down("costs-job", job_id),
            ", ".join(filter(None, (fact.name, fact.user))),
        )
        for job_id, states in jobs.jobs.items()
        for fact in [facts[job_id]]
    ]


def _rows_of_no_job(jobs: JobSums, whole: States) -> list[CostRow]:
    """What of the whole is of no job, as a row; none where it is nothing."""
    rest = states_less(whole, jobs.total)
    if not rest:
        return []
    keys = ("", "", OF_NO_JOB, "", "")
    return [CostRow(keys, sums_of(rest), OF_NO_JOB, note=NOT_OF_JOBS)]


def _job_section(asked: AskedCosts, jobs: JobSums, whole: States | None = None) -> TableSection:
    """By job; with `whole` what is of no job too, so that it comes to all of it."""
    shown_jobs = len(jobs.jobs)
    cut = f"the first {shown_jobs} of {jobs.count:,} in this order"
    listed = counted(jobs.count, "job") if shown_jobs == jobs.count else cut
    summed = jobs.total if whole is None else whole
    total = CostRow(("",) * len(JOB_KEYS), sums_of(summed), "Total")
    return _job_table(asked).section(
        [*_job_rows(asked, jobs), *_rows_of_no_job(jobs, summed)],
        asked.context,
        about=f"{listed}; per GPU-hour is Cost ÷ GPU-hours",
        total=total,
        states=total.sums.states,
        csv_href=f"{asked.context.path}.csv",
    )


def _day_section(asked: AskedCosts, job_id: int, days: Mapping[date, States]) -> TableSection:
    rows = [
        CostRow(
            (day.isoformat(),),
            sums_of(states),
            weekday(day),
            asked.href("costs-job", job_id, window=day.isoformat()),
        )
        for day, states in sorted(days.items(), reverse=True)
    ]
    total = CostRow(("",), sums_of(each for states in days.values() for each in states), "Total")
    return cost_table(asked, "by-day", "Day", ("day",), "By day").section(
        rows,
        asked.context,
        total=total,
        states=total.sums.states,
        csv_href=f"{asked.context.path}/days.csv",
    )


def _about_job(asked: AskedCosts, fact: workloads.JobFact) -> Section:
    zone = asked.context.zone
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
    runs = [
        Detail("Run", key, href=asked.context.onward(reverse("run", args=[run_id])))
        for run_id, key in runs_of_job(fact.id, asked.context.viewer)
    ]
    return DetailList(
        "about", "About the job", (*(Detail(term, text) for term, text in given if text), *runs)
    )


def _workload_link(asked: AskedCosts, workload_id: int) -> Link:
    name = workloads.workloads()[workload_id].name
    return Link(name, asked.down("costs-workload", workload_id))


def _ran_elsewhen(asked: AskedCosts, fact: workloads.JobFact) -> EmptyState:
    """The job ran at another time: where its costs are."""
    sentence = "Nothing of this job was charged in this period."
    if fact.started_at is None:
        return EmptyState("Nothing to show", sentence)
    zone = asked.context.zone
    first = fact.started_at.astimezone(zone).date()
    today = asked.context.calendar.today
    last = fact.ended_at.astimezone(zone).date() if fact.ended_at else today
    href = asked.href("costs-job", fact.id, window=f"{first}/{last + DAY}")
    link = Link("Show the time in which it ran", href)
    return EmptyState("Nothing to show", sentence, (Step("It ran at another time.", link=link),))


urlpatterns = [
    path("costs/teams/<int:team_id>/jobs", jobs_of_team, name="costs-team-jobs"),
    path("costs/teams/<int:team_id>/jobs.csv", jobs_of_team_csv, name="costs-team-jobs-csv"),
    path("costs/workloads/<int:workload_id>", workload, name="costs-workload"),
    path("costs/workloads/<int:workload_id>.csv", workload_csv, name="costs-workload-csv"),
    path("costs/workloads/<int:workload_id>/days.csv", workload_days, name="costs-workload-days"),
    path("costs/jobs/<int:job_id>", job, name="costs-job"),
    path("costs/jobs/<int:job_id>.csv", job_csv, name="costs-job-csv"),
    path("costs/jobs/<int:job_id>/days.csv", job_days, name="costs-job-days"),
]
