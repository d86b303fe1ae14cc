"""Money reads the same everywhere: figures short, tables whole, nothing unknown as zero."""

from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.show import money

DOLLAR = 1_000_000
amounts = st.integers(min_value=-(10**18), max_value=10**18)


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (0, "$0.00"),
        (8_120_000, "$8.12"),
        (99_994_000, "$99.99"),
        (812 * DOLLAR, "$812"),
        (999_600_000, "$1.00k"),
        (9_130 * DOLLAR, "$9.13k"),
        (41_302_170_000, "$41.3k"),
        (412_380 * DOLLAR, "$412k"),
        (999_950 * DOLLAR, "$1.00M"),
        (1_234_567 * DOLLAR, "$1.23M"),
        (2_500_000_000 * DOLLAR, "$2.50B"),
        (4_000_000_000_000 * DOLLAR, "$4,000B"),
        (-41_302_170_000, "−$41.3k"),
        (3, "< $0.01"),
        (-3, "> −$0.01"),
    ],
)
def test_a_figure_has_three_significant_digits(micros, text):
    assert money.short_amount(micros, "USD") == text


@pytest.mark.parametrize(
    ("micros", "currency", "text"),
    [
        (41_302_170_000, "USD", "$41,302.17"),
        (41_302_175_000, "USD", "$41,302.18"),
        (41_302_165_000, "USD", "$41,302.16"),
        (-12_400_000, "EUR", "−€12.40"),
        (1_234_560_000, "JPY", "¥1,235"),
        (1_234_567_800, "KWD", "KWD\N{NO-BREAK SPACE}1,234.568"),
        (1_234_567_800, "CHF", "CHF\N{NO-BREAK SPACE}1,234.57"),
        (0, "USD", "$0.00"),
        (1, "USD", "< $0.01"),
        (1, "JPY", "< ¥1"),
    ],
)
def test_a_table_shows_every_minor_unit_of_its_currency(micros, currency, text):
    assert money.full_amount(micros, currency) == text


def test_a_sentence_leaves_the_minor_units_out():
    assert money.rounded_amount(18_210_490_000, "USD") == "$18,210"
    assert money.rounded_amount(12_400_000, "USD") == "$12.40"


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (2_406_000, "$2.41"),
        (3_450, "$0.00345"),
        (1_234_500_000, "$1,230"),
        (9_995_000, "$10.0"),
        (0, "$0"),
    ],
)
def test_a_unit_cost_has_three_significant_digits(micros, text):
    assert money.unit_cost(micros, "USD") == text


def test_a_difference_always_has_its_sign():
    assert money.signed_amount(12_400_000, "USD") == "+$12.40"
    assert money.signed_amount(-3_000_000, "USD") == "−$3.00"
    assert money.signed_amount(0, "USD") == "$0.00"


@pytest.mark.parametrize(
    "format_",
    [
        money.short_amount,
        money.full_amount,
        money.rounded_amount,
        money.unit_cost,
        money.signed_amount,
    ],
)
def test_an_unknown_amount_is_never_a_zero(format_):
    assert format_(None, "USD") == "–"


@given(amounts)
def test_a_table_amount_is_within_half_a_minor_unit_of_the_truth(micros):
    text = money.full_amount(micros, "USD")
    read = Decimal(text.strip("<> ").replace("−", "-").replace("$", "").replace(",", ""))
    assert abs(read - Decimal(micros) / DOLLAR) <= Decimal("0.01")


@given(amounts.filter(bool))
def test_something_is_never_written_as_nothing(micros):
    for format_ in (
        money.short_amount,
        money.full_amount,
        money.rounded_amount,
        money.unit_cost,
    ):
        assert format_(micros, "USD").strip("−$0.,kMB")


@given(
    start=st.integers(-(10**12), 10**12),
    parts=st.lists(
        st.integers(-(10**12), 10**12) | st.integers(-20_000, 20_000), min_size=1, max_size=6
    ),
    currency=st.sampled_from(["USD", "JPY", "KWD"]),
)
def test_the_parts_of_a_difference_lead_from_one_shown_amount_to_the_other(
    start: int, parts: list[int], currency: str
) -> None:
    shown = money.bridged(start, parts, start + sum(parts), currency)

    step = {"USD": 10_000, "JPY": 1_000_000, "KWD": 1_000}[currency]

    def minor(micros: int) -> Decimal:
        return (Decimal(micros) / step).quantize(Decimal(1), ROUND_HALF_EVEN)

    assert minor(start) + sum(minor(each) for each in shown) == minor(start + sum(parts))
    assert all(abs(was - now) <= step for was, now in zip(parts, shown, strict=True))


def test_a_difference_between_two_halves_is_still_bridged() -> None:
    assert money.bridged(15_000, [10_000], 25_000, "USD") == [0]
