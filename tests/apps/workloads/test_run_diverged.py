"""What a run does after its loss went wrong is its own bucket, until it goes on from before that."""

from typing import Any

import pytest

from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.workloads.models import RunScore
from tests.apps.workloads.reported import fold, minutes, ms, report, score, summary, window
from tests.apps.workloads.test_run_fold import job, take
from tests.apps.workloads.told import days_marked, forget_marks, node
from tests.economics.job_statements import at
from tests.make import make_organisation

pytestmark = pytest.mark.django_db


def train(*losses: dict[str, Any], **given: Any) -> None:
    """A run of three hours, of ten steps each, on a job of its own."""
    make_organisation()
    node()
    job(0, 180)
    windows = [window(60 * hour, 60 * hour + 60, 10 * hour) for hour in range(3)]
    take(report(*windows, events=list(losses), began=0, ended=180, status="finished", **given))


def test_from_the_first_report_that_is_no_number_to_the_end_it_is_diverged() -> None:
    train(score(10, 3.0, 1), score(50, 2.5, 8), score(75, None, 12), score(100, None, 16))
    fold()
    assert minutes() == {"PRODUCTIVE": 75, "DIVERGED": 105}
    (span,) = summary().diverged
    assert (span.lower, span.upper) == (at(75), None)


def test_a_run_that_reports_no_loss_is_not_called_wrong() -> None:
    train({**score(70, None, 11), "name": "accuracy", "higher_is_better": True})
    fold()
    assert (minutes(), summary().diverged) == ({"PRODUCTIVE": 180}, [])


def test_one_report_that_is_no_number_between_others_that_are_is_nothing() -> None:
    train(score(10, 3.0, 1), score(75, None, 12), score(76, 2.4, 12))
    fold()
    assert minutes() == {"PRODUCTIVE": 180}


def test_in_three_hours_no_better_than_at_first_it_has_lost_what_it_learned() -> None:
    make_organisation()
    node()
    job(0, 300)
    # Of each hour the last counts: the first of all is 2.0, and the third hour is the first wrong one.
    told = ((5, 9.0), (55, 2.0), (115, 1.5), (130, 7.0), (175, 2.1), (235, 2.0), (295, 9.0))
    take(
        report(
            *(window(60 * hour, 60 * hour + 60, 10 * hour) for hour in range(5)),
            events=[score(minute, value, minute // 6) for minute, value in told],
            began=0,
        )
    )
    fold()
    assert minutes() == {"PRODUCTIVE": 175, "DIVERGED": 125}


def test_it_is_wrong_until_it_goes_on_from_before_that() -> None:
    make_organisation()
    node()
    job(0, 180)
    take(
        report(window(0, 60), window(60, 100, 10, 10), events=[score(70, None, 12)], began=0),
        report(window(110, 170, 12, 10, phases_ms={}), began=110, ended=180, status="finished"),
    )
    fold()
    # Of the second window steps 10 and 11 stood; the rest was lost, and from minute 70 on wrong.
    expected = {"PRODUCTIVE": 128, "LOST": 2, "DIVERGED": 30, "RECOVERY": 10, "UNTOLD": 10}
    assert minutes() == expected
    (span,) = summary().diverged
    assert (span.lower, span.upper) == (at(70), at(110))


def test_before_and_after_it_goes_back_are_told_apart_within_an_hour() -> None:
    make_organisation()
    node()
    job(0, 60)
    back = {"kind": "restored", "at_ms": ms(30), "step": 4}
    losses = [score(10, 2.0, 3), score(20, None, 5), score(25, None, 6)]
    again = [score(40, 1.9, 6), score(45, None, 7), score(50, None, 8)]
    windows = [window(0, 30), window(30, 60, 4)]
    take(report(*windows, events=[*losses, back, *again], began=0, ended=60, status="finished"))
    fold()
    assert [(span.lower, span.upper) for span in summary().diverged] == [
        (at(20), at(30)),
        (at(45), None),
    ]
    # Of the first window four steps of ten stood, and come first in it.
    assert minutes() == {"PRODUCTIVE": 12 + 15, "LOST": 8, "DIVERGED": 10 + 15}


def test_the_first_wrong_report_after_going_back_counts_hours_later_too() -> None:
    make_organisation()
    node()
    job(0, 180)
    back = {"kind": "restored", "at_ms": ms(30), "step": 2}
    losses = [score(10, 2.0, 1), score(20, None, 5), score(130, None, 7), score(150, None, 9)]
    take(report(window(0, 30), window(30, 180, 2), events=[back, *losses], began=0))
    fold()
    assert [(span.lower, span.upper) for span in summary().diverged] == [
        (at(20), at(30)),
        (at(130), None),
    ]


def test_a_late_report_turns_hours_that_were_folded_and_has_their_days_divided_again() -> None:
    train(score(10, 3.0, 1))
    fold()
    assert minutes() == {"PRODUCTIVE": 180}
    forget_marks()
    late = report(began=0, sequence=1, events=[score(75, None, 12)])
    take(late)
    fold()
    assert minutes() == {"PRODUCTIVE": 75, "DIVERGED": 105}
    assert {pass_ for pass_, _, _ in days_marked()} == {Pass.DIVIDE}
    forget_marks()
    # The same again changes nothing, and nothing waits.
    take(late)
    fold()
    assert (days_marked(), ChangedHour.objects.count()) == ([], 0)
    # It was a spike after all.
    take(report(began=0, sequence=2, events=[score(170, 2.0, 28)]))
    fold()
    assert (minutes(), summary().diverged) == ({"PRODUCTIVE": 180}, [])
    assert {pass_ for pass_, _, _ in days_marked()} == {Pass.DIVIDE}


def test_of_a_loss_that_is_told_every_step_the_first_wrong_one_counts() -> None:
    train(*(score(m, 3.0 - m / 100 if m < 96 else None, m // 6) for m in range(1, 180)))
    fold()
    assert minutes() == {"PRODUCTIVE": 96, "DIVERGED": 84}


def test_a_score_counts_once_however_often_it_is_sent() -> None:
    train(score(75, None, 12))
    take(report(began=0, events=[score(75, None, 12)], ended=180, status="finished"))
    assert RunScore.objects.count() == 1
