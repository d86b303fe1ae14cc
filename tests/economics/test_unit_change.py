"""What moved a figure per unit: parts that add up to its change to the last millionth."""

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.unit_change import (
    Served,
    UnitSpend,
    Weighed,
    in_millionths,
    mean_of,
    mean_parts,
    served_parts,
)

spend = st.builds(
    UnitSpend, st.integers(0, 10**12), st.integers(0, 10**10), st.none() | st.integers(0, 10**12)
)
kinds = st.dictionaries(st.sampled_from(["H100", "H200", "A100", "", "credits"]), spend, min_size=1)
served = st.builds(Served, kinds, st.integers(1, 10**9), st.none() | st.integers(0, 10**12))
weighed = st.builds(
    Weighed, st.floats(0, 1e9, allow_subnormal=False), st.floats(1, 1e9, allow_subnormal=False)
)
cells = st.dictionaries(st.sampled_from(["chat", "search", "rank"]), weighed, min_size=1)


def test_a_dearer_gpu_hour_is_price() -> None:
    before = Served({"H100": UnitSpend(2_000_000, 3_600_000)}, 1_000, 50_000)
    after = Served({"H100": UnitSpend(2_300_000, 3_600_000)}, 1_000, 50_000)
    assert (before.thousand, after.thousand) == (2.0, 2.3)
    parts = {"price": 300_000, "commitments": 0, "volume": 0, "mix": 0, "efficiency": 0}
    assert served_parts(before, after) == parts


def test_what_a_commitment_takes_off_is_no_price() -> None:
    """On demand 2.00 both times; then a savings plan covers it at 1.20, and a credit comes of 0.10."""
    before = Served({"H100": UnitSpend(2_000_000, 3_600_000, 2_000_000)}, 1_000, 50_000)
    spent = {
        "H100": UnitSpend(1_200_000, 3_600_000, 2_000_000),
        "credits": UnitSpend(-100_000, 0, 0),
    }
    after = Served(spent, 1_000, 50_000)
    parts = {"price": 0, "commitments": -900_000, "volume": 0, "mix": 0, "efficiency": 0}
    assert served_parts(before, after) == parts
    # A dearer hour under the same plan is price, and the plan's rest as ever.
    dearer = Served({"H100": UnitSpend(1_200_000, 3_600_000, 2_400_000)}, 1_000, 50_000)
    moved = served_parts(Served({"H100": spent["H100"]}, 1_000, 50_000), dearer)
    assert (moved["price"], moved["commitments"]) == (218_786, -218_786)  # 1.2 × ln(2.4 ÷ 2.0)
    # Where one of the spans does not know it, all of it is price.
    unknown = Served({"H100": UnitSpend(2_000_000, 3_600_000)}, 1_000, 50_000)
    assert served_parts(unknown, dearer)["price"] == -800_000


def test_longer_requests_are_volume_and_slower_tokens_efficiency() -> None:
    before = Served({"H100": UnitSpend(2_000_000, 3_600_000)}, 1_000, 50_000)
    longer = Served({"H100": UnitSpend(4_000_000, 7_200_000)}, 1_000, 100_000)
    slower = Served({"H100": UnitSpend(4_000_000, 7_200_000)}, 1_000, 50_000)
    assert served_parts(before, longer)["volume"] == 2_000_000
    assert served_parts(before, slower)["efficiency"] == 2_000_000


def test_a_kind_that_came_is_mix_and_a_charge_without_time_is_price() -> None:
    before = Served({"H100": UnitSpend(1_000_000, 3_600_000)}, 1_000, None)
    came = Served(
        {**before.spend, "H200": UnitSpend(500_000, 0), "B200": UnitSpend(7, 9)}, 1_000, None
    )
    parts = served_parts(before, came)
    assert parts["price"] == 500_000
    assert sum(parts.values()) == 500_007
    freed = Served({"H100": UnitSpend(0, 3_600_000)}, 1_000, None)
    assert served_parts(before, freed)["price"] == -1_000_000


def test_a_mean_moves_by_its_cells_and_by_their_weights() -> None:
    before = {"chat": Weighed(100.0, 1.0), "search": Weighed(0.0, 1.0)}
    more = {"chat": Weighed(300.0, 3.0), "search": Weighed(0.0, 1.0)}
    assert mean_parts(before, more, "volume") == {"mix": 25_000_000, "volume": 0}
    woken = {"chat": Weighed(100.0, 1.0), "search": Weighed(10.0, 1.0)}
    assert mean_parts(before, woken, "volume") == {"mix": 0, "volume": 5_000_000}
    assert mean_of({}) is None
    assert mean_parts(before, {"rank": Weighed(0.0, 0.0)}, "volume") == {
        "mix": -50_000_000,
        "volume": 0,
    }


def test_whole_millionths_sum_to_the_total() -> None:
    assert in_millionths({"a": 0.0000014, "b": 0.0000014}, 3) == {"a": 2, "b": 1}
    assert in_millionths({"a": 0.0000014, "b": 0.0000014}, 1) == {"a": 0, "b": 1}


@given(served, served)
def test_parts_of_a_unit_cost_sum_to_its_change(before: Served, after: Served) -> None:
    change = round(after.thousand * 1_000_000) - round(before.thousand * 1_000_000)
    assert sum(served_parts(before, after).values()) == change


@given(cells, cells)
def test_parts_of_a_mean_sum_to_its_change(
    before: dict[str, Weighed], after: dict[str, Weighed]
) -> None:
    change = round((mean_of(after) or 0) * 1_000_000) - round((mean_of(before) or 0) * 1_000_000)
    assert sum(mean_parts(before, after, "volume").values()) == change
