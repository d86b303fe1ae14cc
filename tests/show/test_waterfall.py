"""A waterfall: from one amount to another, each cause on where the last one ended, each amount beside its bar."""

from itertools import pairwise

from apps.show.waterfall import waterfall

PARTS = (("Volume", 300_000_000), ("Price", -120_500_000), ("Other charges", 0))


def drawn(parts: tuple[tuple[str, int], ...] = PARTS, before: int = 1_000_000_000) -> dict:
    after = before + sum(amount for _, amount in parts)
    return waterfall(("Week before", before), parts, ("2026-W45", after), "USD")


def test_each_cause_begins_where_the_last_one_ended_and_the_last_ends_at_the_amount_after() -> None:
    bars = drawn()["data"][0]
    spans = [(base, base + length) for base, length in zip(bars["base"], bars["x"], strict=True)]

    assert [spans[0], spans[-1]] == [(0, 1000), (0, 1179.5)]
    causes = [(0, 1000), *spans[1:-1]]
    assert [begins for begins, _ in causes[1:]] == [ended for _, ended in causes[:-1]]
    assert causes[-1][1] == 1179.5


def test_every_amount_is_written_in_full_where_its_bar_ends_on_the_right() -> None:
    texts = drawn()["data"][1]

    assert [text.strip() for text in texts["text"]] == [
        "$1,000.00", "+$300.00", "−$120.50", "$0.00", "$1,179.50",
    ]  # fmt: skip
    assert texts["x"] == [1000, 1300, 1300, 1179.5, 1179.5]


def test_names_stand_beside_their_bars_from_above_down_in_room_enough_for_the_longest() -> None:
    figure = drawn()
    bars, layout = figure["data"][0], figure["layout"]

    assert bars["orientation"] == "h"
    assert list(bars["y"]) == ["Week before", "Volume", "Price", "Other charges", "2026-W45"]
    assert layout["yaxis"]["range"] == [4.5, -0.5]
    assert layout["margin"]["l"] >= 6 * len("Other charges")
    assert layout["margin"]["r"] >= 6 * len("$1,179.50")


def test_credits_below_zero_stay_on_the_axis() -> None:
    axis = drawn((("Other charges", -1_500_000_000),))["layout"]["xaxis"]

    assert axis["range"][0] <= -500
    assert axis["range"][1] >= 1000
    assert all(one < other for one, other in pairwise(axis["tickvals"]))
