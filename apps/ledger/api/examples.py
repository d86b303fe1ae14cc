"""Examples of the ledger's answers."""

from typing import Any

from apps.accounts.rest.examples import answered

_SUMS: dict[str, Any] = {
    "cost": {"amount": "98.320000", "currency": "USD"},
    "loaded_cost": {"amount": "98.320000", "currency": "USD"},
    "shared_cost": {"amount": "0.000000", "currency": "USD"},
    "gpu_hours": 9.0,
    "held_gpu_hours": 3.0,
    "observed_gpu_hours": 1.0,
    "unpriced_hours": 1.0,
    "core_hours": 0.0,
    "coverage": 0.333333,
}
COSTS = answered(
    "Costs",
    {
        "meta": {
            "window": {
                "text": "2026-03-02",
                "starts_at": "2026-03-02T00:00:00Z",
                "ends_at": "2026-03-03T00:00:00Z",
                "zone": "UTC",
            },
            "basis": "effective",
            "currency": "USD",
            "status": "estimated",
            "statuses": ["estimated"],
            "coverage": 0.333333,
            "as_of": "2026-03-02T11:00:00Z",
            "pending_hours": 13,
        },
        "totals": _SUMS,
        "results": [_SUMS],
        "next": None,
        "previous": None,
    },
)
