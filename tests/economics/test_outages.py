"""What outages took of GPU time, and what waited for them: by hand, and as properties."""

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.outages import GpuSpan, lost_while_held, waited_for_outages

SPANS = st.builds(
    lambda gpus, start, length: GpuSpan(gpus, start, start + length),
    st.sampled_from([0.25, 1.0, 3.0, 8.0]),
    st.integers(0, 100_000),
    st.integers(0, 50_000),
)


def test_as_much_of_a_wait_is_for_an_outage_as_was_out() -> None:
    out = [GpuSpan(8, 100, 200)]
    assert waited_for_outages([GpuSpan(4, 0, 300)], out) == [400], "all four of these 100 ms"
    assert waited_for_outages([GpuSpan(16, 0, 150)], out) == [400], "eight of sixteen for 50 ms"
    assert waited_for_outages([GpuSpan(8, 0, 300), GpuSpan(8, 150, 300)], out) == [600, 200]
    assert waited_for_outages([GpuSpan(8, 200, 300), GpuSpan(8, 0, 100)], out) == [0, 0]
    two = [GpuSpan(1, 0, 100), GpuSpan(1, 50, 100)]
    assert waited_for_outages([GpuSpan(4, 0, 100)], two) == [150], "one, then two of four"
    assert waited_for_outages([GpuSpan(4, 0, 100)], []) == [0]
    assert waited_for_outages([], out) == []


@given(st.lists(SPANS, max_size=6), st.lists(SPANS, max_size=4))
def test_no_wait_is_more_for_outages_than_it_was_and_no_more_than_was_out(
    waits: list[GpuSpan], out: list[GpuSpan]
) -> None:
    taken = waited_for_outages(waits, out)
    assert all(0 <= found <= wait.milliseconds for found, wait in zip(taken, waits, strict=True))
    assert sum(taken) <= sum(each.milliseconds for each in out) + len(waits)


def test_an_outage_takes_of_held_time_what_was_not_active() -> None:
    assert lost_while_held(800, 800, [100]) == [0], "nobody held what was out"
    assert lost_while_held(800, 0, [600, 200]) == [600, 200], "all that was out was idle"
    assert lost_while_held(400, 0, [600, 200]) == [300, 100], "half the hour, or half the GPUs"
    assert lost_while_held(800, 0, [100]) == [100], "the rest was active, so was not out for it"
    assert lost_while_held(800, 300, [600, 200]) == [375, 125]
    assert lost_while_held(0, 10, [600]) == [0]
    assert lost_while_held(800, 0, []) == []


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.lists(st.integers(0, 10**5), max_size=5))
def test_the_parts_lose_together_what_is_left_of_the_outage_or_all_they_have(
    out_ms: int, free_ms: int, idle: list[int]
) -> None:
    lost = lost_while_held(out_ms, free_ms, idle)
    assert sum(lost) == min(max(0, out_ms - free_ms), sum(idle))
    assert all(0 <= part <= whole for part, whole in zip(lost, idle, strict=True))
