"""Examples of scenarios, their runs and their answers."""

from typing import Any

from apps.web.rest.examples import answered, listed, sent

SCENARIO: dict[str, Any] = {
    "name": "answer box",
    "currency": "USD",
    "draws": 100,
    "demand": {
        "million_tokens": {"low": 20000, "likely": 38000, "high": 60000},
        "input_share": 0.8,
        "monthly_growth": 0.05,
    },
    "self_host": {
        "fixed": {"engineering": 9000},
        "pools": [
            {
                "name": "engine",
                "gpus": 8,
                "gpu_hour": 2.5,
                "input_tokens_per_second": 20000,
                "output_tokens_per_second": 4000,
                "headroom": 0.7,
                "least_replicas": 2,
            }
        ],
    },
    "api": {
        "name": "an API model",
        "prices": [{"starts_on": "2026-01-15", "input": 0.8, "output": 3.2}],
    },
    "levers": [{"name": "FP8 weights", "throughput_factor": 1.5}],
    "adaptations": [
        {
            "name": "long prompt",
            "input_tokens": 3500,
            "output_tokens": 300,
            "input": 0.8,
            "output": 3.2,
        }
    ],
}
_COSTS = {
    "million_tokens": 38000.0,
    "self_host_month": 38200.0,
    "self_host_parts": {
        "engineering": 9000.0,
        "one-time cost, a month of its life": 0.0,
        "committed replicas": 0.0,
        "replicas for availability": 29200.0,
        "further replicas": 0.0,
    },
    "api_month": 48640.0,
    "savings_month": 10440.0,
    "self_host_per_million": 1.005263,
    "api_per_million": 1.28,
    "cheaper": "self_host",
    "is_served": True,
    "pools": [
        {
            "name": "engine",
            "least_replicas": 2,
            "mean_replicas": 2.0,
            "most_replicas": 2,
            "utilization": 0.650685,
            "million_tokens_per_replica": 20440.0,
        }
    ],
}
_BREAK_EVEN = {
    "first_million_tokens": 29843.75,
    "durable_million_tokens": 41250.0,
    "months_until_durable": 1.682,
    "utilization": 0.390625,
    "cost_at_scale": 0.714286,
    "cheaper_at_first": "api",
    "crossings": [
        {"million_tokens": 29843.75, "cheaper": "self_host", "replicas": [2]},
        {"million_tokens": 40880.0, "cheaper": "api", "replicas": [3]},
        {"million_tokens": 41250.0, "cheaper": "self_host", "replicas": [3]},
    ],
    "searched_to": 93333.333333,
    "ended_by": "nothing_turns_beyond",
}
_SPREAD = {"p10": 29843.75, "p50": 29843.75, "p90": 29843.75}
_ANSWER: dict[str, Any] = {
    "name": "answer box",
    "on": "2026-03-02",
    "currency": "USD",
    "draws": 100,
    "seed": 1,
    "price_in_force": {
        "starts_on": "2026-01-15", "input": 0.8, "output": 3.2, "cached": None,
        "batch_discount": 0.0,
    },
    "method": "crossover 1",
    "costs": _COSTS,
    "advice": "self_host",
    "reasons": ["self-hosting is cheaper in 84% of 100 draws"],
    "uncertainty": {
        "draws": 100,
        "savings": {"p10": -2413.59, "p50": 7661.74, "p90": 13325.67},
        "self_host_cheaper_share": 0.84,
        "break_even_draws": 100,
        "first_break_even": _SPREAD,
        "durable_break_even": _SPREAD,
        "durable_share": 1.0,
        "served_share": 1.0,
    },
    "tornado": [
        {
            "name": "demand.million_tokens", "low": 20000.0, "high": 60000.0,
            "savings_at_low": -12600.0, "savings_at_high": 24000.0,
        }
    ],
    "must_be_true": [
        {"name": "self_host.pools[0].gpu_hour", "now": 2.5, "needed": 3.393836, "at_least": False}
    ],
    "levers": [
        {
            "name": "FP8 weights", "self_host_month": 38200.0, "api_month": 48640.0,
            "first": 29843.75, "durable": 29843.75, "is_served": True,
        }
    ],
    "cheapest_ways": [{"requests": 0.0, "name": "long prompt"}],
    "risks": ["nothing is said of quality: it compares costs alone"],
    "gates": [
        {
            "name": "capacity", "is_passed": True,
            "says": "600 million tokens a month, and the replicas allowed serve 2,400", "fallback": "",
        }
    ],
    "break_even": _BREAK_EVEN,
}  # fmt: skip
_BRIEF: dict[str, Any] = {
    "id": 1,
    "name": "answer box",
    "owner": None,
    "team": None,
    "service": None,
    "created_at": "2026-03-02T12:00:00Z",
    "changed_at": "2026-03-02T12:00:00Z",
    "is_waiting": False,
    "ran_at": "2026-03-02T12:00:20Z",
    "advice": "self_host",
    "flipped_from": None,
    "flipped_at": None,
    "refusal": "",
}
_RUN: dict[str, Any] = {
    "id": 1,
    "ran_at": "2026-03-02T12:00:20Z",
    "is_asked": True,
    "on": "2026-03-02",
    "advice": "self_host",
    "flipped_from": None,
    "refusal": "",
    "million_tokens": 38000.0,
    "self_host_per_million": 1.005263,
    "api_per_million": 1.28,
    "ledger_per_million": None,
    "savings_p10": -2413.59,
    "savings_p50": 7661.74,
    "savings_p90": 13325.67,
    "first_million_tokens": 29843.75,
    "durable_million_tokens": 41250.0,
    "moved": [],
    "digest": "5f2b6d0c9f5f4f0a2c7b8e9d1a3c4e5f60718293a4b5c6d7e8f9012345678abc",
}
_NOT_RUN = {"is_waiting": True, "ran_at": None, "advice": None}
_KEPT = _BRIEF | _NOT_RUN | {"scenario": SCENARIO, "answer": None}
_ANSWERED = _BRIEF | {"scenario": SCENARIO, "answer": _ANSWER}
SCENARIOS = listed("Kept scenarios", _BRIEF)
RUNS = listed("Runs", _RUN)
NEW_SCENARIO = sent("New scenario", {"scenario": SCENARIO | {"name": "answer box of search"}})
KEPT_SCENARIO = answered("Kept", _KEPT, 201)
RUN_SCENARIO = answered("With its answer", _ANSWERED)
WAITING_SCENARIO = answered("To be run", _ANSWERED | {"is_waiting": True}, 202)
TRIED_SCENARIO = sent("Scenario", {"scenario": SCENARIO})
ANSWER = answered("Answer", _ANSWER)
