"""Large counts and energy are read at a glance, and unknown is never a zero."""

import pytest

from apps.show.counts import energy, short_count, times


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "–"),
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (12.345, "12.3"),
        (51_234.5, "51.2k"),
        (999_999, "1.00M"),
        (1_340_000_000, "1.34B"),
        (2.5e12, "2.50T"),
    ],
)
def test_a_count_has_three_digits_and_a_step(number, text):
    assert short_count(number) == text


@pytest.mark.parametrize(
    ("joules", "text"),
    [(None, "–"), (0.0, "0 kWh"), (44_640_000, "12.4 kWh"), (4.32e9, "1.20 MWh")],
)
def test_energy_is_told_in_hours_of_kilowatts(joules, text):
    assert energy(joules).replace("\N{NO-BREAK SPACE}", " ") == text


def test_a_factor_says_how_many_times():
    assert times(1.8).replace("\N{NO-BREAK SPACE}", " ") == "1.80 ×"
    assert times(None) == "–"
