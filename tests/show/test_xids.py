"""XID numbers in words: what kills a GPU is not mistaken for what kills a process."""

import pytest

from apps.show.xids import FATAL_XIDS, XIDS, xid_words


@pytest.mark.parametrize("code", [48, 62, 64, 74, 79, 95, 119, 120, 140, 143])
def test_what_needs_a_reset_is_fatal(code: int) -> None:
    assert code in FATAL_XIDS


@pytest.mark.parametrize("code", [13, 31, 43, 45, 63, 68, 69, 92, 94, 121, 154])
def test_what_costs_one_process_or_nothing_is_not_fatal(code: int) -> None:
    words = xid_words(code)
    assert words is not None
    assert not words.is_fatal


def test_a_number_that_is_not_known_here_has_no_words() -> None:
    assert xid_words(4711) is None
    assert xid_words(None) is None


def test_each_number_says_what_happened_and_what_to_do_in_sentences() -> None:
    for each in XIDS.values():
        assert each.label[0].isupper()
        assert each.advice.endswith(".")
