"""A workload by job, a team's jobs of no workload, and one job's days and lines."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from django.http import Http404
from django.urls import path, reverse

from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, Section, files_page, shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.kit.table import Table, TableSection
from apps.console.pages.costs.days import days_file
from apps.console.pages.costs.details import Detail, DetailList
from apps.console.pages.costs.drilldown import cost_page, empty_page, meters_of
from apps.console.pages.costs.lines import LinesOf, line_section, lines_file
from apps.console.pages.costs.question import CostPlace, CostQuery, requested_cost_query
from apps.console.pages.costs.sums import states_less, sums_of
from apps.console.pages.costs.tables import CostRow, cost_table
from apps.console.pages.costs.teams import MOST_CSV_LINES, MOST_LINES, all_costs
from apps.console.pages.costs.words import spent
from apps.console.pages.recommendations.related import work_file, work_section
from apps.economics.states import State
from apps.ledger.queries import States, StateSum, settlement_status
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.days import Daily, costs_by_day
from apps.ledger.queries.cube.states import DataQuality, JobSums, job_sums, state_sums
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
    cost_query = requested_cost_query(context)
    question = cost_query.question.of(workload=[workload_id])
    fact, jobs = _workload_jobs(cost_query, workload_id)
    daily = costs_by_day(question, context.at, cost_query.comparison)
    if not daily.days and not context.viewer.sees_team(fact.team_id):
        raise Http404("There is no such workload.")
    by_job = _job_section(cost_query, jobs, f"costs of {fact.name}", tuple(daily.states))
    days_csv = days_file(cost_query, f"costs of {fact.name} by day", lambda: daily.days)
    if context.csv_table is not None:
        to_do_csv = work_file(context, fact)
        return files_page(context, by_job.csv, days_csv, to_do_csv, main="by-job")
    finding = spent(cost_query, fact.name, sums_of(daily.states))
    trail = [all_costs(cost_query), *cost_query.team_link(fact.team_id)]
    if not daily.days:
        return empty_page(
            cost_query, finding, trail, cost_query.nothing("costs-workload", workload_id)
        )
    return cost_page(
        cost_query,
        finding,
        CostPlace("costs-workload", (workload_id,), "by-job"),
        daily,
        trail,
        days_csv,
        tables=[by_job],
        to_do=work_section(context, fact),
        meters=meters_of(cost_query, question, "workload", "Workload", lambda _: (fact.name, "")),
    )


@shown(EVERYONE, "costs")
def jobs_of_team(context: Context, team_id: int) -> ConsolePage:
    """A team's jobs that belong to no workload."""
    cost_query = requested_cost_query(context)
    name, jobs = cost_query.team_name(team_id), _loose_jobs(cost_query, team_id)
    by_job = _job_section(cost_query, jobs, f"jobs of {name} without a workload")
    if context.csv_table is not None:
        return files_page(context, by_job.csv, main="by-job")
    finding = spent(cost_query, f"Jobs of {name} without a workload", sums_of(jobs.total))
    trail = [all_costs(cost_query), *cost_query.team_link(team_id)]
    if not jobs.count:
        return empty_page(
            cost_query, finding, trail, cost_query.nothing("costs-team-jobs", team_id)
        )
    return ConsolePage(
        context=context,
        finding=finding,
        filters=cost_query.filters(),
        problems=cost_query.problems,
        trail=tuple(trail),
        sections=(by_job,),
    )


@shown(EVERYONE, "costs")
def job(context: Context, job_id: int) -> ConsolePage:
    """One job: who it is, its days, and its lines."""
    cost_query = requested_cost_query(context)
    fact, owner, days = _job_days(cost_query, job_id)
    days_csv = days_file(cost_query, f"costs of job {fact.raw_id} by day", lambda: days)
    lines_csv = lines_file(
        cost_query,
        f"lines of job {fact.raw_id}",
        lambda: lines_of_job(cost_query.question, job_id, MOST_CSV_LINES),
    )
    if context.csv_table is not None:
        return files_page(context, lines_csv, days_csv, main="lines")
    lines = lines_of_job(cost_query.question, job_id, MOST_LINES + 1)
    all_states = [state for states in days.values() for state in states]
    sums = sums_of(all_states)
    finding = spent(cost_query, f"Job {fact.raw_id}", sums)
    trail = [all_costs(cost_query), *cost_query.team_link(owner.team_id)]
    if owner.workload_id is not None and owner.team_id in cost_query.teams:
        trail.append(_workload_link(cost_query, owner.workload_id))
    about = _about_job(cost_query, fact)
    if not lines:
        return ConsolePage(
            context=context,
            finding=finding,
            filters=cost_query.filters(is_of_job=True),
            problems=cost_query.problems,
            trail=tuple(trail),
            sections=(about, _ran_elsewhen(cost_query, fact)),
        )
    has_days = len(days) > 1
    return cost_page(
        cost_query,
        finding,
        CostPlace("costs-job", (job_id,), "by-day" if has_days else "lines"),
        Daily(days),
        trail,
        days_csv,
        about=about,
        known=_job_sureness(lines, all_states, cost_query),
        meters=meters_of(
            cost_query, cost_query.question, "job", "Job", lambda _: (fact.raw_id, ""), [job_id]
        ),
        tables=[_day_section(cost_query, job_id, days, days_csv)] if has_days else [],
        lines=line_section(cost_query, lines, LinesOf(lines_csv, sums, MOST_LINES)),
        is_of_job=True,
    )


def _workload_fact(workload_id: int) -> workloads.WorkloadFact:
    return value_or_404(workloads.workloads().get(workload_id), "There is no such workload.")


def _workload_jobs(
    cost_query: CostQuery, workload_id: int
) -> tuple[workloads.WorkloadFact, JobSums]:
    fact = _workload_fact(workload_id)
    return fact, _jobs_of(cost_query, cost_query.question.of(workload=[workload_id]))


def _loose_jobs(cost_query: CostQuery, team_id: int) -> JobSums:
    cost_query.team_name(team_id)
    return _jobs_of(cost_query, cost_query.question.of(team=[team_id], workload=[None]))


def _jobs_of(cost_query: CostQuery, question: CubeQuestion) -> JobSums:
    """The first 200, in the order of the address."""
    column, is_descending = _job_table(cost_query).chosen(cost_query.context.query)
    key = "job" if column is None or column.key == "name" else column.key
    return job_sums(question, f"-{key}" if is_descending else key)


def _job_days(
    cost_query: CostQuery, job_id: int
) -> tuple[workloads.JobFact, workloads.OwnerFact, dict[date, States]]:
    """The job and its days, the first one first; none of others is known to who sees no such team."""
    fact = value_or_404(workloads.jobs([job_id]).get(job_id), "There is no such job.")
    states_by_key = state_sums(cost_query.question.of(job=[job_id]).by("day"))
    days = {day: states for (day,), states in states_by_key.items() if isinstance(day, date)}
    owner = workloads.owners([job_id], cost_query.context.at)[job_id]
    if not days and not cost_query.context.viewer.sees_team(owner.team_id):
        raise Http404("There is no such job.")
    return fact, owner, days


def _job_sureness(
    lines: Sequence[LineRow], state_rows: Sequence[StateSum], cost_query: CostQuery
) -> DataQuality:
    """How sure this one job's sums are."""
    settlement = settlement_status(cost_query.question.window, cost_query.context.at)
    held_milliseconds = sum(
        state_row.gpu_milliseconds for state_row in state_rows if state_row.state is not None
    )
    unobserved = sum(
        state_row.gpu_milliseconds
        for state_row in state_rows
        if state_row.state == State.UNOBSERVED
    )
    return DataQuality(
        statuses=frozenset(line.status for line in lines),
        held_milliseconds=held_milliseconds,
        observed_milliseconds=held_milliseconds - unobserved,
        as_of=settlement.as_of,
        pending_hours=settlement.pending_hours,
        is_closed=settlement.is_closed,
    )


def _job_table(cost_query: CostQuery) -> Table[CostRow]:
    return cost_table(cost_query, "by-job", "Job", JOB_KEYS, "By job")


def _job_rows(cost_query: CostQuery, jobs: JobSums) -> list[CostRow]:
    facts = workloads.jobs(list(jobs.jobs))
    return [
        CostRow(
            (fact.cluster, fact.raw_id, fact.name, fact.user, fact.account),
            sums_of(states),
            fact.raw_id,
            cost_query.down("costs-job", job_id),
            ", ".join(filter(None, (fact.name, fact.user))),
        )
        for job_id, states in jobs.jobs.items()
        for fact in [facts[job_id]]
    ]


def _rows_of_no_job(jobs: JobSums, total_states: States) -> list[CostRow]:
    """Return what of the whole is of no job, as a row; none where it is nothing."""
    remainder = states_less(total_states, jobs.total)
    if not remainder:
        return []
    keys = ("", "", OF_NO_JOB, "", "")
    return [CostRow(keys, sums_of(remainder), OF_NO_JOB, note=NOT_OF_JOBS)]


def _job_section(
    cost_query: CostQuery, jobs: JobSums, csv_name: str, total_states: States | None = None
) -> TableSection:
    """By job; with `total_states` what is of no job too, so that it comes to all of it."""
    shown_jobs = len(jobs.jobs)
    cut = f"the first {shown_jobs} of {jobs.count:,} in this order"
    listed = counted(jobs.count, "job") if shown_jobs == jobs.count else cut
    summed = jobs.total if total_states is None else total_states
    total = CostRow(("",) * len(JOB_KEYS), sums_of(summed), "Total")
    return _job_table(cost_query).section(
        [*_job_rows(cost_query, jobs), *_rows_of_no_job(jobs, summed)],
        cost_query.context,
        about=f"{listed}; per GPU-hour is Cost ÷ GPU-hours",
        total=total,
        states=total.sums.states,
        csv_name=csv_name,
    )


def _day_section(
    cost_query: CostQuery, job_id: int, days: Mapping[date, States], days_csv: CsvFile
) -> TableSection:
    rows = [
        CostRow(
            (day.isoformat(),),
            sums_of(states),
            weekday(day),
            cost_query.href("costs-job", job_id, window=day.isoformat()),
        )
        for day, states in sorted(days.items(), reverse=True)
    ]
    total = CostRow(("",), sums_of(state for states in days.values() for state in states), "Total")
    return cost_table(cost_query, "by-day", "Day", ("day",), "By day").section(
        rows,
        cost_query.context,
        total=total,
        states=total.sums.states,
        csv=days_csv,
    )


def _about_job(cost_query: CostQuery, fact: workloads.JobFact) -> Section:
    zone = cost_query.context.zone
    ran = [instant(fact.started_at, zone) if fact.started_at else "not started"]
    if fact.ended_at:
        ran.append(f"to {instant(fact.ended_at, zone)}")
    details = (
        ("Name", fact.name),
        ("User", fact.user),
        ("Account", fact.account),
        ("Partition", fact.partition),
        ("Cluster", fact.cluster),
        ("State", fact.state.capitalize()),
        ("Ran", " ".join(ran)),
    )
    runs = [
        Detail("Run", key, href=cost_query.context.onward(reverse("run", args=[run_id])))
        for run_id, key in runs_of_job(fact.id, cost_query.context.viewer)
    ]
    return DetailList(
        "about", "About the job", (*(Detail(term, text) for term, text in details if text), *runs)
    )


def _workload_link(cost_query: CostQuery, workload_id: int) -> Link:
    name = workloads.workloads()[workload_id].name
    return Link(name, cost_query.down("costs-workload", workload_id))


def _ran_elsewhen(cost_query: CostQuery, fact: workloads.JobFact) -> EmptyState:
    """The job ran at another time: where its costs are."""
    sentence = "Nothing of this job was charged in this period."
    if fact.started_at is None:
        return EmptyState("Nothing to show", sentence)
    zone = cost_query.context.zone
    first = fact.started_at.astimezone(zone).date()
    today = cost_query.context.calendar.today
    last = fact.ended_at.astimezone(zone).date() if fact.ended_at else today
    href = cost_query.href("costs-job", fact.id, window=f"{first}/{last + DAY}")
    link = Link("Show the time in which it ran", href)
    return EmptyState("Nothing to show", sentence, (Step("It ran at another time.", link=link),))


urlpatterns = [
    path("costs/teams/<int:team_id>/jobs", jobs_of_team, name="costs-team-jobs"),
    path("costs/workloads/<int:workload_id>", workload, name="costs-workload"),
    path("costs/jobs/<int:job_id>", job, name="costs-job"),
]
