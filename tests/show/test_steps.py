"""Prices as steps: each holds until the next, gaps are gaps, and today is marked."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from apps.show.steps import PlotSpan, PlotStep, StepSeries, price_steps

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
SPAN = PlotSpan(FIRST, FIRST + 100 * DAY, FIRST + 60 * DAY, ZoneInfo("Europe/Berlin"))


def step(start: int | None, end: int | None, amount: str) -> PlotStep:
    starts_at = None if start is None else FIRST + start * DAY
    return PlotStep(starts_at, None if end is None else FIRST + end * DAY, Decimal(amount))


def series(*steps: PlotStep, label: str = "List") -> StepSeries:
    return StepSeries(label, "--accent", "solid", steps)


def test_a_price_holds_to_its_end_and_where_none_was_quoted_nothing_is_drawn():
    line, _ = price_steps([series(step(0, 10, "98.32"), step(20, None, "55.04"))], SPAN, "USD")[
        "data"
    ]
    assert line["x"][:2] == ["2026-01-01 01:00:00", "2026-01-11 01:00:00"]
    assert line["y"] == [98.32, 98.32, None, 55.04, 55.04]
    assert line["x"][4] == "2026-04-11 02:00:00"
    assert line["line"]["shape"] == "hv"
    assert line["customdata"][0] == "List: $98.32"


def test_prices_that_touch_are_one_line_with_a_step():
    line, _ = price_steps([series(step(0, 10, "98.32"), step(10, None, "55.04"))], SPAN, "USD")[
        "data"
    ]
    assert line["y"] == [98.32, 98.32, 55.04, 55.04]


def test_a_price_without_a_start_begins_where_the_chart_does():
    line, _ = price_steps([series(step(None, 10, "5"))], SPAN, "USD")["data"]
    assert line["x"][0] == "2026-01-01 01:00:00"


def test_the_axis_starts_at_zero_and_says_small_prices_in_full():
    figure = price_steps([series(step(0, None, "0.0031"))], SPAN, "USD")
    axis = figure["layout"]["yaxis"]
    assert axis["range"][0] == 0.0
    assert axis["range"][1] >= 0.0031
    assert axis["ticktext"][1].startswith("$0.00")
    assert axis["ticktext"][1] != "$0.00"
    assert json.loads(json.dumps(figure)) == figure


def test_today_is_a_line_of_its_own_and_each_kind_is_named_at_its_end():
    lower, higher = series(step(0, None, "40"), label="Contract"), series(step(0, None, "41"))
    figure = price_steps([higher, lower], SPAN, "USD")
    today = figure["data"][-1]
    assert today["x"] == ["2026-03-02 01:00:00"] * 2
    contract, listed, marker = figure["layout"]["annotations"]
    assert (contract["text"], listed["text"]) == ("Contract", "List")
    assert listed["y"] - contract["y"] > 1
    assert marker["text"] == "today, 2 March"


def test_a_short_history_is_labelled_by_the_hour_and_nothing_at_all_still_has_an_axis():
    span = PlotSpan(FIRST, FIRST + DAY, FIRST + DAY, UTC)
    assert price_steps([], span, "USD")["layout"]["xaxis"]["ticktext"][0] == "1 Jan 00:00"
    assert price_steps([], SPAN, "USD")["layout"]["xaxis"]["ticktext"][0] == "1 Jan 2026"
