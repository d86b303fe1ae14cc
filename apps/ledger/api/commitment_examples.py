"""Examples of what is asked and told of the use of commitments."""

from apps.web.rest.examples import answered, listed, sent

_MOVED = {
    "hours": 720,
    "closed_hours": 0,
    "utilisation": 0.875,
    "on_demand": {"amount": "61941.600000", "currency": "USD"},
    "cost": {"amount": "28800.000000", "currency": "USD"},
    "difference": {"amount": "-33141.600000", "currency": "USD"},
}
FIGURES = listed(
    "Figures of commitments",
    {
        "commitment": {"id": 4, "name": "two p5 for a year"},
        "coverage": 0.5,
        "utilisation": 0.875,
        "effective_savings_rate": 0.31,
        "break_even": 0.62,
        "on_demand": {"amount": "61941.600000", "currency": "USD"},
        "cost": {"amount": "42739.700000", "currency": "USD"},
        "unused": {"amount": "5342.460000", "currency": "USD"},
        "saved": {"amount": "19201.900000", "currency": "USD"},
        "left_hours": 8040,
    },
)
THOUGHT_OF = sent(
    "Commitment thought of",
    {
        "name": "one p5 for half a year",
        "kind": "reserved",
        "provider": "aws",
        "instance_type": "p5.48xlarge",
        "units": 1,
        "hourly": "40",
        "currency": "USD",
        "starts_at": "2026-03-02T12:00:00Z",
        "ends_at": "2026-09-02T12:00:00Z",
    },
)
THOUGHT_END = sent("End thought of", {"ended_at": "2026-03-02T18:00:00Z"})
MOVED = answered("What would move", _MOVED)
ENTERED_MOVED = answered("What would move once it is entered", _MOVED | {"remarks": []})
