"""A call's price is its vendor's at its own date, tier and size, or its contract's."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from genai_prices import data_snapshot

from apps.economics.calls import Contract, Counted, Priced
from apps.economics.vendor_names import PRICED
from apps.ledger.solvers.api_pricing import books
from apps.workloads.api.usage_counts import COLUMNS, counts_of

AT = datetime(2026, 2, 15, 12, tzinfo=UTC)
PUBLISHED = (
    Path(__file__).resolve().parents[4] / "shared" / "data" / "api_usage" / "usages_even.json.gz"
)
CACHED_OF_MISTRAL = "`num_cached_tokens` are read: they were worked out at the full price"
NOTHING_COUNTED = "an input and an output of 0 is what a gateway writes of a call it did not count"
MOVED = {
    # The table's price of this or its reading of the counts changed after these were worked out.
    (107, "google"): "long context of Claude on Vertex costs more",
    (176, "azure"): "cache writes have a price",
    (175, "azure"): "cache writes have a price",
    (601, "azure"): "cache writes have a price",
    (508, "cerebras"): "the model is no longer listed",
    **{(place, "mistral"): CACHED_OF_MISTRAL for place in (186, 190, 193, 242, 375, 395, 430)},
    **{(623, vendor): NOTHING_COUNTED for vendor in ("azure", "openai")},
}
FLAVOURS = {
    "usageMetadata": {"default"},
    "prompt_tokens": {"chat", "default"},
    "input_tokens_details": {"responses"},
    "input_tokens": {"anthropic", "default"},
}


def call(**given: Any) -> Counted:
    values: dict[str, Any] = {
        "vendor": "openai",
        "model": "gpt-4.1",
        "tier": "",
        "outcome": "ok",
        "at": AT,
        "input_tokens": 1_000_000,
        "cached_tokens": 0,
        "cache_write_tokens": 0,
        "output_tokens": 0,
        "reasoning_tokens": 0,
        "detail": {},
    }
    return Counted(**values | given)


def contract(**given: Any) -> Contract:
    values: dict[str, Any] = {
        "id": 1,
        "vendor": "openai",
        "model": "gpt-4.1",
        "tier": "",
        "unit": "input",
        "amount": None,
        "per_quantity": 1_000_000,
        "currency": "USD",
        "discount_ratio": None,
        "starts_at": AT - timedelta(days=1),
        "ends_at": None,
    }
    return Contract(**values | given)


def priced(told: Counted, *contracts: Contract) -> Priced:
    return books()(contracts)(told)


def cost(told: Counted, *contracts: Contract) -> Decimal:
    found = priced(told, *contracts)
    assert found.amounts is not None, found.reason
    return found.amounts["USD"]


def test_cached_tokens_are_part_of_the_input_and_cost_less() -> None:
    assert cost(call()) == 2
    assert cost(call(cached_tokens=600_000)) == Decimal("1.1")


def test_reasoning_tokens_are_part_of_the_output() -> None:
    assert cost(call(input_tokens=0, output_tokens=1_000_000, reasoning_tokens=400_000)) == 8


def test_a_price_is_the_one_of_the_calls_own_date() -> None:
    # o3 was made cheaper on 2025-06-10.
    before, after = datetime(2025, 6, 1, tzinfo=UTC), datetime(2025, 7, 1, tzinfo=UTC)
    assert cost(call(model="o3", at=before)) == 10
    assert cost(call(model="o3", at=after)) == 2


def test_a_long_prompt_is_in_the_step_of_its_size() -> None:
    told = {"vendor": "google", "model": "gemini-2.5-pro"}
    assert cost(call(**told, input_tokens=200_000)) == Decimal("0.25")
    assert cost(call(**told, input_tokens=200_001)) == Decimal("0.5000025")


def test_a_tier_has_its_own_price_or_none_is_known() -> None:
    sonnet = {"vendor": "anthropic", "model": "claude-sonnet-4-5", "input_tokens": 100_000}
    known = datetime(2026, 11, 1, tzinfo=UTC)
    assert cost(call(**sonnet)) == Decimal("0.3")
    assert cost(call(**sonnet, tier="batch", at=known)) == Decimal("0.15")
    # The table knows no price of batches of before, and the ordinary one is not theirs.
    assert priced(call(**sonnet, tier="batch")).amounts is None
    unknown = priced(call(**sonnet, tier="bespoke"))
    assert (unknown.amounts, unknown.list_amount) == (None, None)
    assert "in the tier 'bespoke'" in unknown.reason


def test_a_search_beside_the_tokens_is_priced_too() -> None:
    sonnet = {"vendor": "anthropic", "model": "claude-sonnet-4-5", "input_tokens": 100_000}
    assert cost(call(**sonnet, detail={"web_searches": 5})) == Decimal("0.35")


def test_an_unknown_model_or_vendor_has_no_price() -> None:
    for told in (call(model="house-blend"), call(vendor="nobody")):
        found = priced(told)
        assert found.amounts is None
        assert "is known" in found.reason


def test_counts_that_cannot_be_have_no_price() -> None:
    assert "contradict" in priced(call(input_tokens=10, cached_tokens=11)).reason


def test_a_call_without_counts_has_no_price_and_a_failed_one_costs_nothing() -> None:
    nothing = {"input_tokens": None, "cached_tokens": None, "output_tokens": None}
    assert priced(call(**nothing)).amounts is None
    assert cost(call(**nothing, outcome="rate_limited")) == 0
    assert cost(call(input_tokens=0)) == 0


def test_a_contract_amount_takes_the_place_of_its_unit_alone() -> None:
    told = call(output_tokens=1_000_000)
    found = priced(told, contract(amount=Decimal("1.5")))
    assert found.amounts == {"USD": Decimal("9.5")}
    assert found.list_amount == 10
    assert found.price.startswith("contract price 1, genai-prices")


def test_a_discount_on_everything_holds_for_what_has_no_price_of_its_own() -> None:
    told = call(output_tokens=1_000_000)
    share = contract(id=2, unit="all", discount_ratio=Decimal("0.5"))
    assert cost(told, share) == 5
    assert cost(told, share, contract(amount=Decimal(1))) == 5
    assert cost(told, share, contract(amount=Decimal(3))) == 7


def test_the_closest_contract_wins() -> None:
    whole = contract(id=1, model="gpt-4.1", amount=Decimal(1))
    family = contract(id=2, model="gpt-*", amount=Decimal(5))
    assert cost(call(), whole, family) == 1
    assert cost(call(model="gpt-4.1-mini"), whole, family) == 5


def test_a_contract_holds_in_its_period_and_tier() -> None:
    over = contract(amount=Decimal(1), ends_at=AT)
    ahead = contract(amount=Decimal(1), starts_at=AT + timedelta(seconds=1))
    batch = contract(amount=Decimal(1), tier="batch")
    other = contract(amount=Decimal(1), vendor="azure")
    assert cost(call(), over, ahead, batch, other) == 2


def test_a_contract_prices_a_model_that_nobody_else_knows() -> None:
    house = {"vendor": "azure", "model": "our-deployment"}
    told = call(**house, cached_tokens=500_000, output_tokens=1_000_000)
    paid = contract(**house, amount=Decimal(1))
    assert "no contract prices its output" in priced(told, paid).reason
    both = (paid, contract(**house, id=2, unit="output", amount=Decimal(4)))
    assert cost(told, *both) == 5
    assert priced(told, *both).list_amount is None


def test_contracts_in_another_currency_stay_in_it() -> None:
    told = call(output_tokens=1_000_000)
    found = priced(told, contract(amount=Decimal(1), currency="EUR"))
    assert found.amounts == {"EUR": Decimal(1), "USD": Decimal(8)}


def test_a_price_by_the_request_counts_requests() -> None:
    paid = contract(unit="request", amount=Decimal(2), per_quantity=1000)
    assert cost(call(), paid) == Decimal("2.002")


def published() -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Each body with each vendor's expected price, read in the shape that the body has."""
    for place, row in enumerate(json.loads(gzip.decompress(PUBLISHED.read_bytes()))):
        usage = row["body"].get("usage") or row["body"]
        shape = next((name for name in FLAVOURS if usage.get(name) is not None), None)
        for extracted in row["extracted"] if shape else ():
            for expected in extracted["extractors"]:
                if "input_price" in expected and expected["api_flavor"] in FLAVOURS[shape or ""]:
                    yield place, row, expected


@pytest.mark.skipif(
    not PUBLISHED.exists(), reason="published usages of model APIs are not beside the checkout"
)
def test_published_usages_are_priced_as_published() -> None:
    book = books()(())
    seen = set()
    agreed = 0
    for place, row, expected in published():
        vendor = expected["provider_id"]
        usage = row["body"].get("usageMetadata") or row["body"]["usage"]
        counts = counts_of(usage, vendor)
        detail = {name: count for name, count in counts.items() if name not in COLUMNS and count}
        # What is published is the price of tokens; searches come on top of it.
        detail.pop("web_searches", None)
        columns = {column: counts.get(name) for name, column in COLUMNS.items()}
        told = call(vendor=vendor, model=row["model"], detail=detail, **columns)
        wanted = Decimal(expected["input_price"]) + Decimal(expected["output_price"])
        if book(told).list_amount == wanted:
            agreed += 1
        else:
            seen.add((place, vendor))
    assert seen == set(MOVED)
    assert agreed > 900


def test_the_names_of_vendors_that_doors_know_are_those_that_have_public_prices() -> None:
    assert {each.id for each in data_snapshot.get_snapshot().providers} == PRICED
