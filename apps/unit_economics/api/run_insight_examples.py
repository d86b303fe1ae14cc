"""Examples of what is told of runs, for the OpenAPI document."""

from apps.web.rest.examples import answered, dollars


def _range_example(value: float, low: float, high: float) -> dict[str, float]:
    return {"value": value, "low": low, "high": high}


BOTTLENECKS = answered(
    "Bottlenecks",
    {
        "words": "Starved: 15 % of GPU time waits for data; $240; storage: in 50 % of that time "
        "some task of the node waited for disks.",
        "cost": dollars("1600.000000"),
        "gpu_hours": 640.0,
        "told_ratio": 1.0,
        "verdicts": [
            {
                "bucket": "data_wait",
                "name": "Starved",
                "share_ratio": 0.15,
                "cost": dollars("240.000000"),
                "gpu_hours": 96.0,
                "words": "Starved: 15 % of GPU time waits for data; $240; storage: in 50 % of that "
                "time some task of the node waited for disks.",
                "causes_looked_for": True,
                "causes": [
                    {
                        "resource": "storage",
                        "ratio": 0.5,
                        "words": "storage: in 50 % of that time some task of the node waited for "
                        "disks",
                    }
                ],
            }
        ],
        "buckets": [
            {
                "bucket": "data_wait",
                "cost": dollars("240.000000"),
                "gpu_hours": 96.0,
                "unpriced_hours": 0.0,
                "share_ratio": 0.15,
            },
            {
                "bucket": "productive",
                "cost": dollars("1360.000000"),
                "gpu_hours": 544.0,
                "unpriced_hours": 0.0,
                "share_ratio": 0.85,
            },
        ],
    },
)
STRAGGLERS = answered(
    "Stragglers",
    {
        "words": "Rank 5 on gpu-02 holds every step up: 30 % of training time, $409.",
        "ranks": 16,
        "steps": 3200,
        "looked_from": "2026-03-02T10:00:00Z",
        "looked_to": "2026-03-02T12:00:00Z",
        "slowdown_factor": 1.430894,
        "wasted_ratio": 0.301136,
        "wasted_cost": dollars("409.545000"),
        "wasted_gpu_hours": 163.818,
        "slow_ranks": [
            {
                "rank": 5,
                "slow_ratio": 1.0,
                "median_seconds": 1.43,
                "usual_seconds": 1.0,
                "hosts": ["gpu-02"],
            }
        ],
    },
)
CHECKPOINTS = answered(
    "Checkpoints",
    {
        "advice": "Saves checkpoints too rarely: every 5 h of training, where every 46 min is "
        "best; that costs $5,310 a week.",
        "gpus": 64,
        "saves": 12,
        "write_seconds": 300.0,
        "cadence_seconds": 18000.0,
        "best_cadence_seconds": 2742.9,
        "young_cadence_seconds": 2939.4,
        "mtbf_seconds": 14400.0,
        "hazard": {
            "failures": 40,
            "exposed_gpu_hours": 10240.0,
            "per_gpu_hour": 0.00390625,
            "low_per_gpu_hour": 0.00283,
            "high_per_gpu_hour": 0.00525,
        },
        "weekly_cost": dollars("26880.000000"),
        "weekly_excess_cost": dollars("5310.000000"),
        "restore_tested_at": "2026-03-02T11:00:00Z",
    },
)
SCALING = answered(
    "Scaling",
    {
        "words": "2.00 × GPUs (32 → 64): 1.80 × as fast, costs 1.11 × as much; a model version then "
        "costs $41,300 ($39,000–$44,100).",
        "answer": {
            "from_gpus": 32,
            "to_gpus": 64,
            "speed_up": _range_example(1.8, 1.72, 1.86),
            "cost_multiplier": _range_example(1.1111, 1.0753, 1.1628),
            "version_tokens": 1_000_000_000_000,
            "version_hours": _range_example(258.0, 243.0, 275.0),
            "version_cost": {
                "value": dollars("41300.000000"),
                "low": dollars("39000.000000"),
                "high": dollars("44100.000000"),
            },
            "peak_gpus": 98.99,
            "gpu_model": "H100 SXM",
            "model": "7.00B parameters",
            "other_runs": 2,
        },
        "runs": [{"id": 2, "key": "llm-7b-v3", "gpus": 32, "tokens_per_second": 598000.0}],
        "points": [
            {
                "gpus": 64,
                "tokens_per_second": _range_example(1077000.0, 1029000.0, 1112000.0),
                "hours": _range_example(258.0, 243.0, 275.0),
                "cost": {
                    "value": dollars("41300.000000"),
                    "low": dollars("39000.000000"),
                    "high": dollars("44100.000000"),
                },
            }
        ],
    },
)
PROGRAMME = answered(
    "Programme",
    {
        "cost": dollars("13800.000000"),
        "gpu_hours": 5520.0,
        "unpriced_hours": 0.0,
        "energy_joules": 1.4e10,
        "cost_per_version": dollars("3450.000000"),
        "cost_per_million_tokens": dollars("0.013800"),
        "tokens": 1_000_000_000_000,
        "runs": 5,
        "experiments_per_week": 2.5,
        "goodput_ratio": 0.75,
        "told_ratio": 0.98,
        "failed_runs": 1,
        "failed_cost": dollars("1800.000000"),
        "failed_ratio": 0.130435,
        "versions": [{"name": "v3", "shipped_at": "2026-03-02T12:00:00Z", "run_id": 2}],
        "trend": [
            {
                "run": {"id": 2, "name": "llm-7b-v3"},
                "status": "finished",
                "began_at": "2026-03-02T10:00:00Z",
                "gpus": 32,
                "cost": dollars("12000.000000"),
                "tokens_per_second": 598000.0,
                "mfu_ratio": 0.4,
                "mfu_doubt": "",
                "tensor_active_ratio": None,
                "scaling_ratio": 0.9,
                "first_good_seconds": 86400.0,
                "checkpoint_cost": dollars("3000.000000"),
            }
        ],
    },
)
