"""Which runs went silently wrong, and since when."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.run_divergence import (
    ReportedLoss,
    StepBack,
    WrongSpan,
    diverged_spans,
)

NAN = float("nan")


def hour(number: int) -> datetime:
    return datetime(2026, 7, 20, tzinfo=UTC) + timedelta(hours=number)


def losses(*values: float | None) -> list[ReportedLoss]:
    return [ReportedLoss(hour(place), value) for place, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "since"),
    [
        ((3.0, 2.5, 2.1, 1.9), None),
        # No number from the fourth report on, however often it is reported.
        ((3.0, 2.5, 2.1, None, None), 3),
        ((3.0, 2.5, NAN), 2),
        # It came back.
        ((3.0, NAN, 2.5, 2.4), None),
        # All that was learned is lost, three times in a row.
        ((3.0, 2.0, 3.4, 5.0, 9.0), 2),
        ((3.0, 2.0, 9.0, 9.0, 2.1), None),
        ((3.0, 2.0, 9.0, 9.0), None),
        # A measure that goes below zero, as of a policy, has no tenth.
        ((0.5, -0.5, 0.6, 0.7, 0.8), None),
        # It never learned: nothing is lost.
        ((3.0, 2.9, 3.1, 3.1, 3.2), None),
        ((None, None), 0),
        # Worse, then no number at all: since it was worse.
        ((3.0, 2.0, 8.0, None), 2),
        ((), None),
    ],
)
def test_since_when_a_run_is_wrong(values: tuple[float | None, ...], since: int | None) -> None:
    expected = [] if since is None else [(hour(since), None)]
    assert diverged_spans({"loss": losses(*values)}, []) == expected


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=40).map(lambda each: sorted(each)[::-1]))
def test_a_loss_that_only_falls_is_never_wrong(values: list[float]) -> None:
    assert diverged_spans({"loss": losses(*values)}, []) == []


def spans_of(
    reports: list[ReportedLoss], *backs: tuple[float, int], name: str = "loss"
) -> list[tuple[float, float | None]]:
    """In hours; each going back at an hour to a step."""
    began = hour(0)

    def hours(moment: datetime | None) -> float | None:
        return None if moment is None else (moment - began) / timedelta(hours=1)

    found = diverged_spans(
        {name: reports}, [StepBack(began + timedelta(hours=at), step) for at, step in backs]
    )
    return [(hours(since) or 0.0, hours(until)) for since, until in found]


def stepped(*values: float | None) -> list[ReportedLoss]:
    """One each hour, of a hundred steps each."""
    return [ReportedLoss(hour(place), value, 100 * place) for place, value in enumerate(values)]


def test_a_run_is_wrong_until_it_goes_on_from_before_that() -> None:
    # Wrong from step 200 on; at half past four it goes on from step 150, and learns.
    reports = stepped(3.0, 2.5, None, None, None)
    assert spans_of(reports) == [(2, None)]
    assert spans_of(reports, (4.5, 150)) == [(2, 4.5)]
    again = [ReportedLoss(hour(5), 2.6, 180), ReportedLoss(hour(6), 2.2, 280)]
    assert spans_of(reports + again, (4.5, 150)) == [(2, 4.5)]


def test_going_on_from_a_step_that_was_wrong_already_mends_nothing() -> None:
    reports = stepped(3.0, 2.5, None, None, None)
    assert spans_of(reports, (4.5, 300)) == [(2, None)]
    assert spans_of(reports, (4.5, 300), (5.5, 200)) == [(2, 5.5)]


def test_of_a_report_without_a_step_any_going_back_is_to_before_it() -> None:
    assert spans_of(losses(3.0, 2.5, None), (4, 10**9)) == [(2, 4)]


def test_a_run_may_go_wrong_again_and_is_wrong_by_whichever_loss_is() -> None:
    reports = [*stepped(3.0, None), ReportedLoss(hour(5), None, 90)]
    assert spans_of(reports, (3, 50)) == [(1, 3), (5, None)]
    two = diverged_spans({"loss": stepped(3.0, 2.5), "eval_loss": stepped(3.0, None)}, [])
    assert two == [(hour(1), None)]


def test_a_run_that_reports_no_loss_is_not_called_wrong() -> None:
    assert diverged_spans({}, [StepBack(hour(1), 3)]) == []


values = st.none() | st.just(NAN) | st.floats(-10, 100)
reported = st.builds(
    ReportedLoss, st.integers(0, 30).map(hour), values, st.none() | st.integers(0, 50)
)


@given(
    st.dictionaries(st.sampled_from(["loss", "eval_loss"]), st.lists(reported, max_size=12)),
    st.lists(st.builds(StepBack, st.integers(0, 30).map(hour), st.integers(0, 50)), max_size=3),
    st.randoms(use_true_random=False),
)
def test_any_order_and_repetition_of_reports_ends_the_same(
    told: dict[str, list[ReportedLoss]], backs: list[StepBack], shuffling: random.Random
) -> None:
    found: list[WrongSpan] = diverged_spans(told, backs)
    again = {name: reports + reports[: len(reports) // 2] for name, reports in told.items()}
    for reports in again.values():
        shuffling.shuffle(reports)
    twice = backs + backs
    shuffling.shuffle(twice)
    assert diverged_spans(again, twice) == found
    assert all(until is None or since < until for since, until in found)
    # Only a report begins it.
    assert {since for since, _ in found} <= {each.at for of in told.values() for each in of}
