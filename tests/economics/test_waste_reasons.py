"""Every dollar of waste is explained once: by a recommendation, a reason of the list, or as other."""

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.waste_reasons import (
    REASON_WORDS,
    WasteCover,
    WasteReason,
    explained_part,
    explained_waste,
    rare_and_headroom,
)

CELLS = ["held_idle 7:2", "unallocated unallocated:2", "failed 7:2"]


def test_a_recommendation_takes_what_it_saves_and_the_rest_has_its_reasons_in_order() -> None:
    shares = explained_waste(
        {"idle": 100, "free": 50, "odd": 10},
        [WasteCover("a", ["idle"], 60), WasteCover("b", ["idle", "free"], 70)],
        {"free": [(WasteReason.COMMITTED, 15), (WasteReason.HEADROOM, 50)]},
    )
    told = [(each.cell, each.micros, each.key or str(each.reason)) for each in shares]
    assert told == [
        ("idle", 60, "a"),
        ("idle", 40, "b"),
        ("free", 30, "b"),
        ("free", 15, "committed"),
        ("free", 5, "headroom"),
        ("odd", 10, "other"),
    ]
    assert explained_part(shares) == 150 / 160
    assert explained_part([]) is None


def test_what_somebody_put_off_is_a_reason_and_no_recommendation() -> None:
    cover = WasteCover("a", ["idle"], 60, WasteReason.DECLINED)
    first, rest = explained_waste({"idle": 100}, [cover], {})
    assert (first.key, first.reason, first.micros) == ("", WasteReason.DECLINED, 60)
    assert rest.reason is WasteReason.OTHER


def test_hours_tell_what_is_rare_from_what_is_headroom() -> None:
    """Ten machines free for 7 of 168 hours are free too rarely; two of ten at any hour but the busiest 2 of 100 are headroom."""
    nodes = [10.0] * 168
    monday = [10.0 if hour < 7 else 0.0 for hour in range(168)]
    assert rare_and_headroom(nodes, monday, monday) == (70.0, 0.0)
    nightly = [4.0 if hour % 24 < 8 else 0.0 for hour in range(168)]
    assert rare_and_headroom(nodes, nightly, nightly) == (0.0, sum(nightly))
    always = [3.0] * 168
    assert rare_and_headroom(nodes, always, always) == (0.0, 0.0)
    assert rare_and_headroom(nodes, nightly, [0.0] * 168) == (0.0, 0.0)


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(0, 1), st.floats(0, 1)), max_size=60))
def test_rare_and_headroom_are_no_more_than_what_stood(
    hours: list[tuple[float, float, float]],
) -> None:
    nodes = [have for have, _, _ in hours]
    free = [have * part for have, part, _ in hours]
    rested = [idle * part for idle, (_, _, part) in zip(free, hours, strict=True)]
    rare, headroom = rare_and_headroom(nodes, free, rested)
    assert rare >= 0 <= headroom
    assert rare + headroom <= sum(rested) + 1e-6


def test_every_reason_has_its_words() -> None:
    assert set(REASON_WORDS) == set(WasteReason)


@given(
    st.dictionaries(st.sampled_from(CELLS), st.integers(0, 1_000)),
    st.lists(st.tuples(st.lists(st.sampled_from(CELLS)), st.integers(-5, 2_000)), max_size=6),
    st.dictionaries(
        st.sampled_from(CELLS),
        st.lists(st.tuples(st.sampled_from(WasteReason), st.integers(0, 900)), max_size=4),
    ),
)
def test_each_dollar_goes_once(
    cells: dict[str, int],
    covers: list[tuple[list[str], int]],
    reasons: dict[str, list[tuple[WasteReason, int]]],
) -> None:
    shares = explained_waste(
        cells, [WasteCover(str(place), *each) for place, each in enumerate(covers)], reasons
    )
    for cell, micros in cells.items():
        assert sum(share.micros for share in shares if share.cell == cell) == micros
    for place, (_, most) in enumerate(covers):
        taken = sum(share.micros for share in shares if share.key == str(place))
        assert taken <= max(0, most)
