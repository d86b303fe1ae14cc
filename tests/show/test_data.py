"""Amounts of data in words."""

import pytest

from apps.show.data import data_rate, data_size

NBSP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("bytes_", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (999.7, "1.00 kB"),
        (1_500_000, "1.50 MB"),
        (12_345_678_901, "12.3 GB"),
        (310e9, "310 GB"),
        (4.2e19, "42000 PB"),
    ],
)
def test_data_is_said_in_three_digits(bytes_, said):
    assert data_size(bytes_).replace(NBSP, " ") == said


def test_a_rate_is_data_by_the_second():
    assert data_rate(2_000_000).replace(NBSP, " ") == "2.00 MB/s"


def test_what_is_not_known_is_not_zero():
    assert (data_size(None), data_rate(None)) == ("–", "–")
