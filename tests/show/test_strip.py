"""A strip fills its whole length, and says in words what it draws."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from apps.show.strip import strip_of_states
from apps.show.words import STATES

amounts = st.dictionaries(
    st.sampled_from([state.key for state in STATES]), st.integers(-(10**12), 10**12)
).filter(lambda given_amounts: max(given_amounts.values(), default=0) > 0)


@given(amounts)
def test_the_widths_fill_the_strip_exactly(given_amounts):
    strip = strip_of_states(given_amounts)
    assert strip is not None
    assert sum(Decimal(part.width.rstrip("%")) for part in strip.parts) == 100


@given(amounts)
def test_each_part_starts_where_the_one_before_it_ends(given_amounts):
    strip = strip_of_states(given_amounts)
    assert strip is not None
    end = Decimal(0)
    for part in strip.parts:
        assert Decimal(part.offset.rstrip("%")) == end
        end += Decimal(part.width.rstrip("%"))


def test_parts_come_in_stacking_order_and_are_said_in_words():
    strip = strip_of_states({"unallocated": 80, "active": 720, "held_idle": 200, "stranded": 0})
    assert strip is not None
    assert [part.state.key for part in strip.parts] == ["active", "held_idle", "unallocated"]
    assert strip.words.replace("\N{NO-BREAK SPACE}", " ") == (
        "Active 72 %, Idle while allocated 20 % and Unallocated 8 %"
    )


def test_there_is_no_strip_of_nothing():
    assert strip_of_states({}) is None
    assert strip_of_states({"active": 0, "other": -5}) is None
