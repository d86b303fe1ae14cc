"""Examples of what schedulers tell of jobs, and of the answers."""

from apps.web.rest.examples import answered, listed, sent

_EVENT = {
    "cluster": "atlas",
    "raw_id": "4712",
    "submitted_at": "2026-03-02T10:00:00Z",
    "event": "start",
    "at": "2026-03-02T12:02:00Z",
    "user": "ada",
    "account": "research",
    "partition": "h100",
    "labels": {"project": "llm"},
    "state": "RUNNING",
    "allocations": [{"node": "gpu-01", "gpus": 8}],
}
EVENT = sent("Start", _EVENT)
RECORDED = answered("Recorded", {"job": 31, "state": "RUNNING", "changed": True, "remarks": []})
BULK = sent("Bulk", {"events": [_EVENT]})
BULK_RECORDED = answered(
    "Bulk recorded",
    {
        "accepted": 1,
        "changed": 1,
        "results": [{"row": 0, "job": 31, "state": "RUNNING", "changed": True}],
        "errors": [],
        "remarks": [],
    },
)
_TEAM = {"id": 4, "name": "Research"}
_WORKLOAD_NAMED = {"id": 9, "name": "llm-pretrain"}
_JOB = {
    "id": 31,
    "cluster": "atlas",
    "raw_id": "4711",
    "restart_count": 0,
    "state": "COMPLETED",
    "submitted_at": "2026-03-02T10:00:00Z",
    "started_at": "2026-03-02T10:00:00Z",
    "ended_at": "2026-03-02T11:00:00Z",
    "name": "pretrain-7b",
    "user": "ada",
    "account": "research",
    "partition": "h100",
    "team": _TEAM,
    "workload": _WORKLOAD_NAMED,
}
_HELD = {
    "node": {"id": 12, "name": "gpu-01"},
    "gpus": 8.0,
    "gpus_exact": "8",
    "devices": None,
    "divided_evenly": False,
    "gpus_unknown": False,
    "starts_at": "2026-03-02T10:00:00Z",
    "ends_at": "2026-03-02T11:00:00Z",
}
JOBS = listed("Jobs", _JOB)
JOB = answered(
    "Job",
    _JOB
    | {
        "labels": {},
        "allocations": [_HELD],
        "events": [{"event": "start", "at": "2026-03-02T10:00:00Z", "source": "scheduler"}],
    },
)
ALLOCATIONS = listed(
    "Allocations", {"id": 77, "job": {"id": 31, "raw_id": "4711"}, "team": _TEAM, **_HELD}
)

_WORKLOAD = {"id": 9, "name": "llm-pretrain", "team": _TEAM, "kind": "training"}
WORKLOADS = listed("Workloads", _WORKLOAD)
WORKLOAD = answered("Workload", _WORKLOAD, 200, 201)
NEW_WORKLOAD = sent("New workload", {"name": "search", "team": "Research", "kind": "serving"})

_RULE = {
    "id": 6,
    "priority": 10,
    "team": _TEAM,
    "workload": _WORKLOAD_NAMED,
    "cluster": None,
    "account": "research",
    "partition": "",
    "namespace": "",
    "user": "",
    "label": "",
    "name": "",
    "starts_at": None,
    "ends_at": None,
}
RULES = listed("Rules", _RULE)
RULE = answered("Rule", _RULE, 200, 201)
NEW_RULE = sent(
    "New rule", {"priority": 20, "team": "Research", "account": "vision", "user": "dee"}
)
RULE_END = sent("End", {"ended_at": "2026-03-02T18:00:00Z"})
ENDED_RULE = answered("Ended rule", _RULE | {"ends_at": "2026-03-02T18:00:00Z"})
MOVES = answered(
    "Moves",
    {
        "matched_jobs": 1,
        "matched_gpu_hours": 8.0,
        "moves": [
            {
                "from_owner": {"team": None, "workload": None},
                "to_owner": {"team": _TEAM, "workload": _WORKLOAD_NAMED},
                "jobs": 1,
                "gpu_hours": 8.0,
            }
        ],
    },
)

_HISTOGRAM = {"bounds_seconds": [0.5, 1.0, 2.5], "counts": [310, 540, 120, 30]}
_COUNTED = {
    "source": "gateway",
    "source_key": "gateway-eu",
    "service": "answer-box",
    "feature": "search",
    "model": "llama-3.1-8b",
    "hour": "2026-03-02T12:00:00Z",
    "revision": 1,
    "requests": 1000,
    "succeeded": 990,
    "prompt_tokens": 1250000,
    "cached_tokens": 400000,
    "output_tokens": 380000,
}
COUNTED = sent("Counted", {"rows": [{**_COUNTED, "latency": _HISTOGRAM}]})
COUNTED_TAKEN = answered(
    "Counts taken",
    {
        "accepted": 1,
        "changed": 1,
        "unmatched": 0,
        "results": [{"row": 0, "known": True, "changed": True}],
        "errors": [],
    },
)
REQUEST_HOURS = listed(
    "Request hours",
    {
        **_COUNTED,
        "workload": {"id": 12, "name": "answer-box"},
        "prefill_seconds": None,
        "decode_seconds": None,
        "split_kind": "",
    },
)

RUN_REPORT = sent(
    "Progress",
    {
        "run": "llm-7b-v3",
        "workload": "llm-pretrain",
        "attempt": "19a1b2c3d4e-5f-0",
        "rank": 0,
        "world_size": 64,
        "restarts": 0,
        "host": "gpu-01",
        "job": {"scheduler": "slurm", "raw_id": "4711", "cluster": "atlas"},
        "began_at_ms": 1772452920000,
        "ended_at_ms": None,
        "status": "",
        "model": {"active_parameters": 7000000000, "precision": "bf16"},
        "tags": {"dataset": "web-2"},
        "sequence": 3,
        "windows": [
            {
                "starts_at_ms": 1772452980000,
                "ends_at_ms": 1772452990000,
                "steps": 2,
                "first_step": 10,
                "last_step": 11,
                "tokens": 8388608,
                "examples": 2048,
                "flops": 0.0,
                "productive_ms": 9100,
                "phases_ms": {"data": 900},
                "step_times_ms": [4540.5, 4559.5],
            }
        ],
        "events": [{"kind": "good_checkpoint", "at_ms": 1772452990000, "step": 11, "metric": 2.71}],
        "dropped": 0,
    },
)
RUN_REPORTED = answered(
    "Taken",
    {
        "accepted": 1,
        "changed": 1,
        "results": [{"row": 0, "run": 2, "changed": True}],
        "errors": [],
    },
)

_SERVICE_NAMED = {"id": 12, "name": "answer-box"}
_OBJECTIVE = {
    "id": 3,
    "workload": _SERVICE_NAMED,
    "feature": "",
    "measure": "latency",
    "within_seconds": 2.5,
    "target_ratio": 0.99,
    "budget_days": 28,
    "starts_at": "2026-03-02T00:00:00Z",
    "ends_at": None,
}
OBJECTIVES = listed("Objectives", _OBJECTIVE)
NEW_OBJECTIVE = sent(
    "New objective",
    {
        "team": "Research",
        "workload": "answer-box",
        "within_seconds": 2.5,
        "target_ratio": 0.99,
        "starts_at": "2026-03-02T00:00:00Z",
    },
)
OBJECTIVE = answered("Objective", _OBJECTIVE, 200, 201)
OBJECTIVE_END = sent("End of an objective", {"ended_at": "2026-06-01T00:00:00Z"})
ENDED_OBJECTIVE = answered("Ended objective", _OBJECTIVE | {"ends_at": "2026-06-01T00:00:00Z"})

_CHANGE = {
    "id": 8,
    "workload": _SERVICE_NAMED,
    "feature": "",
    "kind": "model",
    "name": "answer-box 2.4",
    "at": "2026-03-02T12:00:00Z",
    "run": "llm-7b-v3",
}
CHANGES = listed("Changes", _CHANGE)
NEW_CHANGE = sent(
    "New change",
    {
        "team": "Research",
        "workload": "answer-box",
        "kind": "model",
        "name": "answer-box 2.4",
        "at": "2026-03-02T12:00:00Z",
        "run": "llm-7b-v3",
    },
)
CHANGE = answered("Change", _CHANGE, 200, 201)
