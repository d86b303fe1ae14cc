"""Examples of the inventory's requests and answers."""

from apps.web.rest.examples import answered, listed, sent

_CLUSTER = {
    "id": 1,
    "name": "atlas",
    "kind": "slurm",
    "created_at": "2026-03-02T12:00:00Z",
}
CLUSTERS = listed("Clusters", _CLUSTER)
CLUSTER = answered("Cluster", _CLUSTER, 200, 201)
NEW_CLUSTER = sent("New cluster", {"name": "borealis", "kind": "slurm"})
NEW_CLUSTER_TOKEN = sent("New token", {"name": "borealis scheduler", "expires_at": None})
CLUSTER_TOKEN = answered(
    "Token", {"id": 7, "cluster": {"id": 1, "name": "atlas"}, "secret": "rr_Zm9vYmFy…"}, 201
)

_POOL = {
    "id": 3,
    "name": "h100",
    "cluster": {"id": 1, "name": "atlas"},
    "provider": "aws",
    "region": "us-east-1",
    "instance_type": "p5.48xlarge",
    "gpu_model": "NVIDIA H100 80GB HBM3",
    "gpus_per_node": 8,
    "unit": "gpu",
    "purchase_option": "on_demand",
    "owner_team": {"id": 4, "name": "Research"},
    "idle_sharing": "keep",
    "share_rule": "largest",
    "share_policy_version": 1,
    "cores_per_node": 0,
    "core_weight": "0.000000",
    "created_at": "2026-03-02T12:00:00Z",
}
POOLS = listed("Pools", _POOL)
POOL = answered("Pool", _POOL, 200, 201)
NEW_POOL = sent(
    "New pool",
    {
        "name": "a100",
        "cluster": "atlas",
        "provider": "aws",
        "region": "us-east-1",
        "instance_type": "p4d.24xlarge",
        "gpu_model": "NVIDIA A100-SXM4-40GB",
        "gpus_per_node": 8,
        "purchase_option": "on_demand",
        "owner_team": "Research",
    },
)

POOL_CORRECTION = sent(
    "Correction of a pool",
    {"gpu_model": "NVIDIA A100-SXM4-40GB", "note": "as the machines themselves say"},
)
NODE_CORRECTION = sent(
    "Correction of a node",
    {"provider_id": "i-0abc1234def567890", "platform": "Linux/UNIX", "account": "210987654321"},
)

_NODE = {
    "id": 12,
    "name": "gpu-01",
    "cluster": {"id": 1, "name": "atlas"},
    "pool": {"id": 3, "name": "h100"},
    "kind": "machine",
    "provider_id": "i-0abc",
    "units": 8,
    "unit": "gpu",
    "started_at": "2026-03-02T12:00:00Z",
    "ended_at": None,
    "end_reason": "",
    "last_seen_at": "2026-03-02T12:30:00Z",
    "platform": "linux",
    "tenancy": "default",
    "account": "210987654321",
    "reservation": "",
}
NODES = listed("Nodes", _NODE)
NODE = answered("Node", _NODE, 200, 201)
NEW_NODE = sent(
    "New node",
    {
        "name": "gpu-09",
        "cluster": "atlas",
        "pool": "h100",
        "units": 8,
        "started_at": "2026-03-02T12:00:00Z",
    },
)
NODE_END = sent("End", {"ended_at": "2026-03-02T18:00:00Z", "reason": "given back to the provider"})
ENDED_NODE = answered(
    "Ended node",
    _NODE | {"ended_at": "2026-03-02T18:00:00Z", "end_reason": "given back to the provider"},
)
CAPACITY = sent("Capacity", {"units": 7, "from_at": "2026-03-02T15:00:00Z"})
NEW_INVITATION = sent("New invitation", {"expires_at": "2099-01-01T00:00:00Z"})
INVITATION = answered(
    "Invitation",
    {
        "node": {"id": 12, "name": "gpu-01"},
        "token": "rre_Zm9vYmFy…",
        "expires_at": "2099-01-01T00:00:00Z",
    },
    201,
)

_DEVICE = {
    "id": 40,
    "uuid": "GPU-0",
    "node": {"id": 12, "name": "gpu-01"},
    "kind": "gpu",
    "parent_id": None,
    "model": "NVIDIA H100 80GB HBM3",
    "index": 0,
    "profile": "",
    "compute_slices": None,
    "memory_slices": None,
    "replicas": 1,
    "started_at": "2026-03-02T12:00:00Z",
    "ended_at": None,
    "confirmed_at": None,
}
DEVICES = listed("Devices", _DEVICE)
DEVICE = answered("Device", _DEVICE)
CONFIRMED_DEVICE = answered("Confirmed device", _DEVICE | {"confirmed_at": "2026-03-02T13:00:00Z"})

_AGENT = {
    "id": 5,
    "node": {"id": 12, "name": "gpu-01"},
    "source": "nvml",
    "version": "0.1.0",
    "enrolled_at": "2026-03-02T12:00:00Z",
    "last_seen_at": "2026-03-02T12:30:00Z",
    "clock_offset_ms": 12,
    "reported_at": "2026-03-02T12:30:00Z",
    "state": "ok",
    "spool": {"batches": 0, "bytes": 0, "oldest_at": None},
    "dropped_windows": 0,
    "problems": [{"code": "no_pod_resources", "detail": "the kubelet's socket is not mounted"}],
}
AGENTS = listed("Agents", _AGENT)
AGENT = answered("Agent", _AGENT)

NOT_UNDERSTOOD = listed(
    "What was not understood",
    {
        "door": "spans",
        "place": "",
        "name": "gen_ai.usage.dreamt_tokens",
        "times": 3,
        "first_on": "2026-03-02",
        "last_at": "2026-03-02T12:00:00Z",
        "example": "0af7651916cd43dd8448eb211c80319c/b7ad6b7169203331",
    },
)

_OUTAGE = {
    "id": 8,
    "node": {"id": 12, "name": "gpu-01"},
    "device_id": None,
    "kind": "maintenance",
    "starts_at": "2026-03-02T13:00:00Z",
    "ends_at": None,
}
OUTAGES = listed("Outages", _OUTAGE)
OUTAGE = answered("Outage", _OUTAGE, 200, 201)
NEW_OUTAGE = sent(
    "New outage", {"node_id": 12, "kind": "drained", "starts_at": "2026-03-02T14:00:00Z"}
)
OUTAGE_END = sent("End", {"ended_at": "2026-03-02T16:00:00Z"})
ENDED_OUTAGE = answered("Ended outage", _OUTAGE | {"ends_at": "2026-03-02T16:00:00Z"})
ENROLMENT = sent("Enrolment", {"token": "rre_Zm9vYmFy…", "source": "nvml", "version": "0.1.0"})
ENROLLED = answered(
    "Enrolled agent", {"token": "rr_Zm9vYmFy…", "node": "gpu-01", "scopes": ["ingest"]}, 201
)

_JOIN_TOKEN = {
    "id": 3,
    "name": "nodes of atlas",
    "cluster": {"id": 1, "name": "atlas"},
    "pool": {"id": 3, "name": "h100"},
    "node_names": ["gpu-*"],
    "scopes": ["ingest", "jobs"],
    "most_nodes": 24,
    "joined_agents": 12,
    "created_at": "2026-03-02T12:00:00Z",
    "expires_at": "2099-01-01T00:00:00Z",
    "revoked_at": None,
}
JOIN_TOKENS = listed("Join tokens", _JOIN_TOKEN)
NEW_JOIN_TOKEN = sent(
    "New join token",
    {
        "name": "the DaemonSet of atlas",
        "cluster": "atlas",
        "node_names": ["gpu-*"],
        "pool": "h100",
        "most_nodes": 24,
        "expires_at": "2099-01-01T00:00:00Z",
    },
)
MADE_JOIN_TOKEN = answered("Join token", _JOIN_TOKEN | {"secret": "rrj_Zm9vYmFy…"}, 201)
REVOKED_JOIN_TOKEN = answered(
    "Revoked join token", _JOIN_TOKEN | {"revoked_at": "2026-03-03T12:00:00Z"}
)
