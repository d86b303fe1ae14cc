"""The keys of a review: sections, units, parts of idle, verdicts; and what each is called."""

from collections.abc import Mapping

WORKLOADS, VARIANCE, IDLE, COMMITMENTS = "workloads", "variance", "idle", "commitments"
BUDGETS, ALERTS, RECOMMENDATIONS, DATA_QUALITY = (
    "budgets",
    "alerts",
    "recommendations",
    "data_quality",
)
SECTIONS: Mapping[str, str] = {
    VARIANCE: "What moved the cost",
    WORKLOADS: "Workloads and verdicts",
    IDLE: "Idle, in four numbers",
    COMMITMENTS: "Commitments",
    BUDGETS: "Forecast against budget",
    ALERTS: "Alerts and anomalies",
    RECOMMENDATIONS: "Recommendations and proven savings",
    DATA_QUALITY: "How good the data is",
}
"""The sections by key, in their order, and what they are headed."""


UNIT_WORDS: Mapping[str, str] = {
    "thousand_requests": "1,000 requests",
    "million_tokens": "1 M tokens",
    "finished_run": "finished run",
    "good_checkpoint": "good checkpoint",
    "active_gpu_hour": "active GPU-hour",
    "week": "week",
}
"""What a workload's output is counted in, and how one of it is called."""
IDLE_WORDS: Mapping[str, str] = {
    "idle_while_allocated": "Otherwise idle while allocated",
    "unallocated": "Unallocated",
    "stranded": "Stranded",
    "out_of_service": "Out of service",
}
VERIFIED, FAILED, INCONCLUSIVE = "verified", "failed", "inconclusive"
"""What a saving that was measured is called."""
VERDICT_WORDS: Mapping[str, str] = {
    "earns": "earns",
    "shrink": "shrink",
    "retire": "retire",
    "unknown": "unknown",
}
