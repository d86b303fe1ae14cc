"""What a token cost follows from what was charged, or is not known."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.token_prices import TokenPrices, TokenUse, token_prices

PRICES = TokenPrices(plain=3.0, cached=0.3, written=3.75, output=15.0)
COUNTS = st.tuples(*[st.integers(1_000, 10**7)] * 4)


def used(plain: int, cached: int, written: int, output: int) -> TokenUse:
    use = TokenUse(plain, cached, written, output, 0)
    return replace(use, micros=round(PRICES.cost(use) or 0))


@given(st.lists(COUNTS, min_size=8, max_size=40, unique=True))
def test_prices_are_found_again_or_said_to_be_unknown(
    counts: list[tuple[int, int, int, int]],
) -> None:
    found = token_prices([used(*each) for each in counts])
    if found is not None:
        plain, cached, written, output = (sum(column) for column in zip(*counts, strict=True))
        whole = used(plain, cached, written, output)
        assert found.cost(whole) == pytest.approx(whole.micros, rel=0.01)


def test_the_worked_prices() -> None:
    uses = [used(900, 100, 50, 200), used(500, 900, 10, 100), used(70, 10, 300, 900), used(10, 20, 30, 40)]  # fmt: skip
    found = token_prices([replace(use, micros=use.micros * 1000) for use in uses])
    assert found is not None
    assert (found.plain, found.cached) == pytest.approx((3_000, 300), rel=0.02)
    assert (found.written, found.output) == pytest.approx((3_750, 15_000), rel=0.02)


def test_kinds_that_never_occur_have_no_price_and_a_use_of_them_no_cost() -> None:
    found = token_prices([used(900, 0, 0, 200), used(100, 0, 0, 300), used(500, 0, 0, 10)])
    assert found is not None
    assert (found.cached, found.written) == (None, None)
    assert found.cost(used(1, 1, 0, 1)) is None


@pytest.mark.parametrize(
    "uses",
    [
        [],
        [used(100, 10, 0, 50)],
        [used(100 * n, 0, 0, 50 * n) for n in (1, 2, 3)],
        [TokenUse(100, 0, 0, 50, 1_000_000), TokenUse(1_000, 0, 0, 100, 1_000_000), TokenUse(10, 0, 0, 7, 5)],
    ],
    ids=["nothing", "one use", "always the same proportion", "charged by the call"],
)  # fmt: skip
def test_what_does_not_follow_is_unknown(uses: list[TokenUse]) -> None:
    assert token_prices(uses) is None
