"""Energy goes to whoever a GPU was held by; unmetered time counts with the mean of the rest."""

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.sharing import DrawnShare, energy_weights

HOUR_MS = 3_600_000
holders = st.dictionaries(st.integers(0, 5), st.integers(1, 1000), min_size=1)
gpus = st.builds(DrawnShare, st.integers(1, HOUR_MS), st.integers(0, 10**9), holders)


def test_what_a_gpu_drew_goes_to_its_holders_by_their_weight() -> None:
    found = energy_weights(
        [DrawnShare(HOUR_MS, 900, {1: 2, 2: 1}), DrawnShare(HOUR_MS, 100, {2: 1})]
    )

    assert found == ({1: 600, 2: 400}, 2 * HOUR_MS, 0)


def test_time_without_a_meter_counts_with_the_mean_power_of_the_rest() -> None:
    drawn = [DrawnShare(HOUR_MS, 1000, {1: 1}), DrawnShare(HOUR_MS // 2, None, {2: 1})]

    assert energy_weights(drawn) == ({1: 1000, 2: 500}, HOUR_MS, HOUR_MS // 2)


def test_without_any_meter_nobody_has_a_weight() -> None:
    assert energy_weights([DrawnShare(HOUR_MS, None, {1: 1})]) == ({}, 0, HOUR_MS)
    assert energy_weights([]) == ({}, 0, 0)


@given(st.lists(gpus, max_size=8))
def test_weights_sum_to_what_the_meters_told(drawn: list[DrawnShare]) -> None:
    found = energy_weights(drawn)

    assert sum(found.millijoules.values()) == sum(each.millijoules or 0 for each in drawn)
