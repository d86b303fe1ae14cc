"""Every key the ledger stores has words, a colour and an explanation."""

from pathlib import Path

import pytest

from apps.economics.states import Flag, State
from apps.show import words

TOKENS = Path(__file__).resolve().parents[2] / "static" / "css" / "tokens.css"


@pytest.mark.parametrize("state", list(State))
def test_every_state_of_gpu_time_has_words(state):
    assert words.state_words(state.name.lower()).explanation.endswith(".")


@pytest.mark.parametrize("flag", list(Flag))
def test_every_flag_of_a_line_has_words(flag):
    assert words.flag_words(flag.name.lower()).explanation.endswith(".")


@pytest.mark.parametrize("state", words.STATES)
def test_every_state_has_its_own_colour_in_the_tokens(state):
    assert f"{state.token}:" in TOKENS.read_text()


def test_money_without_device_time_is_other_charges():
    assert words.state_words(None).label == "Other charges"


def test_unobserved_is_the_state_that_is_hatched():
    assert [state.key for state in words.STATES if state.is_hatched] == ["unobserved"]


def test_what_did_not_work_leaves_out_what_is_not_known():
    assert "unobserved" not in words.NOT_WORKED
    assert "active" not in words.NOT_WORKED


@pytest.mark.parametrize("key", ["provisional", "estimated", "reconciled", "restated"])
def test_every_status_says_what_it_means(key):
    assert words.status_words(key).explanation.endswith(".")


@pytest.mark.parametrize("key", ["list", "contracted", "effective", "billed"])
def test_every_basis_says_what_it_means(key):
    assert words.basis_words(key).explanation.endswith(".")


def test_lists_are_joined_in_words():
    assert words.joined([]) == ""
    assert words.joined(["a"]) == "a"
    assert words.joined(["a", "b"]) == "a and b"
    assert words.joined(["a", "b", "c"]) == "a, b and c"
