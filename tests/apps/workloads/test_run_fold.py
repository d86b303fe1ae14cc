"""Reports and jobs folded: every second of a run's jobs is in one bucket, whatever comes late."""

import itertools
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from apps.economics.minutes import unpacked
from apps.economics.run_time import Bucket
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.workloads.actions.folding_runs import fold_run
from apps.workloads.actions.report_shapes import RunReportIn
from apps.workloads.actions.run_changes import touch_runs
from apps.workloads.actions.run_reports import Reporter, record_reports
from apps.workloads.api.run_wire import read_report
from apps.workloads.models import RunHour, RunSpan, RunSummary
from apps.workloads.queries import run_fold_facts as facts
from apps.workloads.queries.run_facts import clock_hours, run_hours, run_summaries
from apps.workloads.queries.run_reports import (
    checkpoint_saves,
    good_checkpoints,
    history_of_runs,
    last_step_times,
)
from tests.apps.workloads.reported import (
    MINUTE_MS,
    fold,
    good,
    minutes,
    ms,
    report,
    run_id,
    score,
    spans,
    summary,
    window,
)
from tests.apps.workloads.told import NOW, days_marked, forget_marks, node, tell
from tests.economics.job_statements import at, on, said
from tests.make import make_organisation

pytestmark = pytest.mark.django_db


def take(*reports: dict[str, Any]) -> None:
    """As the door would, at the last moment that they tell of."""
    read = [read_report(msgspec.Raw(msgspec.json.encode(each)), at=NOW, row=0) for each in reports]
    good_ = [each for each in read if isinstance(each, RunReportIn)]
    assert len(good_) == len(read)
    moments = [each.ended_at or each.began_at for each in good_]
    moments += [window.ends_at for each in good_ for window in each.windows]
    record_reports(reports=good_, teller=Reporter(), at=max(moments))


def job(since: float, until: float | None, raw_id: str = "4711", **given: Any) -> None:
    """A job of eight GPUs, submitted at ten."""
    state = given.pop("state", "COMPLETED")
    told = [said("start", since, allocations=(on("gpu-01"),), **given)]
    told += [] if until is None else [said("end", until, state=state, **given)]
    tell(raw_id, *told)


def end_of(raw_id: str, until: float, state: str = "COMPLETED") -> None:
    """The job is over."""
    tell(raw_id, said("end", until, state=state))


def test_a_run_of_two_attempts_with_a_restart_between() -> None:
    node()
    job(10, 120)
    take(
        report(window(20, 40, 0, 20), window(40, 50, 20, 10), events=[good(40, 19)], began=15),
        report(
            *(
                window(
                    65, 85, 20, 20, productive_ms=15 * MINUTE_MS, phases_ms={"data": 5 * MINUTE_MS}
                ),
            ),
            began=60,
            ended=90,
            status="finished",
            events=[{"kind": "restored", "at_ms": ms(62), "step": 20}, good(85, 39, 1.5)],
        ),
    )
    fold()
    assert minutes() == {
        "CAPACITY_WAIT": 10,
        "STARTUP": 10,
        "PRODUCTIVE": 35,
        "LOST": 10,
        "RECOVERY": 15,
        "DATA_WAIT": 5,
        "UNTOLD": 5,
        "IDLE_AFTER_END": 30,
    }
    told = summary()
    assert (told.status, told.attempts, told.jobs, told.gpus) == ("finished", 2, 1, 8)
    assert (told.submitted_at, told.began_at, told.ended_at) == (at(0), at(10), at(90))
    assert (told.steps, told.tokens, told.redone_tokens) == (40, 4000, 1000)
    assert (told.good_checkpoints, told.first_good_at, told.last_good_step) == (2, at(40), 39)


def test_what_is_lost_is_known_when_it_is_done_again() -> None:
    node()
    job(0, None)
    take(report(window(0, 60, 0, 60), window(60, 100, 60, 40), began=0))
    fold(at(110))
    assert minutes() == {"PRODUCTIVE": 100, "UNTOLD": 10}
    take(report(window(122, 130, 50), began=120))
    fold(at(130))
    assert minutes() == {"PRODUCTIVE": 58, "LOST": 50, "RECOVERY": 22}
    assert (summary().tokens, summary().redone_tokens) == (6000, 5000)


def test_a_failed_run_fails_from_its_last_good_checkpoint_until_it_goes_on() -> None:
    node()
    job(0, 120, state="FAILED")
    told = window(0, 60, 0, 60), window(60, 100, 60, 40)
    take(report(*told, began=0, ended=100, status="failed", events=[good(30, 30)]))
    fold()
    assert minutes() == {"PRODUCTIVE": 30, "FAILED": 70, "IDLE_AFTER_END": 20}
    assert summary().status == "failed"
    job(140, None, "4712", submitted_at=at(125))
    named = {"scheduler": "slurm", "raw_id": "4712", "cluster": "atlas"}
    take(report(window(150, 160, 100), began=150, job=named))
    fold(at(160))
    assert minutes() == {
        "PRODUCTIVE": 110,
        "RECOVERY": 10,
        "CAPACITY_WAIT": 15,
        "IDLE_AFTER_END": 20,
    }
    assert (summary().status, summary().ended_at, summary().jobs) == ("", None, 2)


def test_a_run_without_a_good_checkpoint_failed_from_its_beginning() -> None:
    node()
    job(0, 60)
    take(report(window(0, 60), began=0, ended=60, status="failed"))
    fold()
    assert minutes() == {"FAILED": 60}


def test_two_runs_one_after_the_other_share_their_job_without_a_gap() -> None:
    node()
    job(0, 100)
    take(report(window(5, 40), began=5, ended=40, status="finished", run="first"))
    take(report(window(60, 90), began=50, ended=90, status="finished", run="second"))
    fold()
    assert spans("first") == [("4711", at(0), at(50))]
    assert spans("second") == [("4711", at(50), at(100))]
    assert minutes("first") == {"STARTUP": 5, "PRODUCTIVE": 35, "IDLE_AFTER_END": 10}
    assert minutes("second") == {"STARTUP": 10, "PRODUCTIVE": 30, "IDLE_AFTER_END": 10}


def test_two_runs_at_once_both_hold_their_job() -> None:
    node()
    job(0, 100)
    take(report(window(0, 90), began=0, ended=90, status="finished", run="one"))
    take(report(window(10, 90), began=10, ended=90, status="finished", run="two"))
    fold()
    assert spans("one") == [("4711", at(0), at(100))]
    assert spans("two") == [("4711", at(10), at(100))]


def test_a_job_that_names_its_run_has_spans_and_a_summary_without_a_report() -> None:
    node()
    job(10, 70, run="plain")
    fold()
    assert minutes("plain") == {"CAPACITY_WAIT": 10, "UNTOLD": 60}
    told = summary("plain")
    assert (told.status, told.jobs, told.attempts, told.gpus) == ("finished", 1, 0, 8)
    assert (told.began_at, told.ended_at) == (at(10), at(70))


def test_a_job_that_names_the_run_that_reports_carries_it_once() -> None:
    node()
    tell("4711", said("start", 0, allocations=(on("gpu-01"),)), said("update", 30, run="base-7b"))
    take(report(window(40, 60), began=35))
    fold(at(80))
    assert spans() == [("4711", at(0), at(30)), ("4711", at(30), None)]
    assert sum(minutes().values()) == 80
    end_of("4711", 70)
    fold()
    assert spans() == [("4711", at(0), at(30)), ("4711", at(30), at(70))]
    assert sum(minutes().values()) == 70


def test_a_job_that_names_another_run_takes_its_time_away() -> None:
    node()
    job(0, 60, run="old")
    fold()
    tell("4711", said("update", 20, run="new"))
    fold()
    assert (minutes("old"), minutes("new")) == ({"UNTOLD": 20}, {"UNTOLD": 40})


def test_other_ranks_say_nothing_of_where_time_went() -> None:
    node()
    job(0, 60)
    take(report(window(0, 60), began=0, attempt="zero"))
    slow = window(0, 60, productive_ms=0, phases_ms={"data": 60 * MINUTE_MS}, step_times_ms=[5.5])
    take(report(slow, began=0, attempt="one", rank=1, host="gpu-02"))
    fold()
    assert minutes() == {"PRODUCTIVE": 60}
    assert summary().tokens == 1000
    assert summary().attempts == 1
    (_, told) = last_step_times(run_id(), at(0), at(60), 3600)
    assert (told.rank, told.host, told.step_times_ms) == (1, "gpu-02", (5.5,))


def test_only_what_may_have_changed_is_folded_again() -> None:
    node()
    job(0, None)
    take(report(window(0, 30), window(70, 100, 10), began=0))
    fold(at(120))
    RunHour.objects.update(steps=77)
    take(report(window(180, 190, 20), began=0, sequence=1))
    fold(at(190))
    kept = dict(RunHour.objects.values_list("hour", "steps"))
    # What lies behind the last that was heard turned out to be the attempt's.
    assert kept == {at(0): 77, at(60): 10, at(120): 0, at(180): 10}


def test_nothing_new_is_not_folded_and_an_open_hour_is_folded_when_it_is_over() -> None:
    node()
    job(0, None)
    take(report(window(0, 20), began=0))
    fold(at(30))
    first = summary().folded_at
    fold(at(40))
    assert summary().folded_at == first
    fold(at(61))
    assert minutes() == {"PRODUCTIVE": 20, "UNTOLD": 41}


def test_a_report_that_commits_while_a_fold_runs_is_folded_by_the_next() -> None:
    node()
    job(0, None)
    take(report(window(0, 20), began=0))
    fold(at(30))
    # Its clock was read before the fold's was.
    touch_runs({run_id(): at(5)}, at(29))
    told = summary()
    assert told.folded_at is not None
    assert told.told_at > told.folded_at
    assert told.changed_from == at(5)
    assert fold_run(run_id=10**9, at=at(30)) is False


def test_an_hour_that_is_over_and_changed_has_its_day_divided_again() -> None:
    make_organisation(zone="Asia/Kolkata")
    node()
    job(0, None)
    take(report(window(0, 20), began=0))
    forget_marks()
    fold(at(30))
    assert days_marked() == []
    fold(at(61))
    # The local day began at 18:30 of the day before: its first whole hour is 19:00.
    assert [(pass_, hour) for pass_, _, hour in days_marked()] == [(Pass.DIVIDE, at(-15 * 60))]
    forget_marks()
    fold(at(119))
    assert days_marked() == []
    assert ChangedHour.objects.count() == 0


def test_the_ledger_is_told_which_runs_a_job_carried_in_each_hour() -> None:
    node()
    job(0, 90)
    take(report(window(0, 80), began=0, ended=80, status="finished"))
    (before,) = RunSummary.objects.all()
    fold()
    job_id = RunSpan.objects.get().job_id
    first, second = run_hours([job_id], at(0), at(120))
    assert (first.run_id, first.hour, first.spans) == (before.run_id, at(0), ((at(0), at(60)),))
    assert second.spans == ((at(60), at(90)),)
    in_minutes = [
        {Bucket(of): sum(minutes) // 4 for of, minutes in unpacked(each.minutes).items()}
        for each in (first, second)
    ]
    told = [
        {bucket: ms // 1000 for bucket, ms in zip(Bucket, each.bucket_ms, strict=True) if ms}
        for each in (first, second)
    ]
    assert in_minutes == told
    assert [sum(each.bucket_ms) for each in (first, second)] == [60 * MINUTE_MS, 30 * MINUTE_MS]
    RunHour.objects.all().delete()
    assert [sum(each.bucket_ms) for each in run_hours([job_id], at(0), at(60))] == [60 * MINUTE_MS]


def test_what_was_told_can_be_asked_for() -> None:
    node()
    job(0, 100)
    save = {"checkpoint_save": 4 * MINUTE_MS}
    take(
        report(
            window(0, 30, productive_ms=26 * MINUTE_MS, phases_ms=save),
            began=0,
            ended=40,
            status="interrupted",
            events=[good(30, 9, 2.0)],
        ),
        report(
            window(50, 80, 10), began=45, events=[{"kind": "restored", "at_ms": ms(46), "step": 10}]
        ),
    )
    fold()
    run = run_id()
    first, second = history_of_runs([run]).attempts
    assert (first.is_interrupted, first.gpus) == (True, 8)
    assert first.gpu_hours == pytest.approx(8 * 40 / 60)
    assert (second.is_over, second.ended_at, second.first_step) == (True, at(80), 10)
    assert [(each.at, each.step, each.metric) for each in good_checkpoints(run)] == [
        (at(30), 9, 2.0)
    ]
    assert [each.milliseconds for each in checkpoint_saves([run])[run]] == [4 * MINUTE_MS]
    assert run_summaries([run])[run].key == "base-7b"
    assert [each.job_id is None for each in clock_hours([run])] == [False, False]
    assert history_of_runs([10**9]).restored_at is None
    assert history_of_runs([run]).restored_at == at(46)


FRESH = itertools.count(1)


class Story:
    """A run that a job of its own carries, told piece by piece."""

    def __init__(self) -> None:
        self.name = f"run-{next(FRESH)}"
        self.now = self.step = self.sequence = 0
        self.began = 0
        node(f"node of {self.name}")

    def report(self, *windows: dict[str, Any], **given: Any) -> None:
        about = {"raw_id": self.name, "cluster": "atlas"}
        told: dict[str, Any] = {
            "run": self.name,
            "job": about,
            "began": self.began,
            "sequence": self.sequence,
        }
        take(report(*windows, **told | given))
        self.sequence += 1

    def train(self) -> None:
        self.report(window(self.now - 7, self.now, self.step))
        self.step += 10

    def restart(self) -> None:
        self.began, self.step = self.now, max(0, self.step - 15)
        self.report(window(self.now, self.now + 1, self.step, 1))

    def good(self) -> None:
        self.report(events=[good(self.now, self.step)])

    def learn(self) -> None:
        self.report(events=[score(self.now, 2.5, self.step)])

    def diverge(self) -> None:
        self.report(events=[score(self.now - 3, None, self.step)])

    def fail(self) -> None:
        self.report(ended=self.now, status="failed")

    def start(self) -> None:
        held_ = (on(f"node of {self.name}"),)
        tell(self.name, said("start", 3, submitted_at=at(-30), allocations=held_))

    def end(self) -> None:
        tell(self.name, said("end", self.now + 5, submitted_at=at(-30)))

    def fold(self) -> None:
        fold(at(self.now + 10))


ACTS = ("train", "restart", "good", "learn", "diverge", "fail", "start", "end", "fold")
acts = st.tuples(st.sampled_from(ACTS), st.integers(7, 70))


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=6
)
@given(st.lists(acts, min_size=4, max_size=8))
@example(
    [("end", 50), ("start", 7), ("fold", 7), ("fail", 7), ("fold", 7), ("train", 7)],
)
@example(
    [
        *(("start", 9), ("train", 9), ("diverge", 70), ("train", 40), ("fold", 7), ("restart", 30)),
        *(("train", 9), ("fold", 9), ("diverge", 60), ("fold", 7), ("learn", 40)),
    ],
)
def test_folded_piece_by_piece_or_at_once_it_comes_out_the_same(
    told: list[tuple[str, int]],
) -> None:
    story = Story()
    for act, passed in told:
        story.now += passed
        getattr(story, act)()
    end = at(story.now + 200)
    fold(end)
    hours = RunHour.objects.filter(run__key=story.name).order_by("job_key", "hour")
    piecewise = list(hours.values())
    RunSummary.objects.update(folded_at=None)
    fold(end)
    assert piecewise == list(hours.values())
    carrying = RunSpan.objects.filter(run__key=story.name).values_list("job_id", flat=True)
    for carried in run_hours(set(carrying), at(-600), end):
        lasted = sum((until - since for since, until in carried.spans), timedelta())
        assert sum(carried.bucket_ms) == lasted / timedelta(milliseconds=1)


def test_a_checkpoint_that_passed_late_saves_what_a_failed_run_had_done() -> None:
    story = Story()
    for act, passed in (("train", 7), ("fail", 39), ("fold", 7), ("good", 7), ("fold", 7)):
        story.now += passed
        getattr(story, act)()
    hours = RunHour.objects.filter(run__key=story.name)
    assert sum(each.bucket_ms[Bucket.FAILED] for each in hours) == 0
    assert sum(each.bucket_ms[Bucket.PRODUCTIVE] for each in hours) == 7 * MINUTE_MS


def test_time_that_turns_out_to_be_an_attempts_later_is_untold() -> None:
    story = Story()
    for act, passed in (("train", 7), ("fold", 70), ("train", 20), ("fold", 7)):
        story.now += passed
        getattr(story, act)()
    hours = RunHour.objects.filter(run__key=story.name)
    assert sum(each.bucket_ms[Bucket.UNTOLD] for each in hours) == 83 * MINUTE_MS


def test_a_run_that_cannot_be_folded_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    take(report(window(0, 20), began=0, run="broken"), report(window(0, 20), began=0, run="whole"))
    broken = run_id("broken")
    known = facts.attempts_of

    def attempts_of(asked: int) -> list[facts.FoldAttemptRow]:
        if asked == broken:
            raise ValueError("what is kept of it makes no sense")
        return known(asked)

    monkeypatch.setattr(facts, "attempts_of", attempts_of)
    fold()
    assert summary("broken").folded_at is None
    assert summary("whole").folded_at == NOW
    assert f"run_not_folded run={broken}" in caplog.text
