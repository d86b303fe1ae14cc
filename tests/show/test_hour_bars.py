"""Bars by hour of the day."""

from apps.show.hour_bars import HourBar, hour_bars


def test_only_hours_that_are_known_are_drawn_each_with_its_range() -> None:
    bars = [HourBar(3, 2.0, 1.5, 4.0, "three"), HourBar(5, None, 0.0, 9.0, "five")]
    figure = hour_bars([*bars, HourBar(7, 1.0, 0.5, None, "seven")], lambda tick: f"{tick:f}")
    (trace,) = figure["data"]

    assert (list(trace["x"]), list(trace["y"])) == ([3, 7], [2.0, 1.0])
    assert list(trace["error_y"]["array"]) == [2.0, 0.0]
    assert list(trace["error_y"]["arrayminus"]) == [0.5, 0.5]
    assert figure["layout"]["yaxis"]["range"][1] >= 4.0
