"""Examples of unit costs and services."""

from typing import Any

from apps.web.rest.examples import answered, dollars, listed

_SUMS: dict[str, Any] = {
    "cost": dollars("294.960000"),
    "answered_cost": dollars("182.880000"),
    "idle_cost": dollars("98.320000"),
    "unattributed_cost": dollars("13.760000"),
    "uncounted_cost": None,
    "charged_cost": dollars("294.960000"),
    "requests": 712000,
    "succeeded_requests": 702286,
    "prompt_tokens": 961000000,
    "cached_tokens": 310000000,
    "output_tokens": 188000000,
    "cost_per_1000_requests": dollars("0.420000"),
    "cost_per_million_tokens": dollars("0.256710"),
    "cost_per_million_prompt_tokens": dollars("0.206502"),
    "cost_per_million_cached_tokens": dollars("0.020650"),
    "cost_per_million_output_tokens": dollars("0.826008"),
    "decode_ratio": 0.526481,
    "measured_ratio": 0.0,
    "counted_ratio": 1.0,
    "coverage": 0.98,
    "costless_requests": 0,
    "gpu_hours": 24.0,
    "unpriced_hours": 0.0,
    "status": "estimated",
}
_META: dict[str, Any] = {
    "window": {
        "text": "30d",
        "starts_at": "2026-02-01T00:00:00Z",
        "ends_at": "2026-03-03T00:00:00Z",
        "zone": "UTC",
    },
    "basis": "effective",
    "load": "loaded",
    "allocation": "allocation",
    "currency": "USD",
    "status": "estimated",
    "statuses": ["estimated"],
    "coverage": 0.98,
    "as_of": "2026-03-02T11:00:00Z",
    "pending_hours": 13,
}
_KEYS: dict[str, Any] = {
    "service": {"id": 12, "name": "chat"},
    "team": None,
    "feature": None,
    "part": None,
    "day": None,
    "week": None,
    "month": None,
}
_SERVICE: dict[str, Any] = {
    "id": 12,
    "name": "chat",
    "kind": "serving",
    "team": {"id": 4, "name": "Research"},
}
_LATENCY: dict[str, Any] = {
    "told_by": "gateway",
    "requests": 702286,
    "quantiles": [{"ratio": 0.95, "seconds": 1.84, "is_over": False}],
}
UNIT_COSTS = answered(
    "Unit costs",
    {
        "meta": _META,
        "totals": _SUMS,
        "results": [_KEYS | _SUMS],
        "next": None,
        "previous": None,
    },
)
SERVICES = listed("Services", _SERVICE | _SUMS)
SERVICE = answered(
    "Service",
    {
        "meta": _META,
        **_SERVICE,
        **_SUMS,
        "features": [_KEYS | {"feature": "ask", "part": "answered"} | _SUMS],
        "latency": _LATENCY,
        "first_token": None,
        "objectives": [
            {
                "id": 3,
                "feature": "",
                "measure": "latency",
                "within_seconds": 2.0,
                "target_ratio": 0.95,
                "budget_days": 28,
                "requests": 702286,
                "met_ratio": 0.962,
                "at_least_ratio": 0.955,
                "budget_left_ratio": 0.24,
                "ends_at": None,
            }
        ],
        "changes": [
            {
                "at": "2026-02-14T09:30:00Z",
                "kind": "deploy",
                "name": "chat 2.4.0",
                "feature": "",
            }
        ],
    },
)
