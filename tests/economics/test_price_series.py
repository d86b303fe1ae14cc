"""A price told at moments: spans that follow each other, whatever the order of telling."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.price_series import PriceSpan, changed_spans, spans_of

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
told = st.dictionaries(st.integers(0, 9), st.sampled_from([None, 5, 6, 7]), max_size=8)


def moment(hours: int) -> datetime:
    return NOON + timedelta(hours=hours)


def at_moments(prices: dict[int, int | None]) -> dict[datetime, int | None]:
    return {moment(hours): price for hours, price in prices.items()}


def held(prices: dict[datetime, int | None], at: datetime) -> int | None:
    before = [said for said in prices if said <= at]
    return prices[max(before)] if before else None


def test_a_price_holds_until_another_or_none_is_told_and_repeats_are_remembered() -> None:
    assert spans_of(at_moments({3: 6, 0: 5, 1: 5, 4: None, 6: 6})) == [
        PriceSpan(moment(0), moment(3), 5, (moment(1),)),
        PriceSpan(moment(3), moment(4), 6),
        PriceSpan(moment(6), None, 6),
    ]


def test_nothing_told_is_no_price_and_an_end_before_any_price_ends_nothing() -> None:
    assert spans_of({}) == []
    assert spans_of(at_moments({0: None})) == []


@given(told)
def test_spans_say_at_every_moment_what_was_told_last(prices: dict[int, int | None]) -> None:
    spans = spans_of(at_moments(prices))
    for hour in range(11):
        at = moment(hour)
        holding = [
            span.price
            for span in spans
            if span.starts_at <= at and (span.ends_at is None or at < span.ends_at)
        ]
        assert holding == [price for price in [held(at_moments(prices), at)] if price is not None]


@given(told, told)
def test_changed_spans_are_where_two_tellings_differ(
    before: dict[int, int | None], after: dict[int, int | None]
) -> None:
    changed = changed_spans(at_moments(before), at_moments(after))
    for hour in range(11):
        at = moment(hour)
        differs = held(at_moments(before), at) != held(at_moments(after), at)
        lies_in = [1 for start, end in changed if start <= at and (end is None or at < end)]
        assert len(lies_in) == differs
    assert all(one[1] != two[0] for one, two in pairwise(changed))
