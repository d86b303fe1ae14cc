"""Examples of what schedulers tell of jobs, and of the answers."""

from apps.accounts.rest.examples import answered, sent

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
RECORDED = answered("Recorded", {"job": 31, "state": "RUNNING", "changed": True})
BULK = sent("Bulk", {"events": [_EVENT]})
BULK_RECORDED = answered(
    "Bulk recorded",
    {
        "accepted": 1,
        "changed": 1,
        "results": [{"row": 0, "job": 31, "state": "RUNNING", "changed": True}],
        "errors": [],
    },
)
JOB = answered(
    "Job",
    {
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
        "labels": {},
    },
)
