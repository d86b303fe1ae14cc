"""A tornado: bars from the likely amount to both ends, the first on top, zero always in sight."""

from apps.show.tornado import SwingBar, tornado_bars

BARS = (SwingBar("Price, 1 to 3", 400.0, -600.0), SwingBar("Volume, 5 to 9", -150.0, 100.0))


def drawn(likely: float = -50.0, bars: tuple[SwingBar, ...] = BARS) -> dict:
    return tornado_bars(bars, likely, "USD", lambda amount: f"{amount:+,.0f}")


def test_each_end_is_where_its_amount_is() -> None:
    highest, lowest = drawn()["data"][:2]
    for trace, ends in ((highest, [-600, 100]), (lowest, [400, -150])):
        assert [trace["base"] + length for length in trace["x"]] == ends
        assert list(trace["y"]) == [0, 1]
    assert lowest["customdata"][0] == "Price, 1 to 3, at its lowest: +400"
    assert highest["customdata"][1] == "Volume, 5 to 9, at its highest: +100"


def test_the_first_is_on_top_and_each_is_named_above_its_bar() -> None:
    figure = drawn()
    names = figure["data"][-1]
    assert list(names["text"]) == ["Price, 1 to 3", "Volume, 5 to 9"]
    below, above = figure["layout"]["yaxis"]["range"]
    assert above < names["y"][0] < 0 < names["y"][1] < 1 < below


def test_zero_and_all_ends_lie_within_the_axis() -> None:
    for figure in (drawn(), drawn(-900.0, (SwingBar("Price", -1200.0, -700.0),))):
        low, high = figure["layout"]["xaxis"]["range"]
        assert low <= 0 <= high
        bars = figure["data"][:2]
        assert all(low <= bar["base"] + each <= high for bar in bars for each in bar["x"])


def test_one_input_that_moves_nothing_can_be_drawn() -> None:
    assert drawn(0.0, (SwingBar("Price", 0.0, 0.0),))["data"][0]["x"] == [0.0]
