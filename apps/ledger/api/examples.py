"""Examples of the ledger's answers."""

from typing import Any

from apps.ledger.rest import meters
from apps.web.rest.examples import answered, listed, sent

_SUMS: dict[str, Any] = {
    "cost": {"amount": "98.320000", "currency": "USD"},
    "direct_cost": {"amount": "98.320000", "currency": "USD"},
    "loaded_cost": {"amount": "98.320000", "currency": "USD"},
    "shared_cost": {"amount": "0.000000", "currency": "USD"},
    "gpu_hours": 9.0,
    "held_gpu_hours": 3.0,
    "observed_gpu_hours": 1.0,
    "unpriced_hours": 1.0,
    "core_hours": 0.0,
    "coverage": 0.333333,
    "meters": meters.EXAMPLE,
}
COSTS = answered(
    "Costs",
    {
        "meta": {
            "window": {
                "text": "2026-03-02",
                "starts_at": "2026-03-02T00:00:00Z",
                "ends_at": "2026-03-03T00:00:00Z",
                "zone": "UTC",
            },
            "basis": "effective",
            "currency": "USD",
            "status": "estimated",
            "statuses": ["estimated"],
            "coverage": 0.333333,
            "as_of": "2026-03-02T11:00:00Z",
            "pending_hours": 13,
        },
        "totals": _SUMS,
        "results": [_SUMS],
        "next": None,
        "previous": None,
    },
)

_AMOUNT = {"amount": "98.320000", "currency": "USD"}
_EXPLORED: dict[str, Any] = {
    "cost": _AMOUNT,
    "before_cost": _AMOUNT,
    "change": {"amount": "0.000000", "currency": "USD"},
    "state_waste_cost": _AMOUNT,
    "gpu_hours": 9.0,
    "before_gpu_hours": 9.0,
    "active_gpu_hours": 1.0,
    "held_gpu_hours": 3.0,
    "observed_gpu_hours": 1.0,
    "core_hours": 0.0,
    "unpriced_hours": 1.0,
    "coverage": 0.333333,
}
_WINDOW = {
    "text": "2026-03-02",
    "starts_at": "2026-03-02T00:00:00Z",
    "ends_at": "2026-03-03T00:00:00Z",
    "zone": "UTC",
}
EXPLORED = answered(
    "Costs by team and cluster against the day before",
    {
        "meta": {
            "window": _WINDOW,
            "compared_with": _WINDOW | {"text": ""},
            "group_by": ["team", "cluster"],
            "basis": "effective",
            "cost": "charged",
            "currency": "USD",
            "as_of_today": ["cluster"],
            "coverage": 0.333333,
            "as_of": "2026-03-02T11:00:00Z",
            "pending_hours": 13,
            "posted_later": _AMOUNT,
            "posted_earlier": None,
        },
        "totals": _EXPLORED,
        "variance": {
            **dict.fromkeys(("before", "after", "price", "capacity", "use", "mix"), _AMOUNT),
            "commitments": _AMOUNT,
            "other": _AMOUNT,
            "volume": _AMOUNT,
            "efficiency": _AMOUNT,
            "before_unpriced_hours": 0.0,
            "after_unpriced_hours": 1.0,
        },
        "results": [
            {
                "groups": [
                    {"by": "team", "name": "Research", "filter": "Research", "is_other": False},
                    {"by": "cluster", "name": "atlas", "filter": "atlas", "is_other": False},
                ],
                **_EXPLORED,
            }
        ],
        "next": None,
        "previous": None,
    },
)

_USD = {"amount": "98.320000", "currency": "USD"}
LINES = listed(
    "Lines",
    {
        "line": "2026-03/17",
        "hour": "2026-03-02T10:00:00Z",
        "node": {"id": 12, "name": "gpu-01"},
        "pool": {"id": 3, "name": "h100"},
        "state": "unobserved",
        "gpu_hours": 8.0,
        "team": {"id": 4, "name": "Research"},
        "workload": {"id": 9, "name": "llm-pretrain"},
        "job": {"id": 31, "raw_id": "4711"},
        "holder": None,
        "kind": "node_hour",
        "shared_cost": None,
        "shared_fee": None,
        "shared_by": None,
        "status": "estimated",
        "list_cost": _USD,
        "contracted_cost": _USD,
        "effective_cost": _USD,
        "billed_cost": None,
        "flags": [],
        "evidence": ["none"],
        "charge_id": 5,
        "rate_ids": [2],
        "policy_version": 1,
        "settlement_version": 1,
        "settled_at": "2026-03-02T13:00:00Z",
    },
)

_EXPORT = {
    "id": 3,
    "what": "lines",
    "form": "csv",
    "window": "2026-03",
    "asked": {"team": ["Research"]},
    "asked_by": "reports",
    "state": "queued",
    "rows": 0,
    "rows_estimated": None,
    "size_bytes": None,
    "sha256": None,
    "file": None,
    "failure": "",
    "asked_at": "2026-04-02T08:00:00Z",
    "ended_at": None,
    "expires_at": None,
    "teams": None,
}
EXPORTS = listed("Exports", _EXPORT)
EXPORT = answered("Export", _EXPORT, 200, 201)
NEW_EXPORT = sent(
    "New export", {"what": "lines", "window": "2026-03", "team": ["Research"], "tags": {}}
)
CANCELLED_EXPORT = answered("Cancelled export", _EXPORT | {"state": "cancelled"})
BILL: dict[str, Any] = {
    "id": 3,
    "issuer": "Amazon Web Services, Inc.",
    "account": "123456789012",
    "starts_at": "2026-07-01T00:00:00Z",
    "ends_at": "2026-08-01T00:00:00Z",
    "currency": "USD",
    "rows": 1018240,
    "billed": "1318040.52022672899",
    "effective": "1201377.93090575119",
    "contracted": "1488200.11",
    "list": "1983310.5",
    "residual": "0.00000022672899",
    "is_rounded_upstream": False,
    "state": "reconciled",
    "unread_rows": 0,
    "failure": "",
}
BILLS = listed("Bills", BILL)
