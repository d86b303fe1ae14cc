"""Money of runs that went silently wrong is waste, once, and shown by its name in it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.test import override_settings

from apps.economics.run_time import Bucket
from apps.ledger.models import LedgerDay
from apps.review.queries.weekly.content import ReviewedWorkload
from apps.review.queries.weekly.making import make_content
from apps.review.queries.weekly.paper import review_cautions
from apps.unit_economics.models import RunDay, RunFigures
from apps.workloads.models import Job, Run, RunAttempt, RunScore
from tests import make
from tests.apps.review.review_weeks import DOLLAR, MONDAY, WEEK, Company

pytestmark = pytest.mark.django_db
BEGAN = datetime(2026, 2, 9, tzinfo=UTC)


@pytest.fixture
def company() -> Company:
    made = Company()
    made.plant()
    return made


def make_run(
    company: Company, losses: list[tuple[float, float | None]], wrong_hours: int = 0
) -> None:
    """A run of all of the training's active week that reported these losses, each so many hours after it began.

    The last `wrong_hours` of it were divided as diverged.
    """
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
    lines = LedgerDay.objects.filter(
        workload_id=company.train, day__gte=WEEK.first_day, state=1
    ).order_by("-day")
    for line in lines:
        wrong = min(wrong_hours, 24)
        wrong_hours -= wrong
        parts = {Bucket.DIVERGED: wrong, Bucket.PRODUCTIVE: 24 - wrong}
        for bucket, hours in ((bucket, hours) for bucket, hours in parts.items() if hours):
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
                bucket=bucket,
                state=1,
                flags=0,
                effective_micros=line.effective_micros * hours // 24,
                unit_milliseconds=line.unit_milliseconds * hours // 24,
                unpriced_milliseconds=0,
            )


def reviewed(company: Company) -> ReviewedWorkload:
    content = make_content(WEEK, MONDAY)
    return next(each for each in content.workloads if each.workload_id == company.train)


def test_what_diverged_is_a_named_part_of_the_waste_and_counts_once(company: Company) -> None:
    # No number any more from Thursday noon on: 12 hours of it and three whole days, at $48 a day.
    make_run(company, [(1, 3.0), (24, 2.5), (84.5, None), (120, None)], wrong_hours=84)
    with override_settings(REVIEW_SHRINK_WASTE=0.3):
        content = make_content(WEEK, MONDAY)
    train = next(each for each in content.workloads if each.workload_id == company.train)
    assert train.waste.diverged_micros == 168 * DOLLAR
    assert train.waste.diverged_runs == ("v7",)
    # Once: $504 idle and $168 that failed, which is all that diverged.
    assert train.waste.parts == {
        "failed": 168 * DOLLAR,
        "idle_while_allocated": 504 * DOLLAR,
    }
    assert train.waste.micros == sum(train.waste.parts.values())
    assert train.verdict.waste_ratio == round((504 + 168) / (4 * 336 + 504), 6)
    assert train.verdict.reason.endswith("($672) was waste, $168 of that of runs that diverged.")
    # The team's waste has it once too, with what nobody held.
    ads = next(each for each in content.teams if each.team_id == company.ads)
    unallocated = 7 * 3 * 2
    assert (ads.waste_micros, ads.diverged_micros) == (
        (504 + 168 + unallocated) * DOLLAR,
        168 * DOLLAR,
    )
    assert content.diverged_micros == 168 * DOLLAR
    (caution,) = [each for each in review_cautions(content) if "diverged" in each]
    assert caution.endswith("cost $168, in the waste.")


def test_a_review_that_was_frozen_before_that_says_that_it_stands_beside(company: Company) -> None:
    make_run(company, [(1, 3.0), (84.5, None)], wrong_hours=84)
    older = replace(make_content(WEEK, MONDAY), schema=1)
    (caution,) = [each for each in review_cautions(older) if "diverged" in each]
    assert caution.endswith("cost $168, beside the waste.")


def test_a_run_that_learns_wastes_nothing_and_says_so(company: Company) -> None:
    make_run(company, [(1, 3.0), (24, 2.5), (48, None), (72, 2.2), (160, 2.1)])
    train = reviewed(company)
    assert (train.waste.diverged_micros, train.waste.diverged_runs) == (0, ())
    assert [(each.name, each.value, each.source) for each in train.scores] == [("loss", 2.1, "sdk")]


def test_of_a_workload_whose_runs_report_no_loss_nobody_knows(company: Company) -> None:
    assert reviewed(company).waste.diverged_micros is None
