"""A run's name is its team's own: two teams that use one name have two runs, however it is told."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import msgspec
import pytest
from django.db import transaction

from apps.accounts.queries import Viewer
from apps.workloads.actions.report_shapes import RunReportIn
from apps.workloads.actions.run_names import NamedRun, open_runs
from apps.workloads.actions.run_reports import Reporter, record_reports
from apps.workloads.api.run_wire import read_report
from apps.workloads.models import Run
from apps.workloads.queries.listing import run_with_jobs
from apps.workloads.queries.run_names import run_of_name
from tests.apps.ledger.scene import make_rule
from tests.apps.workloads.reported import fold, report, window
from tests.apps.workloads.told import NOW, node, tell
from tests.economics.job_statements import loosely, on, said
from tests.make import make_organisation, make_team

pytestmark = pytest.mark.django_db
JOBS = {"vision": "4711", "speech": "4712"}
EVERYBODY = Viewer(None, "finance", "finance", True, frozenset(), True, True, True)


@pytest.fixture
def teams() -> dict[str, int]:
    """Two teams, whose jobs run under accounts of their names."""
    make_organisation()
    node()
    made = {name: make_team(name) for name in JOBS}
    for name, team_id in made.items():
        make_rule(name, team_id)
    return made


def job(team: str, **given: Any) -> None:
    tell(JOBS[team], said("start", 0, account=team, allocations=(on("gpu-01", 4),), **given))


def reported(team: str, steps: int, *, word_of: int | None = None) -> int:
    """A report of a process on the team's job; the run that it is of then."""
    told = report(
        window(10, 20, steps=steps),
        attempt=f"of-{team}",
        job={"scheduler": "slurm", "raw_id": JOBS[team], "cluster": "atlas"},
    )
    read = read_report(msgspec.Raw(msgspec.json.encode(told)), at=NOW, row=0)
    assert isinstance(read, RunReportIn)
    (taken,) = record_reports(reports=[read], teller=Reporter(word_of), at=NOW)
    return int(taken.run_id)


def runs() -> list[tuple[int | None, set[str], int]]:
    """Each run's team, the jobs that carried it, and its steps."""
    fold()
    found = Run.objects.select_related("summary").order_by("team_id")
    return [
        (
            run.team_id,
            set(run.spans.order_by("id").values_list("job__raw_id", flat=True)),
            run.summary.steps,
        )
        for run in found
    ]


def two_runs(teams: dict[str, int]) -> list[tuple[int | None, set[str], int]]:
    return [(teams["vision"], {"4711"}, 3), (teams["speech"], {"4712"}, 5)]


def test_two_teams_tokens_tell_of_two_runs(teams) -> None:
    for team in JOBS:
        job(team)
    reported("vision", 3, word_of=teams["vision"])
    reported("speech", 5, word_of=teams["speech"])
    assert runs() == two_runs(teams)


VISION, SPEECH = "job of vision", "job of speech"
TOLD: dict[str, Callable[[], object]] = {
    VISION: lambda: job("vision"),
    SPEECH: lambda: job("speech"),
    "report of vision": lambda: reported("vision", 3),
    "report of speech": lambda: reported("speech", 5),
}


# The two teams are alike: the other half of the orders are these. Every second one is enough.
ORDERS = [each for each in permutations(TOLD) if each.index(VISION) < each.index(SPEECH)][::2]


@pytest.mark.parametrize("order", ORDERS, ids=", ".join)
def test_what_nobody_in_particular_tells_is_of_the_run_of_its_jobs_team(teams, order) -> None:
    for each in order:
        TOLD[each]()
        fold()
    assert runs() == two_runs(teams)


@pytest.mark.parametrize("is_named_first", [True, False])
def test_jobs_that_name_a_run_carry_their_own_teams(teams, is_named_first) -> None:
    if is_named_first:
        job("vision", run="base-7b")
        job("speech", run="base-7b")
    reported("vision", 3)
    reported("speech", 5)
    if not is_named_first:
        job("vision", run="base-7b")
        job("speech", run="base-7b")
    assert runs() == two_runs(teams)


def test_a_job_whose_account_is_told_late_leaves_no_run_behind(teams) -> None:
    for team in JOBS:
        tell(JOBS[team], loosely("start", 0, run="base-7b", allocations=(on("gpu-01", 4),)))
        reported(team, 3 if team == "vision" else 5)
    assert [team_id for team_id, _, _ in runs()] == [None]
    for team in JOBS:
        tell(JOBS[team], loosely("update", 1, account=team))
    assert runs() == two_runs(teams)


def test_a_run_of_before_stays_the_same_run_with_all_that_it_has(teams) -> None:
    job("vision")
    old = reported("vision", 3)
    fold()
    # As it was kept while a name was the organisation's.
    Run.objects.update(team=None)
    tell("4713", said("start", 30, account="vision", run="base-7b", allocations=(on("gpu-01"),)))
    assert runs() == [(teams["vision"], {"4711", "4713"}, 3)]
    assert Run.objects.get().id == old


def test_a_run_of_a_team_is_carried_by_jobs_of_teams_below_it(teams) -> None:
    below = make_team("ocr", parent_id=teams["vision"])
    make_rule("ocr", below)
    mine = reported("vision", 3, word_of=teams["vision"])
    tell("4711", said("start", 0, account="ocr", run="base-7b", allocations=(on("gpu-01"),)))
    assert runs() == [(teams["vision"], {"4711"}, 3)]
    assert Run.objects.get().id == mine


def test_a_run_that_jobs_of_a_team_below_named_first_becomes_its_tellers(teams) -> None:
    below = make_team("ocr", parent_id=teams["vision"])
    make_rule("ocr", below)
    tell("4711", said("start", 0, account="ocr", run="base-7b", allocations=(on("gpu-01"),)))
    assert Run.objects.get().team_id == below
    reported("vision", 3, word_of=teams["vision"])
    assert runs() == [(teams["vision"], {"4711"}, 3)]


def test_a_run_that_a_team_below_told_of_stays_its_own(teams) -> None:
    below = make_team("ocr", parent_id=teams["vision"])

    def tell_of(team_id: int, attempt: str) -> int:
        told = report(window(10, 20), run="train-1", attempt=attempt, job={"raw_id": ""})
        read = read_report(msgspec.Raw(msgspec.json.encode(told)), at=NOW, row=0)
        assert isinstance(read, RunReportIn)
        (taken,) = record_reports(reports=[read], teller=Reporter(team_id), at=NOW)
        return int(taken.run_id)

    theirs = tell_of(below, "a")
    above = tell_of(teams["vision"], "b")
    assert above != theirs
    assert tell_of(below, "a after a restart") == theirs
    assert dict(Run.objects.values_list("id", "team")) == {theirs: below, above: teams["vision"]}


def test_a_name_without_a_team_is_nobodys_run_else_the_only_one(teams) -> None:
    def opened(*team_ids: int) -> int:
        with transaction.atomic():
            return open_runs([NamedRun("nightly", team_ids)], NOW).popitem()[1]

    mine = opened(teams["vision"])
    assert opened() == mine
    theirs = opened(teams["speech"])
    nobodys = opened()
    assert len({mine, theirs, nobodys}) == 3
    assert opened() == nobodys
    below = make_team("ocr", parent_id=teams["vision"])
    other = make_team("robots")
    for is_any_teams in (True, False):
        meant = {
            team_id: run_of_name("nightly", team_id, is_any_teams=is_any_teams)
            for team_id in (teams["speech"], below, other)
        }
        assert meant == {teams["speech"]: theirs, below: mine, other: nobodys}


def test_a_run_without_a_job_is_of_the_team_that_told_of_it(teams) -> None:
    told = run_with_jobs(reported("vision", 3, word_of=teams["vision"]), EVERYBODY)
    assert told is not None
    assert told["owner"].team_id == teams["vision"]
