"""Time of which a part has no price: known as far as it is, and never zero for being unknown."""

from fractions import Fraction

from apps.economics.priced_time import PricedTime, time_together


def test_what_has_no_price_is_in_no_amount_and_none_of_it_is_not_known() -> None:
    time = PricedTime()
    assert time.micros == 0, "of no time it is nothing"
    time.add(100, None)
    assert (time.micros, time.unpriced_ms) == (None, 100)
    time.add(50, Fraction(1, 3))
    assert (time.milliseconds, time.micros, time.unpriced_ms) == (150, 17, 100)
    assert time_together([time, time]).micros == 33, "rounded once, of both"
    assert time_together([]) == PricedTime()
