"""What a commitment cost beside what was paid for it."""

from decimal import Decimal

import pytest

from apps.economics.commitment_books import BookStatus, CommitmentBook

D = Decimal


@pytest.mark.parametrize(
    ("purchased", "effective", "of_purchases", "may_precede", "is_over", "standing"),
    [
        ("100", "100", "0", True, False, BookStatus.BALANCED),
        ("100", "60", "0", False, False, BookStatus.BALANCED),
        ("100", "60", "0", False, True, BookStatus.FALLS_SHORT),
        ("100", "60", "0", True, True, BookStatus.BALANCED),
        ("100", "200", "100", True, False, BookStatus.EXCEEDS),
        ("100", "120", "0", True, False, BookStatus.UNKNOWN),
        ("100", "120", "0", False, False, BookStatus.EXCEEDS),
        ("100", "100.009", "0", False, True, BookStatus.BALANCED),
        (None, "120", "0", False, False, BookStatus.UNKNOWN),
        ("100", None, "0", False, False, BookStatus.UNKNOWN),
    ],
)
def test_standings(
    purchased: str | None,
    effective: str | None,
    of_purchases: str,
    may_precede: bool,
    is_over: bool,
    standing: BookStatus,
) -> None:
    book = CommitmentBook(
        "sp-1", "USD", purchased and D(purchased), effective and D(effective), D(of_purchases),
        may_precede, is_over,
    )  # fmt: skip
    assert book.standing is standing
    assert book.is_off == (standing in (BookStatus.EXCEEDS, BookStatus.FALLS_SHORT))


def test_words_name_the_commitment_and_both_sums() -> None:
    book = CommitmentBook("sp-1", "USD", D("100.00"), D("200.00"), D(100))
    assert book.words == "sp-1: 200 of cost for 100 USD paid"
    assert "an unknown amount" in CommitmentBook("sp-1", "USD", None, D(1)).words
