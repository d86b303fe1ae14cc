"""A scenario's hardware: clusters, pools, nodes and their devices."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runrate_agent.batch import DeviceRecord
from runrate_agent.compat import SLOTS
from runrate_agent.simulation.table import ScenarioUnreadable, Table

# Keys of a pool that only the server's own demo reads; checked here so that typos are seen early.
BILLING_KEYS = ("provider", "region", "instance_type", "purchase_option", "owner_team")
GIB = 1024**3


@dataclass(frozen=True, **SLOTS)
class Model:
    """A GPU model as NVML prints it, with what its readings need."""

    name: str
    idle_watts: float
    peak_watts: float
    memory_bytes: int


@dataclass(frozen=True, **SLOTS)
class Slice:
    """One MIG slice of a geometry."""

    profile: str
    compute_slices: int
    memory_slices: int


@dataclass(frozen=True, **SLOTS)
class Pool:
    name: str
    cluster: str
    model: Model
    gpus_per_node: int
    cpus_per_node: int
    replicas: int
    slices: tuple[Slice, ...]


@dataclass(frozen=True, **SLOTS)
class Device:
    """What holders hold: a GPU, or one MIG slice of it. `label` is "3" or "3:1g.10gb"."""

    label: str
    record: DeviceRecord


@dataclass(frozen=True, **SLOTS)
class Node:
    """A machine with its life in minutes of the scenario's clock."""

    name: str
    pool: Pool
    started_minute: int
    ended_minute: int
    records: tuple[DeviceRecord, ...]
    devices: Mapping[str, Device]


def clusters_in(root: Table) -> dict[str, str]:
    """The scheduler of each cluster."""
    return root.texts("clusters")


def pools_in(root: Table, clusters: Mapping[str, str]) -> dict[str, Pool]:
    models = _models(root.table("gpu_models"))
    pools = {}
    for table in root.tables("pools"):
        pool = _pool(table, models)
        if pool.cluster not in clusters:
            raise table.refusal("cluster", f"no cluster named {pool.cluster!r}")
        pools[pool.name] = pool
    return pools


def nodes_in(root: Table, pools: Mapping[str, Pool], seed: int, minutes: int) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    for table in root.tables("nodes"):
        node = _node(table, pools, seed, minutes)
        if node.name in nodes:
            raise table.refusal("name", "named twice")
        nodes[node.name] = node
    return nodes


def devices_on(node: Node, text: str, place: str) -> tuple[Device, ...]:
    """The devices a text such as "0-3,5" or "2:3g.40gb" names, in that order."""
    labels: list[str] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if dash and first.isdigit() and last.isdigit():
            labels += [str(index) for index in range(int(first), int(last) + 1)]
        else:
            labels.append(part.strip())
    for label in labels:
        if label not in node.devices:
            known = ", ".join(node.devices)
            raise ScenarioUnreadable(f"{place}: {node.name} has no device {label!r} ({known})")
    return tuple(node.devices[label] for label in labels)


def _models(table: Table) -> dict[str, Model]:
    models = {}
    for name in table.keys_left():
        inner = table.table(name)
        models[name] = Model(
            name=name,
            idle_watts=inner.number("idle_watts"),
            peak_watts=inner.number("peak_watts"),
            memory_bytes=inner.count("memory_gib") * GIB,
        )
        inner.end()
    return models


def _pool(table: Table, models: Mapping[str, Model]) -> Pool:
    for key in BILLING_KEYS:
        table.text(key)
    model = table.text("gpu_model")
    if model not in models:
        raise table.refusal("gpu_model", f"no [gpu_models] entry named {model!r}")
    pool = Pool(
        name=table.text("name"),
        cluster=table.text("cluster"),
        model=models[model],
        gpus_per_node=table.count("gpus_per_node"),
        cpus_per_node=table.count("cpus_per_node"),
        replicas=table.count("replicas", 1),
        slices=tuple(_slice(each) for each in table.tables("slices")),
    )
    if not pool.gpus_per_node or not pool.replicas:
        raise table.refusal("gpus_per_node and replicas", "at least 1 of each")
    table.end()
    return pool


def _slice(table: Table) -> Slice:
    found = Slice(
        profile=table.text("profile"),
        compute_slices=table.count("compute_slices"),
        memory_slices=table.count("memory_slices"),
    )
    table.end()
    return found


def _node(table: Table, pools: Mapping[str, Pool], seed: int, minutes: int) -> Node:
    name, pool_name = table.text("name"), table.text("pool")
    if pool_name not in pools:
        raise table.refusal("pool", f"no pool named {pool_name!r}")
    pool = pools[pool_name]
    started = table.minutes("started_hours", 0)
    ended = table.minutes("ended_hours", minutes / 60)
    if not 0 <= started < ended <= minutes:
        raise table.refusal("ended_hours", "a node lives within the scenario, for some time")
    table.text("end_reason", "")
    table.end()
    gpus = [_gpu(pool, index, f"{seed}/{name}/{index}") for index in range(pool.gpus_per_node)]
    slices = [each for gpu in gpus for each in _geometry(gpu.record, pool.slices, f"{seed}/{name}")]
    return Node(
        name=name,
        pool=pool,
        started_minute=started,
        ended_minute=ended,
        records=tuple(each.record for each in gpus + slices),
        devices={each.label: each for each in slices or gpus},
    )


def _gpu(pool: Pool, index: int, key: str) -> Device:
    record = DeviceRecord(
        uuid=f"GPU-{_uuid(key)}",
        model=pool.model.name,
        index=index,
        replicas=pool.replicas if pool.replicas > 1 else None,
    )
    return Device(str(index), record)


def _geometry(gpu: DeviceRecord, pieces: Sequence[Slice], key: str) -> Iterator[Device]:
    seen: Counter[str] = Counter()
    for piece in pieces:
        seen[piece.profile] += 1
        nth = seen[piece.profile]
        label = f"{gpu.index}:{piece.profile}" + (f".{nth}" if nth > 1 else "")
        yield Device(label, _slice_record(gpu, piece, f"{key}/{label}"))


def _slice_record(gpu: DeviceRecord, piece: Slice, key: str) -> DeviceRecord:
    return DeviceRecord(
        uuid=f"MIG-{_uuid(key)}",
        model=gpu.model,
        index=gpu.index,
        parent=gpu.uuid,
        profile=piece.profile,
        compute_slices=piece.compute_slices,
        memory_slices=piece.memory_slices,
    )


def _uuid(key: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"runrate-scenario:{key}")
