"""Money is exact, has a currency, and is rounded only to be shown."""

from decimal import Decimal, Inexact

import pytest

from apps.economics.money import (
    CurrenciesDiffer,
    FractionalMicros,
    Money,
    NotMoney,
    sum_of_known,
    sum_or_unknown,
)


def dollars(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def test_amounts_of_one_currency_add_up():
    assert dollars("0.1") + dollars("0.2") == dollars("0.3")
    assert dollars("1") - dollars("0.000001") == dollars("0.999999")
    assert -dollars("5") == dollars("-5")


def test_amounts_of_two_currencies_do_not():
    with pytest.raises(CurrenciesDiffer):
        dollars("1") + Money(Decimal(1), "EUR")
    with pytest.raises(CurrenciesDiffer):
        dollars("1") - Money(Decimal(1), "EUR")


@pytest.mark.parametrize("amount", [0.1, 1, "1", Decimal("NaN"), Decimal("Infinity"), None])
def test_only_a_finite_decimal_is_money(amount):
    with pytest.raises(NotMoney):
        Money(amount, "USD")


def test_micro_units_come_back_as_they_were_stored():
    stored = 9_223_372_036_854_775_807
    assert Money.from_micros(stored, "USD").micros() == stored
    assert Money.from_micros(-1, "USD") == dollars("-0.000001")


def test_micro_units_are_whole_numbers():
    with pytest.raises(NotMoney):
        Money.from_micros(1.5, "USD")


def test_an_amount_below_the_micro_unit_is_not_rounded_to_be_stored():
    with pytest.raises(FractionalMicros):
        dollars("0.0000001").micros()


def test_a_digit_is_refused_rather_than_dropped():
    with pytest.raises(Inexact):
        dollars("1e40") + dollars("1e-40")


def test_rounding_is_half_even():
    assert dollars("2.345").rounded() == dollars("2.34")
    assert dollars("2.355").rounded() == dollars("2.36")
    assert dollars("0.0000005").rounded(digits=6) == dollars("0.000000")


def test_a_sum_says_whether_it_is_of_what_is_known_or_of_all() -> None:
    assert (sum_of_known([None, 2, 3]), sum_of_known([None]), sum_of_known([])) == (5, None, None)
    assert (sum_or_unknown([None, 2, 3]), sum_or_unknown([2, 3]), sum_or_unknown([])) == (
        None,
        5,
        0,
    )
