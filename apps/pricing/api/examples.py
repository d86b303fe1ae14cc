"""Examples of the requests for rates, and of their answers."""

from apps.web.rest.examples import answered, listed, sent

_RATE = {
    "id": 9,
    "target": "list aws / us-east-1 / instance p5.48xlarge / on_demand",
    "kind": "list",
    "provider": "aws",
    "region": "us-east-1",
    "instance_type": "p5.48xlarge",
    "gpu_model": "",
    "purchase_option": "on_demand",
    "pool": None,
    "price": {"amount": "55.040000000", "currency": "USD"},
    "quantity_seconds": 3600,
    "unit": "node",
    "starts_at": "2026-03-02T12:00:00Z",
    "ends_at": None,
    "source": "price list of the provider",
    "source_date": "2026-03-01",
    "created_at": "2026-03-02T12:00:00Z",
    "standing": "in_force",
    "doubt": "",
    "decided_at": None,
    "tiers": [],
}
RATES = listed("Rates", _RATE)
RATE = answered("Rate", _RATE, 200, 201)
NEW_RATE = sent(
    "New rate",
    {
        "kind": "contract",
        "provider": "aws",
        "region": "us-east-1",
        "instance_type": "p5.48xlarge",
        "purchase_option": "on_demand",
        "price": {"amount": "41.50", "currency": "USD"},
        "tiers": [{"beyond": "1000", "amount": "38.00"}],
        "quantity_seconds": 3600,
        "unit": "node",
        "starts_at": "2026-03-02T12:00:00Z",
        "source": "contract 2026-17",
    },
)
REACH = answered(
    "Reach",
    {
        "starts_at": "2026-03-02T12:00:00Z",
        "ends_at": "2026-03-09T12:00:00Z",
        "hours": 168,
        "node_hours": 1344.0,
        "nodes": 8,
        "pools": [{"id": 3, "name": "h100"}],
    },
)
RATE_END = sent("End", {"ended_at": "2026-03-02T18:00:00Z"})
ENDED_RATE = answered("Ended rate", _RATE | {"ends_at": "2026-03-02T18:00:00Z"})
SPOT_PRICES = sent(
    "Spot prices",
    {
        "source": "the market page of the provider",
        "points": [
            {
                "provider": "lambda",
                "region": "us-west-1",
                "gpu_model": "NVIDIA H100 80GB HBM3",
                "at": "2026-03-02T12:15:00Z",
                "price": {"amount": "1.89", "currency": "USD"},
                "unit": "gpu",
            }
        ],
    },
)
RECORDED = answered(
    "Recorded",
    {
        "entered": 1,
        "unchanged": 0,
        "waiting": 0,
        "rejected": [{"row": 2, "reason": "RateOverlaps: it costs 1.89 then, not 1.99"}],
        "remarks": [{"row": 1, "remark": "quoted with 12 decimals, kept to 9"}],
    },
)
