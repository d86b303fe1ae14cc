"""Equal facts have equal digests, and only they."""

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.digest import DIGEST_BYTES, NotAFact, digest_of

MOMENT = datetime(2026, 3, 2, 12, tzinfo=UTC)
FACTS = st.recursive(
    st.one_of(
        st.none(), st.text(max_size=3), st.binary(max_size=3), st.integers(-3, 3), st.fractions()
    ),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


def test_a_digest_is_sixteen_bytes():
    assert len(digest_of([])) == DIGEST_BYTES


@given(st.lists(FACTS, max_size=4), st.lists(FACTS, max_size=4))
def test_digests_are_equal_just_when_the_facts_are(first, second):
    assert (digest_of(first) == digest_of(second)) == (first == second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([("ab", "c")], [("a", "bc")]),
        (["1"], [1]),
        ([b"1"], ["1"]),
        ([None], [""]),
        ([date(2026, 3, 2)], ["2026-03-02"]),
        ([(1,), 2], [(1, 2)]),
    ],
)
def test_facts_that_look_alike_are_told_apart(first, second):
    assert digest_of(first) != digest_of(second)


def test_one_moment_or_number_has_one_spelling():
    kolkata = MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert digest_of([kolkata]) == digest_of([MOMENT])
    assert digest_of([Decimal("1.50")]) == digest_of([Fraction(3, 2)])


@pytest.mark.parametrize("value", [1.5, datetime(2026, 3, 2), {1, 2}])  # noqa: DTZ001  # naive on purpose
def test_a_value_without_one_exact_spelling_is_refused(value):
    with pytest.raises(NotAFact):
        digest_of([value])


def test_every_process_gets_the_same_digest():
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "from apps.economics.digest import digest_of; print(digest_of(['a', 1, ('b', None)]).hex())",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == digest_of(["a", 1, ("b", None)]).hex()
