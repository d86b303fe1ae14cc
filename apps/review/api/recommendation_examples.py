"""A recommendation as REST answers it, in examples."""

from typing import Any

from apps.web.rest.examples import dollars

EXAMPLE: dict[str, Any] = {
    "id": 1,
    "matter": "idle_holder:7:2",
    "kind": "idle_holder",
    "title": "Give back GPUs that jupyter holds idle on h100",
    "subject": "jupyter",
    "team": {"id": 3, "name": "Language models"},
    "workload": {"id": 7, "name": "jupyter"},
    "spend": dollars("40179.200000"),
    "saving_low": dollars("8609.830000"),
    "saving_likely": dollars("12914.740000"),
    "saving_high": dollars("17219.650000"),
    "range_basis": "measured",
    "frees_gpu_hours": None,
    "one_time": dollars("0.000000"),
    "effort_hours": 4,
    "risk": "low",
    "risk_reason": "who comes back to it waits for a GPU",
    "why": "43% of the GPU time that it held in the last 4 weeks was idle.",
    "computed": "GPU-hours held idle in a month × the marginal price of a GPU-hour there.",
    "doubts": [
        "looked for weeks in which it needed its GPUs, in the last 28 days: in the least idle of them 39% of what it held was idle"
    ],
    "evidence": [
        {
            "what": "GPU-hours held idle, week by week",
            "figure": "576, 576, 570, 580",
            "link": "/costs/workloads/7?window=2026-10-26%2F2026-11-23",
        }
    ],
    "exclusive_group": 1,
    "is_counted": True,
    "first_week": "2026-11-16",
    "last_week": "2026-11-23",
    "state": "open",
    "state_at": "2026-11-16T07:00:00Z",
    "state_by": None,
    "state_reason": "",
    "owner": None,
    "due_on": None,
    "claimed_at": None,
    "snoozed_until": None,
    "done_at": None,
    "kind_record": {"cases": 0, "verified": 0, "realised_ratio": None, "factor": 1.0},
}
ONE = EXAMPLE | {
    "steps": [{"at": "2026-11-16T07:00:00Z", "verb": "proposed", "who": None, "why": ""}],
    "measurements": [],
    "outcomes": [],
}
BECAUSE = {"reason": "The launch needs them until June"}
