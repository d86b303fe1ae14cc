"""Examples of what-if plans in the schema of the REST surface."""

from typing import Any

from apps.web.rest.examples import dollars

NEW: dict[str, Any] = {
    "name": "spring",
    "pool": "h100",
    "first_day": "2026-03-30",
    "weeks": 26,
    "growth_per_month": 0.02,
    "items": [
        {
            "kind": "training",
            "name": "pretrain-13b",
            "starts_on": "2026-04-13",
            "gpus": 64,
            "parameters": 13e9,
            "tokens": 2e12,
            "mfu": 0.4,
        },
        {
            "kind": "launch",
            "name": "assistant",
            "starts_on": "2026-05-04",
            "requests_by_week": [1e6, 2e6, 2.5e6],
            "tokens_per_request": 1800,
            "tokens_per_gpu_hour": 9e6,
        },
        {"kind": "price", "name": "renewal", "starts_on": "2026-06-01", "factor": 0.9},
    ],
}
EXAMPLE: dict[str, Any] = {
    "id": 1,
    "name": "spring",
    "description": "The next model on what is reserved.",
    "variant_of": None,
    "owner": "Finn",
    "pool": {"id": 1, "name": "h100"},
    "gpu_model": "",
    "first_day": "2026-03-30",
    "weeks": 26,
    "growth_per_month": 0.02,
    "changed_at": "2026-03-17T12:00:00Z",
    "planned_gpu_hours": 120_404.3,
    "planned_cost": dollars("828381.584000"),
    "total_cost": dollars("1310240.000000"),
    "committed_gpus": 64,
    "longest_wait_hours": 210.5,
    "price_of_gpu_hour": dollars("6.880000"),
    "price_basis": "list",
    "forecast_until": "2026-03-31T02:00:00Z",
}
ONE_EXAMPLE: dict[str, Any] = EXAMPLE | {
    "items": [
        {
            "id": 1,
            "kind": "training",
            "name": "pretrain-13b",
            "starts_on": "2026-04-13",
            "gpu_hours": 109_494.0,
            "gpus": 64,
            "parameters": 13e9,
            "tokens": 2e12,
            "mfu": 0.4,
            "like_run": "",
            "requests_by_week": None,
            "tokens_per_request": None,
            "tokens_per_gpu_hour": None,
            "like_service": None,
            "factor": None,
        }
    ],
    "by_week": [
        {
            "first_day": "2026-03-30",
            "expected_gpu_hours": 10_332.0,
            "forecast_share": 0.15,
            "planned_gpu_hours": 0.0,
            "total_gpu_hours": 10_332.0,
            "above_committed_gpu_hours": 0.0,
            "waiting_gpu_hours": 0.0,
            "wait_hours": 0.0,
            "price_factor": 1.0,
            "planned_cost": dollars("0.000000"),
            "total_cost": dollars("71084.160000"),
        }
    ],
    "by_month": [
        {
            "month": "2026-03-01",
            "planned_cost": dollars("0.000000"),
            "total_cost": dollars("20309.760000"),
        }
    ],
}
NEW_ITEM: dict[str, Any] = NEW["items"][2]
EDIT: dict[str, Any] = {
    "name": "spring, later",
    "description": "The same, begun in May.",
    "first_day": "2026-05-04",
    "weeks": 26,
}
COPY: dict[str, Any] = {"name": "spring on a larger pool"}
CHANGE: dict[str, Any] = {
    "at": "2026-03-17T12:00:00Z",
    "who": "Finn",
    "verb": "changed",
    "kind": "planned work",
    "name": "pretrain-13b",
    "fields_changed": [{"name": "gpus", "old": "64", "new": "32"}],
}
