"""Examples of what waits for a person."""

from apps.web.rest.examples import answered, listed

_NODE = {
    "id": 4,
    "name": "gpu-21",
    "cluster": {"id": 1, "name": "atlas"},
    "join_token": {"id": 3, "name": "nodes of atlas"},
    "pool": {"id": 3, "name": "h100"},
    "version": "0.3.0",
    "first_at": "2026-03-02T12:00:00Z",
    "last_at": "2026-03-02T12:20:00Z",
    "tries": 3,
    "decision": "",
    "decided_at": None,
}
WAITING_NODES = listed("Waiting nodes", _NODE)
APPROVED_NODE = answered(
    "Approved node", _NODE | {"decision": "approved", "decided_at": "2026-03-02T12:30:00Z"}
)
REFUSED_NODE = answered(
    "Refused node", _NODE | {"decision": "refused", "decided_at": "2026-03-02T12:30:00Z"}
)
_INCIDENT = {
    "id": 9,
    "kind": "devices_waiting",
    "node": {"id": 12, "name": "gpu-01"},
    "join_token": None,
    "detail": "1016 GPUs wait, as GPU-0008",
    "ceiling": 8,
    "reported": 1024,
    "count": 5,
    "first_at": "2026-03-02T12:00:00Z",
    "last_at": "2026-03-02T12:04:00Z",
    "decision": "",
    "decided_at": None,
    "decided_by": "",
}
TRUST_INCIDENTS = listed("Matters of trust", _INCIDENT)
APPROVED_INCIDENT = answered(
    "Approved growth",
    _INCIDENT | {"decision": "approved", "decided_at": "2026-03-02T12:30:00Z", "decided_by": "Ada"},
)
REFUSED_INCIDENT = answered(
    "Refused growth",
    _INCIDENT | {"decision": "refused", "decided_at": "2026-03-02T12:30:00Z", "decided_by": "Ada"},
)
