"""What an hour of a service was for, and what a thousand requests and a million tokens cost."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.economics.serving import (
    IDLE,
    UNCOUNTED,
    EngineTime,
    Portion,
    Purpose,
    ReportedTokens,
    Worked,
    beyond,
    per,
    portions,
    round_parts_to_units,
    summed,
    unit_costs,
    used_part,
)

COUNTS = st.one_of(st.none(), st.integers(0, 10**9))
TOLD = st.builds(ReportedTokens, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
FEATURES = st.dictionaries(st.sampled_from(["", "chat", "search", "sum"]), TOLD, max_size=3)
TIMES = st.one_of(
    st.none(), st.builds(EngineTime, st.integers(0, 3_600_000), st.integers(0, 3_600_000))
)


def weights(found: tuple[Portion, ...]) -> dict[tuple[Purpose, str], int]:
    return {(each.purpose, each.feature): each.weight for each in found}


def test_features_share_an_hour_by_the_work_of_their_tokens() -> None:
    gateway = {
        "chat": ReportedTokens(100, 98, prompt_tokens=1_000, cached_tokens=400, output_tokens=500),
        "search": ReportedTokens(900, 900, prompt_tokens=2_000, cached_tokens=0, output_tokens=100),
    }
    assert weights(portions({}, gateway)) == {
        (Purpose.ANSWERED, "chat"): 600 * 10 + 400 * 1 + 500 * 40,
        (Purpose.ANSWERED, "search"): 2_000 * 10 + 100 * 40,
    }


def test_other_token_weights_divide_otherwise() -> None:
    gateway = {"ask": ReportedTokens(1, 1, 100, 0, 0), "write": ReportedTokens(1, 1, 0, 0, 100)}
    found = weights(portions({}, gateway, token_weights=(1, 1, 3)))
    assert found == {(Purpose.ANSWERED, "ask"): 100, (Purpose.ANSWERED, "write"): 300}


def test_what_the_engine_told_of_prefill_and_decode_takes_the_place_of_fixed_weights() -> None:
    gateway = {
        "reads": ReportedTokens(1, 1, prompt_tokens=900, output_tokens=10),
        "writes": ReportedTokens(1, 1, prompt_tokens=100, output_tokens=90),
    }
    found = portions({}, gateway, EngineTime(prefill_ms=1_000, decode_ms=3_000))
    whole = sum(each.weight for each in found)
    # A quarter of the time was prefill: 0.9 of it for the one who reads; 0.1 of the rest.
    assert Fraction(found[0].weight, whole) == Fraction(9, 10) / 4 + Fraction(1, 10) * 3 / 4
    assert Fraction(sum(each.output for each in found), whole) == Fraction(3, 4)


def test_tokens_beyond_the_gateways_are_nobodys() -> None:
    engine = {"": ReportedTokens(120, 118, 1_500, 500, 700)}
    gateway = {"chat": ReportedTokens(100, 100, 1_000, 500, 500)}
    feature, nobody = portions(engine, gateway)
    assert (nobody.purpose, nobody.told) == (
        Purpose.UNATTRIBUTED,
        ReportedTokens(20, 18, 500, 0, 200),
    )
    assert (feature.weight, nobody.weight) == (500 * 10 + 500 + 500 * 40, 500 * 10 + 200 * 40)


def test_a_gateway_that_counted_more_leaves_nothing_over() -> None:
    engine = {"": ReportedTokens(90, 90, 900, 0, 400)}
    gateway = {"chat": ReportedTokens(100, 100, 1_000, 0, 500)}
    assert [each.purpose for each in portions(engine, gateway)] == [Purpose.ANSWERED]


def test_tokens_that_no_gateway_asked_for_are_all_nobodys() -> None:
    (chat, nobody) = portions(
        {"": ReportedTokens(5, 5, 100, 0, 50)}, {"chat": ReportedTokens(0, 0, 0, 0, 0)}
    )
    assert (chat.weight, nobody.purpose) == (0, Purpose.UNATTRIBUTED)
    assert nobody.weight == 100 * 10 + 50 * 40


def test_an_engine_alone_has_the_features_it_names() -> None:
    found = portions({"b": ReportedTokens(1, 1, 10, 0, 1), "a": ReportedTokens(1, 1, 10, 0, 1)}, {})
    assert [each.feature for each in found] == ["a", "b"]


def test_requests_are_the_weights_where_tokens_are_not_told() -> None:
    gateway = {
        "chat": ReportedTokens(30, 30),
        "search": ReportedTokens(10, 9, 100, 0, 100),
        "new": ReportedTokens(),
    }
    found = portions({}, gateway)
    assert weights(found) == {
        (Purpose.ANSWERED, "chat"): 30,
        (Purpose.ANSWERED, "new"): 0,
        (Purpose.ANSWERED, "search"): 10,
    }
    assert {each.output for each in found} == {0}


def test_requests_that_made_no_tokens_are_kept_and_weigh_nothing() -> None:
    found = portions(
        {}, {"chat": ReportedTokens(5, 0, 0, 0, 0), "search": ReportedTokens(1, 1, 10, 0, 10)}
    )
    assert [(each.weight, each.told.requests) for each in found] == [(0, 5), (500, 1)]


def test_an_hour_of_failed_requests_alone_is_theirs() -> None:
    (found,) = portions({}, {"chat": ReportedTokens(5, 0, 0, 0, 0)})
    assert (found.purpose, found.weight) == (Purpose.ANSWERED, 5)


def test_an_hour_without_requests_is_idle_and_keeps_its_noughts() -> None:
    assert portions({"": ReportedTokens(0, 0, 0, 0, 0)}, {}) == (IDLE,)
    assert portions({"": ReportedTokens(requests=0)}, {}) == (
        IDLE._replace(told=ReportedTokens(requests=0)),
    )


def test_an_hour_of_which_nothing_is_told_is_not_idle() -> None:
    assert portions({}, {}) == UNCOUNTED
    assert portions({"": ReportedTokens()}, {}) == UNCOUNTED


@given(FEATURES, FEATURES, TIMES)
def test_every_hour_is_for_something_and_no_request_is_lost(
    engine: dict[str, ReportedTokens], gateway: dict[str, ReportedTokens], time: EngineTime | None
) -> None:
    found = portions(engine, gateway, time)
    assert sum(each.weight for each in found) > 0
    assert all(each.weight in (0, each.prompt + each.cached + each.output) or not each.output
               for each in found)  # fmt: skip
    told = [each.requests for each in (gateway or engine).values()]
    kept = sum(
        each.told.requests or 0 for each in found if each.purpose is not Purpose.UNATTRIBUTED
    )
    assert kept in (sum(each or 0 for each in told), 0)


def test_a_sum_of_which_a_part_is_not_told_is_not_told() -> None:
    assert summed([ReportedTokens(1, 1, None), ReportedTokens(2, None, 5)]) == ReportedTokens(3)
    assert summed([]) == ReportedTokens()
    assert beyond(ReportedTokens(5, None), ReportedTokens(7, 1)) == ReportedTokens(0)


def test_a_cost_by_thousands_and_millions() -> None:
    """A day of 226.75 nodes of eight at $2: $87,072 for 608 B prompt and 168 B output tokens."""
    told = ReportedTokens(prompt_tokens=608 * 10**9, cached_tokens=0, output_tokens=168 * 10**9)
    found = unit_costs(87_072_000_000, 5_000_000, told, Worked(0, 0, 1))
    assert float(found.million_output or 0) / 1e6 == pytest.approx(0.5183, abs=5e-5)
    assert float(found.million_tokens or 0) / 1e6 == pytest.approx(0.1122, abs=5e-5)
    assert found.thousand_requests == Fraction(87_072_000_000, 5_000)
    assert (found.million_prompt, found.million_cached) == (0, None)


def test_the_cost_of_each_kind_of_token_adds_up_to_the_cost() -> None:
    told = ReportedTokens(prompt_tokens=3_000_000, cached_tokens=1_000_000, output_tokens=500_000)
    found = unit_costs(9_000_000, 100, told, Worked(20, 1, 20))
    assert (found.million_prompt, found.million_cached, found.million_output) == (
        Fraction(9_000_000) * 20 / 41 / 2,
        Fraction(9_000_000, 41),
        Fraction(9_000_000) * 20 / 41 * 2,
    )


def test_a_unit_cost_without_units_or_cost_is_undefined() -> None:
    nothing = ReportedTokens(0, 0, 0, 0, 0)
    assert set(unit_costs(5_000_000, 0, nothing, Worked(1, 1, 1))) == {None}
    assert set(unit_costs(None, 10, ReportedTokens(1, 1, 1, 0, 1), Worked(1, 1, 1))) == {None}
    assert set(unit_costs(1, None, ReportedTokens(), Worked(0, 0, 0))) == {None}
    assert per(1_000, 0, 5) == 0


def test_usage_is_the_active_part_and_takes_as_much_of_shared_costs() -> None:
    assert used_part(300, active=80, stated=200) == 120
    assert used_part(300, active=None, stated=200) == 0
    assert used_part(None, active=1, stated=2) is None
    assert used_part(300, active=None, stated=None) is None


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=6))
def test_parts_in_fractions_come_to_whole_units_that_sum_to_the_same(parts: list[int]) -> None:
    parts = [*parts, -sum(parts) % 1_000]
    found = round_parts_to_units(parts, 1_000)
    assert sum(found) * 1_000 == sum(parts)
    assert all(abs(each * 1_000 - part) < 1_000 for each, part in zip(found, parts, strict=True))


def test_what_is_left_over_goes_to_the_largest_remainder() -> None:
    assert round_parts_to_units([1_600, 700, 700], 1_000) == [1, 1, 1]
    assert round_parts_to_units([-1_500, 500], 1_000) == [-1, 0]
