"""What came of promises takes later ones of their kind down, little where there are few."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.kept_promises import (
    LEAST_FACTOR,
    NEWEST,
    NO_RECORD,
    PromiseCase,
    promise_record,
    taken_down,
)
from apps.economics.moves.saving import SavingRange

cases = st.builds(
    PromiseCase, st.floats(-1e3, 1e9), st.floats(-1e9, 1e9), is_verified=st.booleans()
)


def test_the_worked_example() -> None:
    """Five that promised 100 and came to 62 each: (5 × 0.62 + 3) ÷ 8."""
    record = promise_record([PromiseCase(100, 62, is_verified=True)] * 5)
    assert (record.cases, record.verified) == (5, 5)
    assert record.ratio == pytest.approx(0.62)
    assert record.factor == pytest.approx(0.7625)
    assert record.says == "the last 5 of this kind came to 62% of what was promised"
    assert taken_down(SavingRange(-8, 100, 200), record.factor) == SavingRange(-8, 76, 152)


def test_large_promises_count_as_what_they_are() -> None:
    """By hand: 100 + 1,000 + 400 promised, 150 + 500 − 50 came of it: 600 ÷ 1,500 = 0.4; (3 × 0.4 + 3) ÷ 6 = 0.7."""
    record = promise_record(
        [
            PromiseCase(100, 150, is_verified=True),
            PromiseCase(1_000, 500, is_verified=True),
            PromiseCase(0, 90, is_verified=True),
            PromiseCase(400, -50, is_verified=False),
        ]
    )
    assert (record.cases, record.verified) == (3, 2)
    assert (record.promised_micros, record.realised_micros) == (1_500, 600)
    assert record.ratio == pytest.approx(0.4)
    assert record.factor == pytest.approx(0.7)
    assert taken_down(SavingRange(10, 20, 30), record.factor) == SavingRange(7, 14, 21)


def test_without_a_case_nothing_is_taken_down() -> None:
    assert (NO_RECORD.ratio, NO_RECORD.factor, NO_RECORD.says) == (None, 1.0, "")
    assert promise_record([PromiseCase(0, 5, is_verified=True)]) == NO_RECORD


def test_few_cases_move_little_and_old_ones_nothing() -> None:
    failed = [PromiseCase(100, 0, is_verified=False)]
    assert promise_record(failed).factor == pytest.approx(0.75)
    assert promise_record(failed).says.startswith("the last of this kind came to 0%")
    assert promise_record(failed * NEWEST).factor == pytest.approx(3 / 13)
    kept = [PromiseCase(100, 100, is_verified=True)] * NEWEST
    assert promise_record([*kept, *failed * 5]).factor == 1.0


@given(st.lists(cases, max_size=20))
def test_no_promise_is_raised_nor_turned(found: list[PromiseCase]) -> None:
    record = promise_record(found)
    assert LEAST_FACTOR <= record.factor <= 1
    assert record.cases <= NEWEST
    saving = taken_down(SavingRange(1_000, 2_000, 3_000), record.factor)
    assert 0 < saving.low <= saving.likely <= saving.high <= 3_000
