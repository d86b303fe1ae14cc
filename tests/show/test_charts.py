"""Daily cost by state is drawn from zero, in tokens, with what is provisional hatched."""

import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.show.charts import DailySeries, daily_cost_by_state, spread_apart
from apps.show.words import STATES, state_words

DOLLAR = 1_000_000
FIRST = date(2026, 10, 26)


def days(count):
    return [FIRST + timedelta(days=index) for index in range(count)]


def series(key, settled, provisional=None):
    return DailySeries(state_words(key), settled, provisional or (0,) * len(settled))


def test_a_figure_is_plain_json_without_a_title():
    figure = daily_cost_by_state(days(2), [series("active", (DOLLAR, 2 * DOLLAR))], "USD")
    assert json.loads(json.dumps(figure)) == figure
    assert "title" not in figure["layout"]


def test_the_axis_starts_at_zero_and_holds_the_highest_day():
    rows = [
        series("active", (700 * DOLLAR, 900 * DOLLAR)),
        series("held_idle", (300 * DOLLAR, 150 * DOLLAR)),
    ]
    axis = daily_cost_by_state(days(2), rows, "USD")["layout"]["yaxis"]
    assert axis["range"] == [0.0, 1250.0]
    assert axis["ticktext"] == ["$0", "$250", "$500", "$750", "$1k", "$1.25k"]


def test_credits_reach_below_zero():
    axis = daily_cost_by_state(days(1), [series("other", (-30 * DOLLAR,))], "USD")["layout"][
        "yaxis"
    ]
    assert axis["ticktext"] == ["−$30", "−$20", "−$10", "$0"]


def test_a_day_without_any_cost_still_has_an_axis():
    axis = daily_cost_by_state(days(1), [series("active", (None,))], "USD")["layout"]["yaxis"]
    assert axis["range"][0] == 0.0
    assert axis["range"][1] > 0


def test_every_colour_is_a_token_of_the_theme():
    figure = daily_cost_by_state(days(1), [series("held_idle", (DOLLAR,))], "USD")
    assert figure["data"][0]["marker"]["color"] == "var(--state-held-idle)"
    assert "#" not in json.dumps(figure)


def test_the_provisional_part_is_hatched_and_named_on_hover():
    row = series("active", (2 * DOLLAR, 3 * DOLLAR), (0, DOLLAR))
    settled, provisional = daily_cost_by_state(days(2), [row], "USD")["data"]
    assert "pattern" not in settled["marker"]
    assert provisional["marker"]["pattern"]["shape"] == "/"
    assert provisional["y"] == [None, 1.0]
    assert settled["customdata"] == ["$2.00", "$4.00, $1.00 of it provisional"]


def test_a_day_that_is_all_provisional_still_answers_to_the_pointer():
    row = series("active", (0,), (DOLLAR,))
    settled, _ = daily_cost_by_state(days(1), [row], "USD")["data"]
    assert settled["y"] == [0.0]
    assert settled["customdata"] == ["$1.00, provisional"]


def test_what_is_not_known_is_hatched_the_other_way():
    (bars,) = daily_cost_by_state(days(1), [series("unobserved", (DOLLAR,))], "USD")["data"]
    assert bars["marker"]["pattern"]["shape"] == "\\"


def test_series_without_any_cost_are_left_out():
    rows = [series("active", (DOLLAR,)), series("stranded", (0,)), series("held_idle", (None,))]
    assert [bar["name"] for bar in daily_cost_by_state(days(1), rows, "USD")["data"]] == ["Active"]


def test_series_are_named_at_their_end_up_to_six():
    rows = [series(state.key, (DOLLAR,)) for state in STATES]
    named = daily_cost_by_state(days(1), rows[:6], "USD")["layout"]["annotations"]
    assert [label["text"] for label in named] == [state.label for state in STATES[:6]]
    assert "annotations" not in daily_cost_by_state(days(1), rows, "USD")["layout"]


@pytest.mark.parametrize("count", [2, 7, 8, 9, 30, 31, 92, 366])
def test_the_newest_day_is_always_labelled_and_labels_stay_few(count):
    axis = daily_cost_by_state(days(count), [series("active", (DOLLAR,) * count)], "USD")["layout"][
        "xaxis"
    ]
    assert axis["tickvals"][-1] == days(count)[-1].isoformat()
    assert len(axis["tickvals"]) <= 8


def test_a_lone_day_is_named_between_its_neighbours():
    axis = daily_cost_by_state(days(1), [series("active", (DOLLAR,))], "USD")["layout"]["xaxis"]
    assert axis["tickvals"] == ["2026-10-25", "2026-10-26", "2026-10-27"]


def test_a_label_names_the_month_where_it_begins():
    rows = [series("active", (DOLLAR,) * 8)]
    axis = daily_cost_by_state(days(8), rows, "USD")["layout"]["xaxis"]
    assert axis["ticktext"] == ["26 Oct", "27", "28", "29", "30", "31", "1 Nov", "2"]


def test_few_days_are_not_drawn_as_one_wide_bar():
    axis = daily_cost_by_state(days(1), [series("active", (DOLLAR,))], "USD")["layout"]["xaxis"]
    assert axis["range"] == ["2026-10-24 00:00", "2026-10-28 00:00"]


@given(st.lists(st.decimals(0, 240, places=1), min_size=1, max_size=6).map(sorted))
def test_end_labels_never_touch(middles):
    placed = spread_apart(middles, Decimal(17), Decimal(234))
    assert all(above - below >= 17 for below, above in pairwise(placed))
    assert placed[-1] <= 234


def test_bars_of_weeks_are_as_wide_as_their_days():
    weeks = [FIRST + timedelta(days=7 * index) for index in range(5)]
    figure = daily_cost_by_state(weeks, [series("active", (DOLLAR,) * 5)], "USD", step=7)
    (bars,) = figure["data"]
    one_day = daily_cost_by_state(days(5), [series("active", (DOLLAR,) * 5)], "USD")
    assert bars["width"] == 7 * one_day["data"][0]["width"]
    first, last = (datetime.fromisoformat(edge) for edge in figure["layout"]["xaxis"]["range"])
    assert last - first == timedelta(days=35)
