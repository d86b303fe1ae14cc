"""Examples of the requests for budgets, and of their answers."""

from typing import Any

from apps.web.rest.examples import answered, listed, sent

_NEW: dict[str, Any] = {
    "name": "Research, monthly",
    "scope": "team",
    "of": "Research",
    "measure": "money",
    "recurrence": "monthly",
    "first_day": "2026-01-01",
    "last_day": None,
    "amounts": [{"amount": "50000"}, {"from_day": "2026-07-01", "amount": "60000"}],
    "note": "Agreed in December",
    "is_hard": False,
}
_BUDGET: dict[str, Any] = {
    **_NEW,
    "id": 1,
    "key": "4",
    "unit": "USD",
    "amounts": [
        {"from_day": "2026-01-01", "amount": "50000.000000"},
        {"from_day": "2026-07-01", "amount": "60000.000000"},
    ],
    "created_at": "2026-03-02T12:00:00Z",
}
NEW_BUDGET = sent("Budget of a team", _NEW)
BUDGET = answered("Budget", _BUDGET, 200, 201)
BUDGETS = listed("Budgets", _BUDGET)
HEADROOM = answered(
    "Headroom",
    {
        "budget_id": 1,
        "name": "Research, monthly",
        "measure": "money",
        "unit": "USD",
        "basis": "effective",
        "as_of": "2026-03-10T10:00:00Z",
        "status": "running",
        "first_day": "2026-03-01",
        "last_day": "2026-03-31",
        "amount": "50000.000000",
        "spent": "16120.500000",
        "provisional": "210.250000",
        "unpriced_gpu_hours": 0.0,
        "rest_expected": "35100.000000",
        "rest_low": "31900.000000",
        "rest_high": "38800.000000",
        "rest_from": "forecast",
        "rest_source": "spend:team=Research",
        "rest_spans": [
            {
                "series": "spend:team=Research",
                "origin": "hour",
                "forecast_id": 7,
                "starts_at": "2026-03-10T10:00:00Z",
                "ends_at": "2026-03-24T09:00:00Z",
            },
            {
                "series": "spend:team=Research",
                "origin": "day",
                "forecast_id": 8,
                "starts_at": "2026-03-24T09:00:00Z",
                "ends_at": "2026-04-01T00:00:00Z",
            },
        ],
        "rest_gates": [
            {
                "name": "coverage",
                "is_passed": True,
                "says": "spend:team=Research by the hour: 76 % of what came lay in its 80 % intervals",
                "fallback": "",
            },
        ],
        "committed": "2400.000000",
        "committed_by_commitments": None,
        "committed_by_requests": "2400.000000",
        "unpriced_request_gpu_hours": 0.0,
        "headroom": "-3620.500000",
        "is_exceeding": True,
        "share_used": 0.32241,
        "share_of_time_gone": 0.303763,
        "chance_low": 0.86,
        "chance_high": 0.86,
    },
)
