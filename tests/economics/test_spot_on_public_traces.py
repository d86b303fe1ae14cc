"""On recorded availability of real zones: no deadline missed, and a twentieth below uniform progress."""

import json
from dataclasses import replace

import pytest

from apps.economics.spot.job import SpotJob, SpotPolicy
from apps.economics.spot.report import ReplayQuestion, SpotReport, mean_cost, spot_report
from apps.economics.spot.trace import SpotTrace, trace_of_document
from bench.machine import ROOT

DATA = ROOT.parent / "shared" / "data" / "spot"
QUESTION = ReplayQuestion(SpotJob(48, 60, 0.1, on_demand=3.06, spot=0.918))

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def traces() -> list[SpotTrace]:
    if not DATA.exists():
        pytest.skip("public spot traces are not beside the checkout")
    return [
        trace_of_document(path.stem, json.loads(path.read_text()))
        for path in sorted(DATA.glob("*.json"))
    ]


@pytest.fixture(scope="module")
def report(traces) -> SpotReport:
    return spot_report(QUESTION, traces, lambda progress: None)


def test_runrate_is_a_twentieth_below_uniform_progress_and_never_late(report) -> None:
    assert [len(one.origins) for one in report.alone] == [56, 56, 56]
    assert [{one.by_policy[policy].missed for policy in SpotPolicy} for one in report.alone] == [
        {0}
    ] * 3
    ours, theirs = (
        [mean_cost(one.by_policy, policy) for one in report.alone]
        for policy in (SpotPolicy.RUNRATE, SpotPolicy.UNIFORM_PROGRESS)
    )
    assert sum(ours) <= 0.955 * sum(theirs)
    assert max(own / other for own, other in zip(ours, theirs, strict=True)) <= 0.98
    assert all(
        mean_cost(one.by_policy, SpotPolicy.RUNRATE)
        <= 1.06 * mean_cost(one.by_policy, SpotPolicy.OPTIMUM)
        for one in report.alone
    )


def test_runrate_is_below_uniform_progress_without_its_lead_in_each_zone(report) -> None:
    for one in report.alone:
        ours, theirs = (
            mean_cost(one.by_policy, policy)
            for policy in (SpotPolicy.RUNRATE, SpotPolicy.UNIFORM_WITHOUT_LEAD)
        )
        assert ours <= 0.99 * theirs


def test_zones_together_beat_the_best_of_them(report) -> None:
    together = mean_cost(report.together.by_policy, SpotPolicy.RUNRATE)
    assert together < min(mean_cost(one.by_policy, SpotPolicy.RUNRATE) for one in report.alone)
    assert report.together.by_policy[SpotPolicy.RUNRATE].missed == 0


@pytest.mark.parametrize("checkpoint", [0.0, 0.5])
def test_starts_five_hours_later_are_in_time_too(traces, checkpoint: float) -> None:
    job = replace(QUESTION.job, checkpoint=checkpoint)
    shifted = spot_report(replace(QUESTION, job=job, shift_hours=5), traces[:1], lambda said: None)
    found = shifted.overall
    assert found[SpotPolicy.RUNRATE].missed == 0
    assert mean_cost(found, SpotPolicy.RUNRATE) < mean_cost(found, SpotPolicy.UNIFORM_PROGRESS)
