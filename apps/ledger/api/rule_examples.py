"""Examples of the requests for rules of bills, and of their answers."""

from apps.web.rest.examples import answered, listed, sent

_RULE = {
    "id": 4,
    "priority": 10,
    "issuer": "",
    "service": "",
    "usage_type": "",
    "resource_id": "i-0ab*",
    "sub_account": "",
    "tag_key": "",
    "tag_value": "",
    "kind": "compute",
    "node": {"id": 12, "name": "gpu-01"},
    "pool": None,
    "team": None,
    "share_method": "",
    "rows": 2,
    "billed": [{"amount": "123.00", "currency": "USD"}],
    "created_at": "2026-03-02T12:00:00Z",
    "ended_at": None,
}
BILL_RULES = listed("Bill rules", _RULE)
BILL_RULE = answered("Bill rule", _RULE, 200, 201)
ENDED_BILL_RULE = answered("Ended bill rule", _RULE | {"ended_at": "2026-03-03T12:00:00Z"})
NEW_BILL_RULE = sent(
    "New bill rule", {"resource_id": "i-0ab*", "kind": "compute", "node": "gpu-01"}
)
BILL_MOVES = answered(
    "Moves of bills",
    {
        "rows": 2,
        "moves": [
            {
                "bill_id": 7,
                "issuer": "A Cloud",
                "starts_at": "2026-03-01T00:00:00Z",
                "rows": 2,
                "billed": {"amount": "123.00", "currency": "USD"},
                "from_place": {
                    "becomes": "unmatched",
                    "kind": "compute",
                    "node": None,
                    "pool": None,
                    "team": "Platform",
                    "share_method": "",
                },
                "to_place": {
                    "becomes": "node_hour",
                    "kind": "compute",
                    "node": "gpu-01",
                    "pool": None,
                    "team": "Platform",
                    "share_method": "",
                },
                "shares": [],
            }
        ],
    },
)
