"""Examples of the requests for shared costs, and of their answers."""

from apps.web.rest.examples import answered, listed, sent

_COST = {
    "id": 3,
    "name": "Support",
    "price": {"amount": "9000.000000000", "currency": "USD"},
    "method": "by_cost",
    "weights": [],
    "starts_at": "2026-03-02T12:00:00Z",
    "ends_at": None,
    "created_at": "2026-03-02T12:00:00Z",
}
_WEIGHED = [{"team": {"id": 4, "name": "Research"}, "weight": "2.500000"}]
SHARED_COSTS = listed("Shared costs", _COST)
SHARED_COST = answered("Shared cost", _COST, 200, 201)
NEW_SHARED_COST = sent(
    "New shared cost",
    {
        "name": "Storage",
        "price": {"amount": "4200", "currency": "USD"},
        "method": "by_energy",
        "starts_at": "2026-03-02T12:00:00Z",
    },
)
SHARED_COST_END = sent("End", {"ended_at": "2026-03-02T18:00:00Z"})
ENDED_SHARED_COST = answered("Ended shared cost", _COST | {"ends_at": "2026-03-02T18:00:00Z"})
NEW_WEIGHTS = sent(
    "New weights",
    {"weights": [{"team": "Research", "weight": "2.5"}], "starts_at": "2026-03-02T18:00:00Z"},
)
WEIGHED_COST = answered(
    "Weighed cost", _COST | {"method": "weighted", "weights": _WEIGHED, "id": 4}, 201
)
