"""What the demo's training runs report of their losses: they fall, and one goes silently wrong."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.economics.run_divergence import ReportedLoss, diverged_spans
from apps.workloads.queries import JobFact
from controlplane.demo.company import WEEK
from controlplane.demo.fleet import DemoSpan, scenario
from controlplane.demo.runs import TRAININGS, run_reports
from runrate_agent.simulation.scenario import scenario_named

HOUR = timedelta(hours=1)
BEGINS = datetime(2026, 9, 1, tzinfo=UTC)
PLAYS = {"history": 12, "demo": 1}
WRONG_ONE = "ranker-train-31451"
Reported = dict[str, list[dict[str, Any]]]


def span_of(story: str) -> DemoSpan:
    """The twelve weeks from BEGINS on, and the last week after them."""
    starts_at = BEGINS if story == "history" else BEGINS + PLAYS["history"] * WEEK
    return DemoSpan(starts_at, starts_at + PLAYS[story] * WEEK, BEGINS + 14 * WEEK)


def training_jobs(story: str) -> Iterator[tuple[JobFact, int]]:
    """As the simulated schedulers tell them, with the GPUs that each held."""
    span, names = span_of(story), {kind.job for kind in TRAININGS}
    for number, job in enumerate(scenario_named(story).jobs):
        if job.identity.name in names and not job.is_pending:
            started_at = span.starts_at + timedelta(minutes=job.started_minute)
            ended = job.ended_minute
            yield (
                JobFact(
                    id=number,
                    cluster=job.identity.cluster,
                    raw_id=job.identity.raw_id,
                    restart_count=job.identity.restart_count,
                    state=job.state,
                    submitted_at=span.starts_at + timedelta(minutes=job.submitted_minute),
                    started_at=started_at,
                    ended_at=None if ended is None else span.starts_at + timedelta(minutes=ended),
                    name=job.identity.name,
                    user=job.identity.user,
                    account=job.identity.account or "",
                    partition=job.identity.partition or "",
                    labels={},
                ),
                sum(len(place.devices) for place in job.places),
            )


def reports_of(story: str) -> list[dict[str, Any]]:
    jobs = list(training_jobs(story))
    held = {job.id: gpus for job, gpus in jobs}
    return list(run_reports(scenario(story), [job for job, _ in jobs], held, span_of(story)))


@pytest.fixture(scope="module")
def reports() -> list[dict[str, Any]]:
    """What all runs of the thirteen weeks report."""
    return [*reports_of("history"), *reports_of("demo")]


@pytest.fixture(scope="module")
def losses(reports: list[dict[str, Any]]) -> Reported:
    """Their losses, by run, in the order in which they were reported."""
    return by_run(event_reports(reports, "score", is_loss=True))


def event_reports(
    reports: list[dict[str, Any]], kind: str, *, is_loss: bool = False
) -> Iterator[tuple[str, dict[str, Any]]]:
    for report in reports:
        for event in report["events"]:
            if event["kind"] == kind and event.get("higher_is_better", True) != is_loss:
                yield report["run"], event


def by_run(events: Iterator[tuple[str, dict[str, Any]]]) -> Reported:
    found: Reported = {}
    for run, event in events:
        found.setdefault(run, []).append(event)
    return found


def at_of(event: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(event["at_ms"] / 1000, tz=UTC)


def test_one_run_of_the_weeks_before_goes_silently_wrong_until_it_ends(reports, losses):
    wrong = {run for run, told in losses.items() if any(each["metric"] is None for each in told)}
    assert wrong == {WRONG_ONE}

    (last,) = [each for each in reports if each["run"] == WRONG_ONE and each["status"]]
    assert last["status"] == "finished", "nobody saw it"
    first = next(at for at, each in enumerate(losses[WRONG_ONE]) if each["metric"] is None)
    assert all(each["metric"] is None for each in losses[WRONG_ONE][first:])
    ended_at = datetime.fromtimestamp(last["ended_at_ms"] / 1000, tz=UTC)
    assert 10 * HOUR <= ended_at - at_of(losses[WRONG_ONE][first]) <= 20 * HOUR
    assert span_of("history").ends_at - WEEK < ended_at < span_of("history").ends_at


def test_by_the_rule_of_the_ledger_no_other_run_diverged(losses):
    """Noise is no sign of it, nor is a run that went on after an interruption."""
    spans = {
        run: diverged_spans(
            {"loss": [ReportedLoss(at_of(each), each["metric"], each["step"]) for each in told]}, ()
        )
        for run, told in losses.items()
    }
    (found,) = spans.pop(WRONG_ONE)
    assert found == (
        next(at_of(each) for each in losses[WRONG_ONE] if each["metric"] is None),
        None,
    )
    assert {run for run, told in spans.items() if told} == set()


def test_no_checkpoint_passes_while_the_loss_is_no_number(reports, losses):
    since = next(each["at_ms"] for each in losses[WRONG_ONE] if each["metric"] is None)
    passed = by_run(event_reports(reports, "good_checkpoint"))[WRONG_ONE]
    assert [round((each["at_ms"] - since) / 3.6e6) for each in passed] == [-14, -6]


def test_every_run_reports_a_loss_an_hour_and_it_falls(reports, losses):
    assert set(losses) == {each["run"] for each in reports}
    for run, told in losses.items():
        numbers = [each["metric"] for each in told if each["metric"] is not None]
        assert numbers[-1] < 0.95 * numbers[0], run
        assert all(later < 1.05 * max(numbers[:3]) for later in numbers), run
    hours = sum(
        (window["ends_at_ms"] - window["starts_at_ms"]) / 3.6e6
        for report in reports
        if report["rank"] == 0
        for window in report["windows"]
        if window["steps"]
    )
    attempts = len({each["attempt"] for each in reports if each["rank"] == 0})
    assert hours - attempts <= sum(map(len, losses.values())) <= hours + attempts


def test_two_programmes_are_evaluated_and_get_better(reports):
    scores = Counter(
        (report["workload"], event["name"])
        for report in reports
        for event in report["events"]
        if event["kind"] == "score" and event["higher_is_better"]
    )
    assert set(scores) == {("llama-sft", "IFEval"), ("vlm-pilot", "VQA accuracy")}
    for run, told in by_run(event_reports(reports, "score")).items():
        assert told[-1]["metric"] > told[0]["metric"] or len(told) == 1, run
        assert all(0 < each["metric"] < 1 for each in told), run


def test_the_same_is_reported_every_time(reports):
    assert reports == [*reports_of("history"), *reports_of("demo")]
