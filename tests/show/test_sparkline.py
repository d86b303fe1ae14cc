"""A sparkline starts at zero, breaks where nothing is known and dashes what is provisional."""

from hypothesis import given
from hypothesis import strategies as st

from apps.show.sparkline import HEIGHT, WIDTH, sparkline


def heights(path):
    return [float(pair.split()[1]) for pair in path[1:].split(" L")]


def test_amounts_are_drawn_from_zero():
    line = sparkline([50, 100])
    assert line is not None
    assert heights(line.settled) == [14.0, 2.0]


def test_a_gap_stays_a_gap():
    line = sparkline([1, 2, None, 3, 4])
    assert line is not None
    assert line.settled.count("M") == 2
    assert line.area.count("Z") == 2


def test_the_provisional_end_is_drawn_apart_and_joins_the_rest():
    line = sparkline([1, 2, 3], provisional_from=2)
    assert line is not None
    assert line.settled.split(" L")[-1] == line.provisional[1:].split(" L")[0]


def test_without_a_provisional_end_nothing_is_dashed():
    line = sparkline([1, 2, 3])
    assert line is not None
    assert line.provisional == ""


def test_one_known_value_is_no_line():
    assert sparkline([]) is None
    assert sparkline([None, 5, None]) is None


def test_zeros_lie_on_the_floor():
    line = sparkline([0, 0, 0])
    assert line is not None
    assert heights(line.settled) == [26.0, 26.0, 26.0]


@given(
    st.lists(st.integers(-(10**15), 10**15) | st.none(), min_size=2, max_size=90).filter(
        lambda values: sum(value is not None for value in values) > 1
    )
)
def test_nothing_is_drawn_outside_the_box(values):
    line = sparkline(values)
    assert line is not None
    drawn = f"{line.settled} {line.area}"
    numbers = [
        float(n) for n in drawn.replace("M", " ").replace("L", " ").replace("Z", " ").split()
    ]
    assert all(0 <= x <= WIDTH for x in numbers[::2])
    assert all(0 <= y <= HEIGHT for y in numbers[1::2])
