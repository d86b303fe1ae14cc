"""However windows arrive, the usage hour is the same, and no second counts twice."""

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.usage import usage_of_hour
from tests.economics.windows import columns, usage, window

SECONDS = st.one_of(st.integers(0, 300), st.floats(0, 300), st.just(float("nan")))


@st.composite
def windows(draw: st.DrawFn) -> dict:
    """A window that may overlap others, cross the hour, or say more than it can know."""
    length = draw(st.sampled_from([10_000, 60_000, 60_000, 300_000]))
    step = draw(st.sampled_from([length, length, 1_000, 137]))
    return window(
        device_id=draw(st.integers(1, 2)),
        holder_id=draw(st.sampled_from([0, 0, 7, 8])),
        start_ms=draw(st.integers(-2, 3_600_000 // step if step == length else 40)) * step,
        length_ms=length,
        source=draw(st.integers(1, 3)),
        boot=draw(st.integers(1, 2)),
        agent_id=draw(st.integers(1, 2)),
        observed_seconds=draw(SECONDS),
        worked_seconds=draw(SECONDS),
        sm_ratio=draw(st.sampled_from([float("nan"), 0.25, 1.0])),
        energy_joules=draw(st.sampled_from([float("nan"), 1e4])),
    )


BATCHES = st.lists(windows(), max_size=12)


@given(BATCHES, st.data())
def test_any_order_and_any_repetition_give_the_same_usage_hour(batch, data):
    again = data.draw(
        st.permutations(
            batch + data.draw(st.lists(st.sampled_from(batch or [{}]))) if batch else batch
        )
    )
    assert usage(*again) == usage(*batch)


@given(BATCHES)
def test_no_second_counts_twice_and_every_device_has_its_own_reading(batch):
    rows = usage(*batch)
    for row in rows:
        for observed, worked in zip(row.observed, row.worked, strict=True):
            assert worked <= observed <= 240
    for device in {row.device_id for row in rows}:
        holders = [row.holder_id for row in rows if row.device_id == device]
        assert len(holders) == 1 or holders[0] == 0
        assert len(set(holders)) == len(holders)


@given(st.lists(st.floats(0, 60), min_size=60, max_size=60))
def test_an_hour_of_minutes_keeps_its_work_to_the_quarter_second(seconds):
    batch = [window(start_ms=at * 60_000, worked_seconds=work) for at, work in enumerate(seconds)]
    (row,) = usage_of_hour(columns(batch))
    assert abs(sum(row.worked) / 4 - sum(seconds)) <= 0.13
    assert sum(row.observed) == 60 * 240
