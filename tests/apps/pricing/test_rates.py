"""Rates: what is refused at entry, which one holds, and what a change marks."""

from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.economics.rates import Per, QuotedRate
from apps.fleet.queries import pools
from apps.marks.models import ChangedHour, ChangedRange
from apps.marks.queries import Pass
from apps.pricing import actions, queries
from apps.pricing.queries.listing import rates_in_force
from tests.make import NOON, make_node, make_organisation, make_pool, make_rate

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
DAY_OF_NOON = (NOON, NOON + DAY)
AWS = {"provider": "aws", "instance_type": "p5.48xlarge"}
RANKS = [
    AWS,
    AWS | {"region": "us-east-1"},
    AWS | {"kind": "contract"},
    AWS | {"kind": "contract", "region": "us-east-1"},
    {"kind": "contract"},
]


@pytest.fixture(autouse=True)
def _organisation(request: pytest.FixtureRequest) -> None:
    if request.cls is None:
        make_organisation()


def spans(pool_id: int, starts_at=NOON, ends_at=NOON + DAY) -> list[tuple]:
    """(from, to, list amount, contract amount) in hours after noon and dollars."""
    held = queries.pool_rates({pool_id: pools()[pool_id]}, starts_at, ends_at)[pool_id]
    return [
        (
            (span.starts_at - NOON) / HOUR,
            (span.ends_at - NOON) / HOUR,
            span.list_rate and f"{span.list_rate.amount.normalize():f}",
            span.contract_rate and f"{span.contract_rate.amount.normalize():f}",
        )
        for span in held
    ]


def marked_hours() -> list[int]:
    rows = ChangedHour.objects.filter(pass_id=Pass.CHARGE).order_by("hour")
    return [int((row.hour - NOON) / HOUR) for row in rows]


def test_a_list_price_is_both_list_and_contracted() -> None:
    pool = make_pool()
    make_rate("55.04")
    assert spans(pool) == [(0, 24, "55.04", None)]


def test_a_contract_beats_a_list_price_and_leaves_it_on_the_list_basis() -> None:
    pool = make_pool()
    make_rate("55.04")
    make_rate("40", kind="contract")
    assert spans(pool) == [(0, 24, "55.04", "40")]


def test_a_pools_own_rate_beats_a_contract() -> None:
    pool = make_pool()
    make_rate("55.04")
    make_rate("40", kind="contract")
    make_rate("30", kind="contract", pool_id=pool)
    assert spans(pool) == [(0, 24, "55.04", "30")]


def test_a_pools_own_list_price_is_its_list_price_and_beats_a_contract() -> None:
    pool = make_pool()
    make_rate("55.04")
    make_rate("40", kind="contract")
    make_rate("50", pool_id=pool)
    assert spans(pool) == [(0, 24, "50", None)]


@pytest.mark.parametrize("option", ["spot", "reserved"])
def test_list_is_the_price_on_demand_of_what_is_bought_at_a_discount(option: str) -> None:
    pool = make_pool(purchase_option=option)
    make_rate("20", purchase_option=option)
    # Nobody said what it costs on demand: its own price is what is paid, and no list price.
    assert spans(pool) == [(0, 24, None, "20")]
    make_rate("55.04", starts_at=NOON + 2 * HOUR)
    make_rate("60", region="eu-west-1")
    make_rate("15", kind="contract", purchase_option=option, starts_at=NOON + 3 * HOUR)
    assert spans(pool) == [
        (0, 2, None, "20"),
        (2, 3, "55.04", "20"),
        (3, 24, "55.04", "15"),
    ]


def test_what_nobody_priced_does_not_cost_what_it_would_on_demand() -> None:
    pool = make_pool(purchase_option="spot")
    make_rate("55.04")
    assert spans(pool) == [(0, 24, None, None)]


def test_what_is_said_more_exactly_wins_within_one_kind() -> None:
    pool = make_pool()
    make_rate("1", gpu_model="NVIDIA H100 80GB HBM3", instance_type="", region="")
    assert spans(pool)[0][2] == "1"
    make_rate("2", gpu_model="NVIDIA H100 80GB HBM3", instance_type="")
    assert spans(pool)[0][2] == "2"
    make_rate("3", region="")
    assert spans(pool)[0][2] == "3"
    make_rate("4")
    assert spans(pool)[0][2] == "4"


@pytest.mark.parametrize(
    "other",
    [
        {"provider": "gcp"},
        {"region": "eu-west-1"},
        {"instance_type": "p4d.24xlarge"},
        {"purchase_option": "spot"},
        {"instance_type": "", "gpu_model": "NVIDIA L4"},
    ],
)
def test_a_rate_for_something_else_prices_nothing_here(other) -> None:
    pool = make_pool()
    make_rate("55.04", **other)
    assert spans(pool) == [(0, 24, None, None)]


def test_another_pools_own_rate_prices_nothing_here() -> None:
    pool = make_pool("ours")
    make_rate("30", pool_id=make_pool("theirs"))
    assert spans(pool) == [(0, 24, None, None)]


def test_pools_without_names_for_their_machines_match_no_rate_by_emptiness() -> None:
    pool = make_pool(instance_type="", gpu_model="")
    make_rate("55.04")
    make_rate("2", instance_type="", gpu_model="NVIDIA L4")
    assert spans(pool) == [(0, 24, None, None)]


def test_spans_are_cut_where_a_price_changes_and_time_without_one_is_unpriced() -> None:
    pool = make_pool()
    make_rate("55.04", starts_at=NOON + HOUR, ends_at=NOON + 4 * HOUR)
    make_rate("40", kind="contract", starts_at=NOON + 2 * HOUR, ends_at=NOON + 3 * HOUR)
    assert spans(pool) == [
        (0, 1, None, None),
        (1, 2, "55.04", None),
        (2, 3, "55.04", "40"),
        (3, 4, "55.04", None),
        (4, 24, None, None),
    ]


def test_a_rate_without_a_start_has_always_held() -> None:
    pool = make_pool()
    make_rate("55.04", starts_at=None)
    assert spans(pool) == [(0, 24, "55.04", None)]


def test_a_rate_keeps_the_quantity_it_was_quoted_for() -> None:
    pool = make_pool()
    rate_id = make_rate("0.001911111", quantity_seconds=1, unit="gpu")
    (span,) = queries.pool_rates({pool: pools()[pool]}, *DAY_OF_NOON)[pool]
    assert span.list_rate == QuotedRate(rate_id, Decimal("0.001911111"), 1, Per.GPU)


class TestAnyPrices(TestCase):
    """Whatever prices there are, and whatever window is asked for."""

    @given(
        periods=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), max_size=5),
        window=st.tuples(st.integers(0, 40), st.integers(1, 20)),
    )
    def test_spans_tile_the_window_without_gap_overlap_or_needless_cut(self, periods, window):
        make_organisation()
        pool = make_pool()
        for rank, (start, length) in enumerate(periods):
            make_rate(
                str(rank),
                starts_at=NOON + start * HOUR,
                ends_at=NOON + (start + length) * HOUR,
                **RANKS[rank] | {"pool_id": pool if rank == 4 else None},
            )
        tiles = spans(pool, NOON + window[0] * HOUR, NOON + sum(window) * HOUR)
        assert [tiles[0][0], *(tile[1] for tile in tiles)] == [
            *(tile[0] for tile in tiles),
            sum(window),
        ]
        assert tiles[0][0] == window[0]
        assert all(one[2:] != two[2:] for one, two in pairwise(tiles))


def test_two_prices_of_equal_priority_are_refused() -> None:
    make_rate("55.04", ends_at=NOON + 2 * DAY)
    with pytest.raises(actions.RateOverlaps, match=r"p5\.48xlarge"):
        make_rate("50", starts_at=NOON + DAY)


def test_prices_that_follow_each_other_are_not_refused() -> None:
    pool = make_pool()
    make_rate("55.04", ends_at=NOON + HOUR)
    make_rate("50", starts_at=NOON + HOUR)
    assert spans(pool) == [(0, 1, "55.04", None), (1, 24, "50", None)]


def test_a_price_in_another_currency_is_refused() -> None:
    with pytest.raises(actions.RateCurrencyDiffers, match="from EUR to USD"):
        make_rate("55.04", currency="EUR")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "guess"),
        ("unit", "rack"),
        ("purchase_option", "stolen"),
        ("quantity_seconds", 60),
        ("amount", "-1"),
        ("amount", "NaN"),
        ("amount", "Infinity"),
        ("amount", "0.0000000001"),
        ("amount", "1e15"),
        ("provider", ""),
        ("instance_type", ""),
        ("gpu_model", "NVIDIA L4"),
    ],
)
def test_a_rate_that_is_none_is_refused_by_the_name_of_its_field(field, value) -> None:
    given = {"amount": "55.04", field: value}
    with pytest.raises(actions.RateNotUnderstood, match=r"amount|instance_type|" + field):
        make_rate(given.pop("amount"), **given)


def test_a_rate_that_never_holds_is_refused() -> None:
    with pytest.raises(actions.RateEndsBeforeItStarts):
        make_rate("55.04", starts_at=NOON, ends_at=NOON)


def test_a_new_rate_marks_the_hours_it_changes_up_to_now() -> None:
    make_node(started_at=NOON, at=NOON)
    make_rate("55.04", starts_at=NOON - DAY, ends_at=NOON + DAY, at=NOON + 3 * HOUR)
    assert marked_hours() == [0, 1, 2]


def test_a_rate_of_the_future_marks_nothing() -> None:
    make_node(started_at=NOON, at=NOON)
    make_rate("55.04", starts_at=NOON + DAY, at=NOON + HOUR)
    assert marked_hours() == []


def test_a_rate_before_there_was_a_node_marks_nothing() -> None:
    make_rate("55.04", starts_at=NOON - 900 * DAY)
    assert marked_hours() == []
    assert ChangedRange.objects.count() == 0


def test_an_ended_rate_marks_the_hours_it_no_longer_prices() -> None:
    make_node(started_at=NOON, at=NOON)
    rate = make_rate("55.04", at=NOON)
    actions.end_rate(rate_id=rate, ended_at=NOON + HOUR, at=NOON + 3 * HOUR)
    assert marked_hours() == [1, 2]
    assert spans(make_pool()) == [(0, 1, "55.04", None), (1, 24, None, None)]


def test_a_rate_ends_once_and_not_before_it_starts() -> None:
    rate = make_rate("55.04", starts_at=NOON, ends_at=NOON + DAY)
    with pytest.raises(actions.RateAlreadyEnded):
        actions.end_rate(rate_id=rate, ended_at=NOON + 2 * DAY, at=NOON)
    with pytest.raises(actions.RateEndsBeforeItStarts):
        actions.end_rate(rate_id=rate, ended_at=NOON, at=NOON)


def test_rates_in_force_say_where_they_come_from() -> None:
    make_rate("55.04", source="a price list", source_date=date(2026, 2, 1))
    (rate,) = rates_in_force(NOON)
    assert (rate["amount"], rate["source"], rate["source_date"]) == (
        Decimal("55.04"),
        "a price list",
        date(2026, 2, 1),
    )
    assert rate["target"] == "list aws / us-east-1 / instance p5.48xlarge / on_demand"
    assert rates_in_force(NOON - 9 * DAY) == []


def test_a_shared_cost_runs_inside_the_window_and_marks_it() -> None:
    make_node(started_at=NOON, at=NOON)
    ChangedHour.objects.all().delete()
    support = actions.EnteredSharedCost(
        Decimal(9000), "by_cost", NOON, name="Support", currency="USD"
    )
    actions.add_shared_cost(cost=support, at=NOON + 2 * HOUR)
    (fact,) = queries.shared_costs(NOON + HOUR, NOON + DAY)
    assert (fact.name, fact.starts_at, fact.ends_at) == ("Support", NOON + HOUR, NOON + DAY)
    assert marked_hours() == [0, 1]
    with pytest.raises(actions.SharedCostExists):
        actions.add_shared_cost(cost=support, at=NOON)


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"method": "by_mood"}, actions.RateNotUnderstood),
        ({"amount": Decimal("NaN")}, actions.RateNotUnderstood),
        ({"currency": "EUR"}, actions.RateCurrencyDiffers),
        ({"ends_at": NOON}, actions.RateEndsBeforeItStarts),
    ],
)
def test_a_shared_cost_that_is_none_is_refused(given, refusal) -> None:
    values = {
        "name": "Support",
        "amount": Decimal(9000),
        "currency": "USD",
        "method": "even",
        "starts_at": NOON,
    }
    with pytest.raises(refusal):
        actions.add_shared_cost(cost=actions.EnteredSharedCost(**values | given), at=NOON)
