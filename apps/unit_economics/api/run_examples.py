"""Examples of runs, with their figures and costs."""

from typing import Any

from apps.ledger.rest import meters
from apps.web.rest.examples import answered, dollars, listed

_RUN: dict[str, Any] = {
    "id": 2,
    "key": "llm-7b-v3",
    "team": {"id": 4, "name": "Research"},
    "workload": None,
    "job_ids": [31],
    "states": ["COMPLETED"],
    "started_at": "2026-03-02T10:00:00Z",
    "ended_at": "2026-03-02T11:00:00Z",
    "status": "finished",
    "attempts": 2,
    "wall_seconds": 3600.0,
    "gpus": 8,
    "gpu_model": "NVIDIA H100 80GB HBM3",
    "cost": dollars("98.320000"),
    "gpu_hours": 8.0,
    "unpriced_hours": 0.0,
    "energy_joules": 17280000.0,
    "coverage": 1.0,
    "told_ratio": 0.98,
    "goodput_ratio": 0.81,
    "data_wait_ratio": 0.06,
    "tokens": 216000000,
    "examples": None,
    "tokens_per_second": 60000.0,
    "mfu_ratio": 0.36385,
    "mfu_doubt": None,
    "tensor_active_ratio": 0.41,
    "meters": meters.EXAMPLE,
    "scaling_ratio": 0.93,
    "first_good_seconds": 4500.0,
    "good_checkpoints": 4,
    "cost_per_checkpoint": dollars("24.580000"),
    "cost_per_million_tokens": dollars("0.455185"),
    "figures_at": "2026-03-02T11:10:00Z",
}
_AMOUNTS: dict[str, Any] = {
    "cost": dollars("98.320000"),
    "list_cost": dollars("98.320000"),
    "contracted_cost": dollars("98.320000"),
    "billed_cost": None,
    "marginal_cost": dollars("98.320000"),
    "loaded_cost": dollars("98.320000"),
    "gpu_hours": 8.0,
    "unpriced_hours": 0.0,
    "energy_joules": 17280000.0,
}
_BUCKETS: list[dict[str, Any]] = [_AMOUNTS | {"bucket": "productive"}]
_COSTS: dict[str, Any] = {
    "run": {"id": 2, "name": "llm-7b-v3"},
    "currency": "USD",
    "status": "estimated",
    "coverage": 1.0,
    "told_ratio": 0.98,
    "as_of": "2026-03-02T11:10:00Z",
    "pending_days": 0,
    "numbers": [
        {"figure": "tokens_per_second", "value": 60000.0, "doubt": None},
        {"figure": "mfu", "value": 0.36385, "doubt": None},
        {"figure": "scaling", "value": 0.93, "doubt": None},
        {"figure": "first_good", "value": 4500.0, "doubt": None},
        {"figure": "checkpoint_cost", "value": 24.58, "doubt": None},
    ],
    "totals": _AMOUNTS,
    "buckets": _BUCKETS,
    "days": [_AMOUNTS | {"day": "2026-03-02", "buckets": _BUCKETS}],
    "jobs": [
        _AMOUNTS
        | {
            "id": 31,
            "raw_id": "4711",
            "restart_count": 0,
            "state": "COMPLETED",
            "started_at": "2026-03-02T10:00:00Z",
            "ended_at": "2026-03-02T11:00:00Z",
            "buckets": _BUCKETS,
        }
    ],
}
RUNS = listed("Runs", _RUN)
RUN = answered("Run", _RUN)
RUN_COSTS = answered("Run costs", _COSTS)
