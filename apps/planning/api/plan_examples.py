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
            "low": 0.8,
            "high": 1.3,
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
BANDS: dict[str, Any] = {
    "planned_gpu_hours": {"low": 98_000.0, "likely": 120_404.3, "high": 151_000.0},
    "expected_gpu_hours": {"low": 60_100.0, "likely": 70_037.2, "high": 82_400.0},
    "total_gpu_hours": {"low": 165_300.0, "likely": 190_441.5, "high": 224_900.0},
    "above_committed_gpu_hours": {"low": 9_800.0, "likely": 21_050.0, "high": 40_700.0},
    "waiting_gpu_hours": {"low": 0.0, "likely": 0.0, "high": 1_900.0},
    "wait_hours": {"low": 0.0, "likely": 0.0, "high": 29.7},
    "planned_cost": {
        "low": dollars("674240.000000"),
        "likely": dollars("828381.584000"),
        "high": dollars("1038880.000000"),
    },
    "total_cost": {
        "low": dollars("1137264.000000"),
        "likely": dollars("1310240.000000"),
        "high": dollars("1547312.000000"),
    },
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
    "forecast_until": "2027-09-17T00:00:00Z",
    "forecast_made_at": "2026-03-17T04:00:00Z",
    "bands": BANDS,
    "longest_wait": {"low": 88.0, "likely": 210.5, "high": 402.1},
    "queue_chance": 0.97,
    "gates": [
        {
            "name": "capacity",
            "is_passed": False,
            "says": "at most 92 GPUs in the mean of a day at once, and 64 are there",
            "fallback": "what is there; 21,504 GPU-hours beyond it wait, priced at 129,024",
        }
    ],
}
ONE_EXAMPLE: dict[str, Any] = EXAMPLE | {
    "items": [
        {
            "id": 1,
            "kind": "training",
            "name": "pretrain-13b",
            "starts_on": "2026-04-13",
            "gpu_hours": 109_494.0,
            "low": 0.8,
            "high": 1.3,
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
            "days": 7,
            "committed_gpu_hours": 10_752.0,
            "bands": BANDS,
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
            "days": 2,
            "forecast_share": 1.0,
            "committed_gpu_hours": 3_072.0,
            "expected_gpu_hours": 2_952.0,
            "planned_gpu_hours": 0.0,
            "total_gpu_hours": 2_952.0,
            "above_committed_gpu_hours": 0.0,
            "waiting_gpu_hours": 0.0,
            "wait_hours": 0.0,
            "price_factor": 1.0,
            "bands": BANDS,
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
