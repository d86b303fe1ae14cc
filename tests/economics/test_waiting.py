"""How long things wait is told with those that still do."""

from datetime import timedelta

from apps.economics.waiting import Wait, WaitQuantile, wait_quantile


def minutes(*lengths: int, is_over: bool = True) -> list[Wait]:
    return [Wait(timedelta(minutes=each), is_over) for each in lengths]


def of(length: int, *, is_longer: bool = False) -> WaitQuantile:
    return WaitQuantile(timedelta(minutes=length), is_longer)


def test_where_all_have_had_their_turn_it_is_the_wait_of_so_many() -> None:
    waits = minutes(1, 2, 3, 4, 50, 6, 7, 8, 9, 10)
    assert wait_quantile(waits, 0.5) == of(6)
    assert wait_quantile(waits, 0.9) == of(10)
    assert wait_quantile(waits, 1.0) == of(50)


def test_what_still_waits_counts_as_waiting_so_far() -> None:
    """Of four one worked after 1 min, one after 9; two have waited for 5: Kaplan and Meier by hand."""
    waits = minutes(1, 9) + minutes(5, 5, is_over=False)
    assert wait_quantile(waits, 0.25) == of(1)
    assert wait_quantile(waits, 0.5) == of(9)


def test_a_quantile_that_nothing_has_reached_is_longer_than_the_longest() -> None:
    waits = minutes(1) + minutes(60, 60, 60, is_over=False)
    assert wait_quantile(waits, 0.5) == of(60, is_longer=True)
    assert wait_quantile([], 0.5) is None
