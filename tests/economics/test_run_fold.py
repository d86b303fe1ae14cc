"""A run folded by the hour: every second of its jobs in one bucket, every token counted once."""

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.hours import HOUR_MS
from apps.economics.run_fold import (
    NO_JOB,
    CarrierSpan,
    ReportedAttempt,
    ReportedRun,
    ReportedWindow,
    Rewind,
    folded,
)
from apps.economics.run_time import Bucket

MINUTE = 60_000
JOB = 7


def window(
    start: int, end: int, first: int = 0, steps: int = 10, **given: object
) -> ReportedWindow:
    """Minutes; its steps take all of it unless something else is said."""
    told = {"tokens": 100 * steps, "productive_ms": (end - start) * MINUTE} | given
    last = first + steps - 1 if steps else None
    return ReportedWindow(start * MINUTE, end * MINUTE, steps, first, last, **told)  # type: ignore[arg-type]


def attempt(
    start: int,
    end: int,
    *windows: ReportedWindow,
    id: int = 1,
    job: int = JOB,
    is_ended: bool = True,
) -> ReportedAttempt:
    """Minutes."""
    first = windows[0].start_ms if windows else None
    return ReportedAttempt(id, job, start * MINUTE, end * MINUTE, is_ended, first, windows)


def held(start: int, end: int, job: int = JOB) -> CarrierSpan:
    """Minutes."""
    return CarrierSpan(job, start * MINUTE, end * MINUTE)


def minutes(run: ReportedRun, job: int = JOB) -> Mapping[str, float]:
    """Where all hours of a job went."""
    spent: dict[str, float] = {}
    for (of, _), sums in folded(run, 0).items():
        for bucket in Bucket:
            if of == job and sums.bucket_ms[bucket]:
                spent[bucket.name] = spent.get(bucket.name, 0) + sums.bucket_ms[bucket] / MINUTE
    return spent


def test_a_jobs_time_is_its_start_its_work_and_what_it_held_for_nothing() -> None:
    run = ReportedRun([attempt(10, 50, window(15, 40))], [held(5, 60)])
    assert minutes(run) == {"STARTUP": 10, "PRODUCTIVE": 25, "UNTOLD": 10, "IDLE_AFTER_END": 10}


def test_phases_are_taken_for_what_they_are_and_unknown_ones_for_untold() -> None:
    phases = {
        "startup": 1,
        "data": 2,
        "communication": 3,
        "checkpoint_save": 4,
        "checkpoint_restore": 5,
        "evaluation": 6,
        "recovery": 7,
        "capacity_wait": 8,
        "coffee": 9,
    }
    told = window(
        0, 60, productive_ms=15 * MINUTE, phases={k: v * MINUTE for k, v in phases.items()}
    )
    run = ReportedRun([attempt(0, 60, told)], [held(0, 60)])
    assert minutes(run) == {
        "STARTUP": 1,
        "DATA_WAIT": 2,
        "COMMUNICATION": 3,
        "CHECKPOINT": 9,
        "PRODUCTIVE": 21,
        "RECOVERY": 7,
        "CAPACITY_WAIT": 8,
        "UNTOLD": 9,
    }


def test_more_told_than_a_window_is_long_is_cut_in_proportion() -> None:
    told = window(0, 10, productive_ms=30 * MINUTE, phases={"data": 10 * MINUTE})
    run = ReportedRun([attempt(0, 10, told)], [held(0, 10)])
    assert minutes(run) == {"PRODUCTIVE": 7.5, "DATA_WAIT": 2.5}


def test_steps_that_were_done_again_were_lost_and_count_once() -> None:
    first = attempt(0, 20, window(0, 10, 0), window(10, 20, 10), id=1)
    second = attempt(30, 50, window(35, 50, 14, phases={"startup": 0}), id=2)
    run = ReportedRun([first, second], [held(0, 60)], [Rewind(30 * MINUTE, 14, 2)])
    assert minutes(run) == {"PRODUCTIVE": 29, "LOST": 6, "RECOVERY": 15, "IDLE_AFTER_END": 10}
    (sums,) = folded(run, 0).values()
    assert (sums.tokens, sums.redone_tokens, sums.steps) == (2400, 600, 24)
    assert sums.step_ms == 35 * MINUTE


def test_an_attempt_that_goes_back_by_itself_loses_its_own_steps() -> None:
    only = attempt(0, 20, window(0, 10, 0), window(10, 20, 0))
    run = ReportedRun([only], [held(0, 20)], [Rewind(10 * MINUTE, 0, 1)])
    assert minutes(run) == {"PRODUCTIVE": 10, "LOST": 10}


def test_two_attempts_at_once_undo_nothing_of_each_other() -> None:
    one = attempt(0, 20, window(0, 20, 50), id=1, job=1)
    other = attempt(10, 30, window(10, 30, 0), id=2, job=2)
    run = ReportedRun([one, other], [held(0, 20, 1), held(10, 30, 2)], [Rewind(10 * MINUTE, 0, 2)])
    assert minutes(run, 1) == {"PRODUCTIVE": 20}
    assert minutes(run, 2) == {"PRODUCTIVE": 20}


def test_a_failed_run_did_nothing_since_its_last_good_checkpoint() -> None:
    told = (
        window(0, 30),
        window(30, 60, 10, productive_ms=20 * MINUTE, phases={"data": 10 * MINUTE}),
    )
    run = ReportedRun([attempt(0, 60, *told)], [held(0, 60)], failed_after_ms=20 * MINUTE)
    assert minutes(run) == {"PRODUCTIVE": 20, "FAILED": 30, "DATA_WAIT": 10}
    before = ReportedRun(run.attempts, run.held, failed_after_ms=90 * MINUTE)
    assert minutes(before) == {"PRODUCTIVE": 50, "DATA_WAIT": 10}


def test_what_a_run_did_while_its_loss_was_wrong_was_in_vain() -> None:
    told = (
        window(0, 30),
        window(
            30,
            60,
            10,
            productive_ms=14 * MINUTE,
            phases={"data": 10 * MINUTE, "checkpoint_save": 2 * MINUTE, "odd": 4 * MINUTE},
        ),
    )
    run = ReportedRun(
        [attempt(0, 60, *told)], [held(0, 90)], diverged=[(20 * MINUTE, 600 * MINUTE)]
    )
    # What is not reported stays that, and what is held after the end too.
    assert minutes(run) == {"PRODUCTIVE": 20, "DIVERGED": 36, "UNTOLD": 4, "IDLE_AFTER_END": 30}


def test_a_run_that_went_back_to_before_it_was_wrong_has_that_time_as_diverged() -> None:
    first = attempt(0, 20, window(0, 10, 0), window(10, 20, 10), id=1)
    second = attempt(30, 50, window(35, 50, 5, phases={"startup": 0}), id=2)
    run = ReportedRun(
        [first, second],
        [held(0, 60)],
        [Rewind(30 * MINUTE, 5, 2)],
        diverged=[(10 * MINUTE, 30 * MINUTE)],
    )
    assert minutes(run) == {
        "PRODUCTIVE": 20,
        "LOST": 5,
        "DIVERGED": 10,
        "RECOVERY": 15,
        "IDLE_AFTER_END": 10,
    }


def test_a_wrong_run_that_then_failed_was_wrong_first() -> None:
    run = ReportedRun(
        [attempt(0, 60, window(0, 60))],
        [held(0, 60)],
        failed_after_ms=10 * MINUTE,
        diverged=[(30 * MINUTE, 50 * MINUTE)],
    )
    assert minutes(run) == {"PRODUCTIVE": 10, "FAILED": 30, "DIVERGED": 20}


def test_an_attempt_that_fell_silent_leaves_the_rest_untold() -> None:
    run = ReportedRun([attempt(0, 20, window(0, 20), is_ended=False)], [held(0, 60)])
    assert minutes(run) == {"PRODUCTIVE": 20, "UNTOLD": 40}


def test_a_job_without_words_of_its_own_did_what_the_run_did() -> None:
    run = ReportedRun([attempt(0, 30, window(0, 30), job=1)], [held(0, 30, 1), held(10, 40, 2)])
    assert minutes(run, 2) == {"PRODUCTIVE": 20, "IDLE_AFTER_END": 10}
    assert sum(sums.tokens for sums in folded(run, 0).values()) == 1000


def test_a_job_of_a_run_that_tells_nothing_is_untold() -> None:
    assert minutes(ReportedRun([], [held(0, 90)])) == {"UNTOLD": 90}


def test_the_queue_is_waited_in_only_while_no_job_carries_the_run() -> None:
    waits = [(0, 30 * MINUTE), (50 * MINUTE, 100 * MINUTE)]
    run = ReportedRun([], [held(30, 60), held(100, 110, 8)], waits=waits)
    assert minutes(run, NO_JOB) == {"CAPACITY_WAIT": 70}
    inside = ReportedRun([], [held(10, 20)], waits=[(0, 30 * MINUTE)])
    assert minutes(inside, NO_JOB) == {"CAPACITY_WAIT": 20}


def test_what_is_told_with_no_job_known_is_kept_all_the_same() -> None:
    run = ReportedRun([attempt(0, 20, window(5, 20), job=NO_JOB)], [])
    assert minutes(run, NO_JOB) == {"STARTUP": 5, "PRODUCTIVE": 15}


def test_an_attempt_of_no_length_takes_no_time() -> None:
    assert folded(ReportedRun([attempt(5, 5, job=NO_JOB)], []), 0) == {}


def test_hours_before_the_asked_one_are_left_alone() -> None:
    run = ReportedRun([attempt(0, 180, window(0, 90), window(90, 180, 10))], [held(0, 180)])
    whole = folded(run, 0)
    assert folded(run, 2 * HOUR_MS) == {key: whole[key] for key in whole if key[1] >= 2 * HOUR_MS}


moments = st.integers(0, 400)
spans = st.tuples(moments, moments).map(lambda span: (min(span), max(span) + 1))
phases = st.dictionaries(st.sampled_from(["data", "communication", "recovery", "odd"]), moments)
windows = st.builds(
    lambda span, first, steps, told, spent: ReportedWindow(
        span[0] * MINUTE,
        span[1] * MINUTE,
        steps,
        first if steps else None,
        first + steps - 1 if steps else None,
        tokens=steps * 3,
        productive_ms=spent * MINUTE,
        phases={name: each * MINUTE for name, each in told.items()},
    ),
    spans,
    st.integers(0, 30),
    st.integers(0, 30),
    phases,
    moments,
)


@st.composite
def runs(draw: st.DrawFn) -> ReportedRun:
    """Attempts that overlap, windows outside of them, jobs that come and go."""
    attempts = []
    for place, span in enumerate(sorted(draw(st.lists(spans, max_size=4)))):
        told = draw(st.lists(windows, max_size=4))
        job = draw(st.integers(0, 3))
        attempts.append(attempt(*span, *told, id=place, job=job, is_ended=draw(st.booleans())))
    jobs = [held(*span, job=job) for job, span in enumerate(draw(st.lists(spans, max_size=3)), 1)]
    rewinds = draw(
        st.lists(st.builds(Rewind, moments.map(lambda m: m * MINUTE), moments, st.integers(0, 3)))
    )
    waits = [(a * MINUTE, b * MINUTE) for a, b in draw(st.lists(spans, max_size=2))]
    failed = draw(st.none() | moments.map(lambda m: m * MINUTE))
    wrong = [(a * MINUTE, b * MINUTE) for a, b in draw(st.lists(spans, max_size=2))]
    return ReportedRun(attempts, jobs, rewinds, waits, failed, wrong)


@given(runs())
def test_every_second_of_a_job_is_in_one_bucket_and_every_token_counts_once(
    run: ReportedRun,
) -> None:
    found = folded(run, 0)
    for job in run.held:
        of_job = {hour: sums for (of, hour), sums in found.items() if of == job.job}
        for hour, sums in of_job.items():
            inside = min(job.end_ms, hour + HOUR_MS) - max(job.start_ms, hour)
            assert sum(sums.bucket_ms) == max(0, inside)
        assert sum(sum(each.bucket_ms) for each in of_job.values()) == job.end_ms - job.start_ms
    told = sum(each.tokens for attempt in run.attempts for each in attempt.windows)
    assert sum(sums.tokens + sums.redone_tokens for sums in found.values()) == told
    assert all(spent >= 0 for sums in found.values() for spent in sums.bucket_ms)


@given(runs())
def test_being_wrong_only_gives_another_name_to_time_in_which_something_was_done(
    run: ReportedRun,
) -> None:
    right, wrong = folded(replace(run, diverged=()), 0), folded(run, 0)
    assert right.keys() == wrong.keys()
    nothing_done = (Bucket.CAPACITY_WAIT, Bucket.IDLE_AFTER_END, Bucket.UNTOLD)
    for key, sums in wrong.items():
        of_right = right[key].bucket_ms
        assert sum(sums.bucket_ms) == sum(of_right)
        assert all(sums.bucket_ms[b] <= of_right[b] for b in Bucket if b is not Bucket.DIVERGED)
        assert all(sums.bucket_ms[b] == of_right[b] for b in nothing_done)
