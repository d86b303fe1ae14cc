"""When hours of owned hardware are: months of a life, months of the calendar, tariffs of a day."""

from datetime import UTC, datetime, timedelta

from apps.economics.owned_time import (
    OfMonth,
    TariffSpan,
    of_calendar,
    of_life,
    tariffs_of_hour,
    within,
)

HOUR = timedelta(hours=1)
BERLIN = "Europe/Berlin"


def test_a_life_that_begins_with_a_month_has_its_months() -> None:
    begins = datetime(2026, 2, 28, 23, tzinfo=UTC)  # 1 March in Berlin
    assert of_life(begins, begins, BERLIN) == OfMonth(0, 0, 743)
    # Summer time took an hour of March.
    assert of_life(begins, begins + 743 * HOUR, BERLIN) == OfMonth(1, 0, 720)
    assert of_life(begins, begins + 742 * HOUR, BERLIN) == OfMonth(0, 742, 743)


def test_a_life_that_begins_on_the_31st_goes_on_from_the_last_day_of_shorter_months() -> None:
    begins = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert of_life(begins, datetime(2026, 2, 28, 11, tzinfo=UTC), "UTC") == OfMonth(0, 671, 672)
    assert of_life(begins, datetime(2026, 2, 28, 12, tzinfo=UTC), "UTC") == OfMonth(1, 0, 744)
    assert of_life(begins, datetime(2026, 3, 31, 12, tzinfo=UTC), "UTC") == OfMonth(2, 0, 720)


def test_hours_count_in_their_local_month() -> None:
    autumn = datetime(2026, 10, 31, 22, tzinfo=UTC)
    assert of_calendar(autumn, BERLIN) == OfMonth(12 * 2026 + 9, 744, 745)
    assert of_calendar(autumn + HOUR, BERLIN) == OfMonth(12 * 2026 + 10, 0, 720)
    # Where midnight is at half past, the hour that it cuts is of the day before.
    cut = datetime(2026, 2, 28, 18, tzinfo=UTC)
    assert of_calendar(cut, "Asia/Kolkata").month == 12 * 2026 + 1
    assert of_calendar(cut + HOUR, "Asia/Kolkata") == OfMonth(12 * 2026 + 2, 0, 744)


def test_a_tariff_holds_until_the_next_one_of_the_day() -> None:
    tariffs = ((360, 300_000), (1320, 110_000))
    at = datetime(2026, 7, 1, 20, tzinfo=UTC)  # 22:00 in Berlin
    assert tariffs_of_hour(tariffs, at - HOUR, BERLIN) == (TariffSpan(0, 3_600_000, 300_000, 1260),)
    assert tariffs_of_hour(tariffs, at, BERLIN) == (TariffSpan(0, 3_600_000, 110_000, 1320),)
    # Before the day's first one the last of the day before goes on.
    night = datetime(2026, 7, 1, 1, tzinfo=UTC)
    assert tariffs_of_hour(tariffs, night, BERLIN) == (TariffSpan(0, 3_600_000, 110_000, 180),)
    assert tariffs_of_hour((), at, BERLIN) == ()


def test_a_tariff_may_change_within_the_hour_and_the_clock_may_leap() -> None:
    tariffs = ((0, 100), (150, 200))
    # Clocks leap from 02:00 to 03:00 local: half past two never is.
    leap = datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert tariffs_of_hour(tariffs, leap - HOUR, BERLIN) == (TariffSpan(0, 3_600_000, 100, 60),)
    assert tariffs_of_hour(tariffs, leap, BERLIN) == (TariffSpan(0, 3_600_000, 200, 180),)
    # In autumn half past two is twice.
    back = datetime(2026, 10, 25, 0, tzinfo=UTC)
    halves = (TariffSpan(0, 1_800_000, 100, 120), TariffSpan(1_800_000, 3_600_000, 200, 150))
    assert tariffs_of_hour(tariffs, back, BERLIN) == halves
    assert tariffs_of_hour(tariffs, back + HOUR, BERLIN) == halves


def test_spans_are_cut_to_what_is_asked() -> None:
    spans = (TariffSpan(0, 1_800_000, 1, 0), TariffSpan(1_800_000, 3_600_000, 2, 30))
    assert within(spans, 600_000, 1_800_000) == [TariffSpan(600_000, 1_800_000, 1, 0)]
    assert len(within(spans, 0, 3_600_000)) == 2
