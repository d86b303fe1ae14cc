"""Every dollar of waste is explained once: by a recommendation, a reason of the list, or as other."""

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.waste_reasons import (
    REASON_WORDS,
    WasteCover,
    WasteReason,
    explained_part,
    explained_waste,
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
