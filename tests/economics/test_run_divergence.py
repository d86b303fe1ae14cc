"""Which runs went silently wrong, and since when."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.run_divergence import ReportedLoss, diverged_at

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
        # It never learned: nothing is lost.
        ((3.0, 2.9, 3.1, 3.1, 3.2), None),
        ((None, None), 0),
        # Worse, then no number at all: since it was worse.
        ((3.0, 2.0, 8.0, None), 2),
        ((), None),
    ],
)
def test_since_when_a_run_is_wrong(values: tuple[float | None, ...], since: int | None) -> None:
    assert diverged_at(losses(*values)) == (None if since is None else hour(since))


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=40).map(lambda each: sorted(each)[::-1]))
def test_a_loss_that_only_falls_is_never_wrong(values: list[float]) -> None:
    assert diverged_at(losses(*values)) is None


def test_the_order_of_reports_is_moot() -> None:
    assert diverged_at(losses(3.0, 2.5, 2.1, None)[::-1]) == hour(3)
