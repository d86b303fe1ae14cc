"""One run's anatomy: every way it is cut sums to the run, and to its ledger lines."""

from datetime import timedelta

import pytest

from apps.accounts.queries import Viewer
from apps.economics.run_time import Bucket
from apps.unit_economics.queries.runs.costs import added, run_costs, runs_compared
from apps.unit_economics.queries.runs.values import RunAnatomy, RunFigure
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import run_scene

pytestmark = pytest.mark.django_db

H100_MICROS = 98_320_000
PLATFORM = Viewer(None, "platform", "platform", True, frozenset(), True, True, False)
HOUR = scene.HOUR


@pytest.fixture(autouse=True)
def _fleet() -> None:
    make.make_organisation()
    make.make_cluster()
    scene.make_rule("research", make.make_team())


def member(*team_ids: int) -> Viewer:
    """Somebody of these teams."""
    return Viewer(1, "Ada", "member", False, frozenset(team_ids), False, False, False)


def make_run() -> int:
    """A run on one job an hour, and then on another until half past the next."""
    node_id = scene.make_priced_node()
    first = scene.make_job("1", node_id)
    second = scene.make_job("2", node_id, from_=scene.TEN + HOUR, to=scene.TEN + 2 * HOUR)
    run_id = run_scene.make_run(
        "llama",
        (first, scene.TEN, scene.TEN + HOUR),
        (second, scene.TEN + HOUR, scene.TEN + HOUR + timedelta(minutes=30)),
        tokens=1,
        submitted_at=scene.TEN,
    )
    run_scene.tell(run_id, first, {Bucket.PRODUCTIVE: 30, Bucket.LOST: 30})
    return run_id


def anatomy(run_id: int, viewer: Viewer = PLATFORM) -> RunAnatomy:
    """One that is there."""
    found = run_costs(run_id, viewer)
    assert found is not None
    return found


def test_every_cut_of_a_run_sums_to_it() -> None:
    run_id = make_run()
    scene.settle(ends_at=scene.TEN + 2 * HOUR)

    found = anatomy(run_id)
    assert found.amounts.effective_micros == H100_MICROS * 3 // 2 == found.run.effective_micros
    assert found.amounts.loaded_micros == found.amounts.effective_micros
    for parts in (found.buckets, found.days, found.jobs):
        assert added(each.amounts for each in parts) == found.amounts
    for day in found.days:
        assert added(each.amounts for each in day.buckets) == day.amounts
    for job in found.jobs:
        assert added(each.amounts for each in job.buckets) == job.amounts
    assert [each.raw_id for each in found.jobs] == ["1", "2"]
    assert (found.currency, found.status, found.pending_days) == ("USD", "estimated", 0)


def test_what_waits_to_be_summed_anew_is_told() -> None:
    run_id = make_run()
    scene.settle(ends_at=scene.TEN + 2 * HOUR)
    run_scene.mark_day(scene.TEN)

    assert anatomy(run_id).pending_days == 1


def test_a_number_that_is_not_known_says_why() -> None:
    run_id = make_run()
    scene.settle(ends_at=scene.TEN + 2 * HOUR)

    numbers = {each.figure: each for each in anatomy(run_id).numbers}
    assert list(numbers) == list(RunFigure)
    assert numbers[RunFigure.FIRST_GOOD].doubt == "no checkpoint has passed"
    assert numbers[RunFigure.MFU].doubt == "the run did not tell its model's parameters"
    assert all(each.value is None for each in numbers.values())


def test_a_run_of_another_team_is_as_if_there_were_none() -> None:
    run_id = make_run()
    scene.settle(ends_at=scene.TEN + 2 * HOUR)
    others = member(make.make_team("Other"))
    own = member(anatomy(run_id).run.team_id or 0)

    assert run_costs(run_id, others) is None
    assert anatomy(run_id, own).amounts == anatomy(run_id).amounts
    assert [each.run.id for each in runs_compared([run_id, 0, run_id], own)] == [run_id]
    assert runs_compared([run_id], others) == ()


def test_a_job_of_another_team_costs_its_run_and_is_not_named() -> None:
    node_id = scene.make_priced_node()
    scene.make_rule("others", make.make_team("Other"))
    own_job = scene.make_job("1", node_id)
    other = scene.make_job("2", node_id, from_=scene.TEN + HOUR, to=scene.TEN + 2 * HOUR,
                           account="others")  # fmt: skip
    run_id = run_scene.make_run(
        "llama", (own_job, scene.TEN, scene.TEN + HOUR),
        (other, scene.TEN + HOUR, scene.TEN + 2 * HOUR),
    )  # fmt: skip
    scene.settle(ends_at=scene.TEN + 2 * HOUR)
    own = member(anatomy(run_id).run.team_id or 0)

    jobs = anatomy(run_id, own).jobs
    assert [(each.job_id, each.raw_id) for each in jobs] == [(own_job, "1"), (None, None)]
    assert [each.amounts.effective_micros for each in jobs] == [H100_MICROS, H100_MICROS]
