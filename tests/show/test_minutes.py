"""An hour of a GPU as sixty minutes."""

from apps.show.minutes import MinuteBar, minute_strip


def test_minutes_alike_are_one_bar_and_idle_ones_none():
    strip = minute_strip([240] * 60, [240] * 30 + [0] * 20 + [60] * 10)
    assert strip.bars == (MinuteBar(0, 30, 0, 4, True), MinuteBar(50, 10, 3, 1, True))
    assert strip.words == "active 32 of 60 min observed"


def test_a_little_work_is_never_drawn_as_none():
    strip = minute_strip([240] * 60, [1] + [0] * 59)
    assert strip.bars == (MinuteBar(0, 1, 3, 1, True),)
    assert strip.words == "active < 0.1 of 60 min observed"


def test_what_was_not_observed_is_neither_work_nor_idle():
    strip = minute_strip([0] * 60, [0] * 60)
    assert strip.bars == (MinuteBar(0, 60, 0, 4, False),)
    assert strip.words == "not observed in this hour"
