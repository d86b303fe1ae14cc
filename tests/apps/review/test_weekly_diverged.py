"""Money of runs that went silently wrong is shown by itself, from when they did, and counts for the verdict."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.economics.run_time import Bucket
from apps.ledger.models import LedgerDay
from apps.review.queries.weekly.content import ReviewedWorkload
from apps.review.queries.weekly.making import make_content
from apps.unit_economics.models import RunDay, RunFigures
from apps.workloads.models import Job, Run, RunAttempt, RunHour, RunScore
from tests import make
from tests.apps.review.review_weeks import DOLLAR, HOUR_MS, MONDAY, WEEK, Company

pytestmark = pytest.mark.django_db
BEGAN = datetime(2026, 2, 9, tzinfo=UTC)


@pytest.fixture
def company() -> Company:
    made = Company()
    made.plant()
    return made


def make_run(company: Company, losses: list[tuple[float, float | None]]) -> None:
    """A run of all of the training's week that reported these losses, each so many hours after it began."""
    run = Run.objects.create(key="v7", workload_id=None)
    RunFigures.objects.create(
        run=run, key="v7", team_id=company.ads, workload_id=company.train, computed_at=MONDAY
    )
    job = Job.objects.create(
        cluster_id=make.make_cluster(), raw_id="7", opened_at=BEGAN, started_at=BEGAN
    )
    attempt = RunAttempt.objects.create(run=run, key="a", began_at=BEGAN, heard_at=MONDAY)
    for part, (hours, value) in enumerate(losses):
        RunScore.objects.create(
            attempt=attempt,
            sequence=0,
            part=part,
            name="loss",
            at=BEGAN + timedelta(hours=hours),
            value=value,
            higher_is_better=False,
        )
    for line in LedgerDay.objects.filter(
        workload_id=company.train, day__gte=WEEK.first_day, state=1
    ):
        RunDay.objects.create(
            day=line.day,
            posting_month=line.posting_month,
            status="estimated",
            kind="node_hour",
            pool_id=company.pool,
            run=run,
            job=job,
            team_id=company.ads,
            workload_id=company.train,
            bucket=Bucket.PRODUCTIVE,
            state=1,
            flags=0,
            effective_micros=line.effective_micros,
            unit_milliseconds=line.unit_milliseconds,
            unpriced_milliseconds=0,
        )
    for hour in range(7 * 24):
        bucket_ms = [0] * len(Bucket)
        bucket_ms[Bucket.PRODUCTIVE] = HOUR_MS
        RunHour.objects.create(
            run=run, job_key=job.pk, hour=BEGAN + timedelta(hours=hour), bucket_ms=bucket_ms
        )


def reviewed(company: Company) -> ReviewedWorkload:
    content = make_content(WEEK, MONDAY)
    return next(each for each in content.workloads if each.workload_id == company.train)


def test_from_the_hour_of_the_last_number_on_it_is_money_for_nothing(company: Company) -> None:
    # No number any more from Thursday noon on: 12 hours of it and three whole days, at $48 a day.
    make_run(company, [(1, 3.0), (24, 2.5), (84.5, None), (120, None)])
    train = reviewed(company)
    assert train.waste.diverged_micros == (24 + 3 * 48) * DOLLAR
    assert train.waste.diverged_runs == ("v7",)
    # Beside waste, never in it: $504 idle.
    assert train.waste.micros == 504 * DOLLAR
    assert train.verdict.waste_ratio == round((504 + 168) / (4 * 336 + 504), 6)


def test_a_run_that_learns_wastes_nothing_and_says_so(company: Company) -> None:
    make_run(company, [(1, 3.0), (24, 2.5), (48, None), (72, 2.2), (160, 2.1)])
    train = reviewed(company)
    assert (train.waste.diverged_micros, train.waste.diverged_runs) == (0, ())
    assert [(each.name, each.value, each.source) for each in train.scores] == [("loss", 2.1, "sdk")]


def test_of_a_workload_whose_runs_report_no_loss_nobody_knows(company: Company) -> None:
    assert reviewed(company).waste.diverged_micros is None
