"""Examples of what model APIs cost, for the OpenAPI document."""

from apps.web.rest.examples import answered, listed, sent

_MONEY = {"amount": "12.500000", "currency": "USD"}
API_SPEND = listed(
    "Spend by model",
    {
        "vendor": None,
        "model": "gpt-4.1",
        "team": None,
        "workload": None,
        "feature": None,
        "tier": None,
        "day": None,
        "requests": 40,
        "rate_limited": 1,
        "server_errors": 0,
        "other_errors": 0,
        "unpriced_requests": 0,
        "input_tokens": 1200000,
        "cached_tokens": 200000,
        "cache_write_tokens": 0,
        "output_tokens": 50000,
        "reasoning_tokens": 0,
        "cost": _MONEY,
        "list_cost": _MONEY,
        "stated_cost": None,
        "stated_difference": None,
        "cost_per_million_tokens": _MONEY,
    },
)
_PRICE = {
    "id": 4,
    "vendor": "openai",
    "model": "gpt-4.1*",
    "tier": "",
    "unit": "input",
    "amount": "1.500000000",
    "per_quantity": 1000000,
    "currency": "USD",
    "discount_ratio": None,
    "starts_at": "2026-03-01T00:00:00Z",
    "ends_at": None,
}
API_PRICES = listed("Contract prices", _PRICE)
API_PRICE = answered("Contract price", _PRICE, 201)
ENDED_PRICE = answered("Ended price", _PRICE | {"ends_at": "2026-06-01T00:00:00Z"})
NEW_API_PRICE = sent(
    "New contract price",
    {
        "vendor": "anthropic",
        "model": "claude-sonnet-4*",
        "unit": "all",
        "discount_ratio": "0.1",
        "starts_at": "2026-03-01T00:00:00Z",
    },
)
API_PRICE_END = sent("End", {"ended_at": "2026-06-01T00:00:00Z"})
VENDOR_COSTS = sent(
    "A report of OpenAI",
    {
        "vendor": "openai",
        "report": {
            "object": "page",
            "data": [
                {
                    "start_time": 1772409600,
                    "end_time": 1772496000,
                    "results": [
                        {
                            "amount": {"value": 0.06, "currency": "usd"},
                            "line_item": "gpt-4.1, input",
                            "project_id": "proj_abc",
                        }
                    ],
                }
            ],
            "has_more": False,
        },
    },
)
VENDOR_COSTS_TAKEN = answered("Taken", {"vendor": "openai", "rows": 1})
COMPARED = listed(
    "Beside the vendor's report",
    {
        "vendor": "openai",
        "day": "2026-03-02",
        "ours": _MONEY,
        "theirs": _MONEY,
        "difference": {"amount": "0.000000", "currency": "USD"},
        "unpriced_requests": 0,
    },
)
