"""Examples of portfolios, and of asking for one."""

from typing import Any

from apps.web.rest.examples import answered, listed, sent

RUN: dict[str, Any] = {
    "id": 1,
    "address": "/api/v1/portfolio/runs/1",
    "asked_at": "2026-11-23T09:00:00Z",
    "asked_by": None,
    "is_weekly": False,
    "state": "done",
    "found": 7,
    "of": 8,
    "ended_at": "2026-11-23T09:00:09Z",
    "refusal": "",
    "digest": "5f2b6d0c9f5f4f0a2c7b8e9d1a3c4e5f60718293a4b5c6d7e8f9012345678abc",
}
WAITING = RUN | {"state": "waiting", "found": 0, "of": 0, "ended_at": None, "digest": ""}
CHOSEN = {
    "name": "chosen",
    "lots": {"a year": 1},
    "mean_cost": 1_237_831.0,
    "tail_cost": 1_240_102.0,
    "effective_savings_rate": 0.385,
    "blocked_part": 0.0,
    "limited_part": 0.0,
}
FAMILY = "NVIDIA H100 80GB HBM3, aws us-east-1"
SAVINGS = {
    "families": [FAMILY],
    "on_demand": 134_400.0,
    "paid": 118_272.0,
    "least": 64_512.0,
    "effective_savings_rate": 0.12,
    "attainable_savings_rate": 0.52,
}
ANSWER: dict[str, Any] = {
    "name": "GPUs of the next 12 months",
    "on": "2026-11-23",
    "currency": "USD",
    "hours": 8_760,
    "scenarios": 50,
    "seed": 1,
    "risk_weight": 0.3,
    "tail": 0.9,
    "blocked_tail": 0.0,
    "budget": None,
    "upfront_budget": None,
    "most_blocked": None,
    "method": "portfolio 1",
    "gap": 0.0002,
    "keeps_limit": True,
    "chosen": CHOSEN,
    "compared": [CHOSEN | {"name": "nothing new", "lots": {}}],
    "offers": [
        {
            "name": "a year",
            "family": FAMILY,
            "kind": "reserved",
            "lots": 1,
            "gpus": 8,
            "rate": 4.3344,
            "upfront": 0.0,
            "break_even_utilization": 0.7,
            "one_more_lot": -3_724.0,
            "last_lot": 13_684.0,
            "pays_up_to": 3.9093,
            "history_days": 180.0,
            "caution": "",
        }
    ],
    "families": [
        {
            "name": FAMILY,
            "parts": {
                "demand_hours": 345_411.0,
                "committed_hours": 280_320.0,
                "committed_used_hours": 278_001.0,
                "spot_hours": 60_010.0,
                "on_demand_hours": 7_400.0,
                "short_hours": 0.0,
                "spot_cost": 150_025.0,
                "on_demand_cost": 45_806.0,
                "short_cost": 0.0,
                "on_demand_equivalent": 2_138_094.0,
            },
            "utilization": 0.99,
            "tenth_utilization": 0.97,
            "gpu_hour_worth": 3.91,
            "duration": [
                {
                    "share": 0.005,
                    "demand": 61.0,
                    "owned": 0.0,
                    "committed": 32.0,
                    "on_demand": 5.0,
                    "spot": 24.0,
                    "blocked": 0.0,
                }
            ],
            "waiting_hours": 0.0,
            "waiting_cost": 0.0,
        }
    ],
    "ladder": [
        {
            "on": "2026-11-23",
            "family": FAMILY,
            "number": 1,
            "in_months": 0,
            "lots": {"a year": 1},
            "from_gpus": 24.0,
            "to_gpus": 32.0,
            "break_even_utilization": 0.7,
            "expected_utilization": 0.95,
            "pays_in": 1.0,
            "waiting_cost": 0.0,
        }
    ],
    "changes": [{"name": "demand -20%", "lots": {"a year": 1}, "keeps_limit": True}],
    "answered_by": "chosen",
    "gates": [
        {
            "name": "baseline",
            "is_passed": True,
            "says": "on its own history it cost 301,000, and look-back rule 309,400",
            "fallback": "",
        },
        {
            "name": "capacity",
            "is_passed": True,
            "says": f"{FAMILY}: at most 31 GPUs at once, and 32 are there",
            "fallback": "",
        },
        {
            "name": "history",
            "is_passed": True,
            "says": "a year: 180 days of history for a term of 365 days",
            "fallback": "",
        },
        {
            "name": "parts",
            "is_passed": True,
            "says": "its families ask for 24.1 GPUs on the mean, and 25 are forecast of all together",
            "fallback": "",
        },
    ],
    "tried": [{"name": "chosen", "cost": 301_000.0}, {"name": "look-back rule", "cost": 309_400.0}],
    "held_out": {
        "hours": 730,
        "families": [FAMILY],
        "refusal": "",
        "choices": [
            {
                "name": "chosen",
                "lots": {"a year": 1},
                "cost": 101_300.0,
                "effective_savings_rate": 0.41,
                "blocked_part": 0.0,
            }
        ],
    },
    "bought": {
        "months": [],
        "refusal": "the ledger begins on 2026-11-01: no month since is over",
        "sources": [],
        "savings": SAVINGS,
        "families": [],
    },
    "interruptible": [{"name": FAMILY, "share": 0.57}],
    "left_out": [],
    "notes": ["No spot price is on record of NVIDIA L4, aws us-east-1: none of it is run on spot."],
    "question": {
        "name": "GPUs of the next 12 months",
        "on": "2026-11-23",
        "currency": "USD",
        "months": 12,
        "scenarios": 50,
        "families": [{"name": FAMILY, "on_demand": 6.19, "demand": {"hours": [40.0, 48.0]}}],
        "offers": [
            {
                "name": "a year",
                "family": FAMILY,
                "kind": "reserved",
                "term_months": 12,
                "hourly": 4.3344,
            }
        ],
        "held": [],
    },
}
PORTFOLIO = answered("A portfolio", RUN | {"answer": ANSWER})
UNANSWERED = answered("One that waits", WAITING | {"answer": None})
RUNS = listed("Runs", RUN)
ASKED = answered("It waits", WAITING, 202)
CANCELLED = answered("Called off", WAITING | {"state": "cancelled", "ended_at": RUN["ended_at"]})
ASSUMPTIONS = sent(
    "Assumptions",
    {
        "months": 12,
        "monthly_growth": 0.03,
        "growth_spread": 0.02,
        "risk_weight": 0.3,
        "most_blocked": 0.01,
        "offers": [
            {
                "name": "a year, quoted",
                "family": FAMILY,
                "kind": "reserved",
                "term_months": 12,
                "hourly": 4.1,
                "lot": 8,
            }
        ],
    },
)
