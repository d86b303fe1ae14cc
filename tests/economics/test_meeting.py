"""Two divisions of one hour are put together by the minutes they share, and keep their sums."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.meeting import BILLION, met_weights
from apps.economics.minutes import MINUTES, QUARTERS, minutes_of, packed, unpacked

MINUTE_MS = 60_000


def span(since: int, until: int) -> list[int]:
    return minutes_of([(since * MINUTE_MS, until * MINUTE_MS)])


def test_each_row_lies_where_its_minutes_do() -> None:
    met = met_weights(
        {"idle": 30, "active": 30},
        {"failed": 30, "productive": 30},
        {"idle": span(0, 30), "active": span(30, 60)},
        {
            "failed": span(15, 45),
            "productive": [a + b for a, b in zip(span(0, 15), span(45, 60), strict=True)],
        },
    )
    half = BILLION // 2
    assert met == {
        "idle": {"failed": half, "productive": half},
        "active": {"failed": half, "productive": half},
    }


def test_rows_of_which_no_minute_tells_are_divided_as_the_whole() -> None:
    met = met_weights({"idle": 20, "active": 40}, {"failed": 1, "productive": 3}, {}, {})
    assert met["idle"] == met["active"] == {"failed": BILLION // 4, "productive": BILLION * 3 // 4}


def test_a_column_of_which_no_minute_tells_gets_its_part_of_each_row() -> None:
    met = met_weights(
        {"idle": 30, "active": 30},
        {"failed": 30, "unknown": 30},
        {"idle": span(0, 30), "active": span(30, 60)},
        {"failed": span(0, 30)},
    )
    assert met["idle"]["failed"] + met["active"]["failed"] == BILLION
    assert met["idle"]["failed"] > met["active"]["failed"]


def test_minutes_that_contradict_the_sums_give_way_to_them() -> None:
    met = met_weights(
        {"idle": 50, "active": 10},
        {"failed": 30, "productive": 30},
        {"idle": span(0, 30), "active": span(30, 60)},
        {"failed": span(0, 30), "productive": span(30, 60)},
    )
    failed = (50 * met["idle"]["failed"] + 10 * met["active"]["failed"]) / BILLION
    assert abs(failed - 30) < 0.5
    assert met["idle"]["failed"] > met["active"]["failed"]


edges = st.lists(st.integers(0, MINUTES), min_size=2, max_size=4, unique=True).map(sorted)


@given(edges, edges)
def test_both_sums_are_kept_where_the_minutes_are_theirs(
    rows: list[int], columns: list[int]
) -> None:
    cuts = ([0, *rows, MINUTES], [0, *columns, MINUTES])
    spans = [{place: (a, b) for place, (a, b) in enumerate(pairwise(of)) if a < b} for of in cuts]
    lengths = [{place: b - a for place, (a, b) in of.items()} for of in spans]
    minutes = [{place: span(a, b) for place, (a, b) in of.items()} for of in spans]
    met = met_weights(*lengths, *minutes)
    for place, of_row in met.items():
        assert abs(sum(of_row.values()) - BILLION) <= len(of_row)
        for column, weight in of_row.items():
            (a, b), (c, d) = spans[0][place], spans[1][column]
            shared = max(0, min(b, d) - max(a, c))
            assert abs(weight / BILLION - shared / (b - a)) < 1e-6


@given(st.lists(st.tuples(st.integers(-10, 3_700_000), st.integers(0, 100_000)), max_size=9))
def test_minutes_are_what_lies_in_the_hour(told: list[tuple[int, int]]) -> None:
    spans = [(start, start + length) for start, length in told]
    inside = sum(max(0, min(end, 3_600_000) - max(0, start)) for start, end in spans)
    assert abs(sum(minutes_of(spans)) * 250 - inside) <= 125 * MINUTES


def test_what_is_packed_comes_out_again_without_what_was_nothing() -> None:
    kept = packed({7: span(3, 60), 0: [0] * MINUTES, 2: [QUARTERS + 9] * MINUTES})
    assert {key: list(of) for key, of in unpacked(kept).items()} == {
        2: [QUARTERS] * MINUTES,
        7: span(3, 60),
    }
    assert len(kept) == 2 * (MINUTES + 1)
