"""Requests of a SkyPilot task: GPUs, where it may go, and what its variables say of the work."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any

from apps.economics.gpu_catalogue import named_gpu
from apps.economics.refusal import Refusal
from apps.placement.queries.quote_request import (
    INTERRUPTIBLE,
    SERVING,
    UNINTERRUPTED,
    QuoteRequest,
    RequestedWork,
)

MOST_ASKED_OFFERS = 100
MOST_HOURS = 1e9
EXEC, PASSED = "exec", ("jobs.launch_cluster", "serve.launch_replica")
LOOKED_AT = ("validate", "optimize")
"""Requests that a launch makes before it: answered alike, and not kept."""
MANAGED = "jobs."
"""Of jobs that SkyPilot begins again by itself when spot is taken away."""
TEAM, WORKLOAD, ADMISSION = "RUNRATE_TEAM", "RUNRATE_WORKLOAD", "RUNRATE_ADMISSION"
HOURS, GPU_HOURS, DEADLINE = "RUNRATE_HOURS", "RUNRATE_GPU_HOURS", "RUNRATE_DEADLINE"
WRITE, RESTART = "RUNRATE_CHECKPOINT_SECONDS", "RUNRATE_RESTART_SECONDS"


class SkyTaskNotUnderstood(Refusal):
    """A refusal that says what is wrong with a task, for whoever launches it."""


@dataclass(frozen=True, slots=True)
class SkyResources:
    """One of the alternatives of a task: what it asks for as it stands, and what is read of it; empty: left open."""

    said: dict[str, Any]
    accelerator: str
    count: int
    cloud: str = ""
    region: str = ""
    use_spot: bool | None = None


@dataclass(frozen=True, slots=True)
class SkyTask:
    """A task with GPUs. `is_ordered`: it says itself in which order its alternatives are tried."""

    alternatives: tuple[SkyResources, ...]
    nodes: int
    is_ordered: bool
    request_name: str
    variables: dict[str, str]
    has_fallback: bool

    @property
    def gpus(self) -> int:
        """Of all its nodes; the most that an alternative has."""
        return self.nodes * max(alternative.count for alternative in self.alternatives)

    @property
    def is_serving(self) -> bool:
        """Whether it answers requests."""
        return self.request_name.startswith("serve.")

    @property
    def kind(self) -> str:
        """Spot is for what SkyPilot begins again by itself, and for what asks for it."""
        if self.is_serving:
            return SERVING
        is_asked = any(alternative.use_spot for alternative in self.alternatives)
        is_managed = self.request_name.startswith(MANAGED)
        return INTERRUPTIBLE if is_managed or is_asked else UNINTERRUPTED

    @property
    def is_open(self) -> bool:
        """Whether it leaves something of its places or ways of buying to choose."""
        may_be_spot = self.kind == INTERRUPTIBLE
        return not self.is_ordered and any(
            not alternative.region or (may_be_spot and alternative.use_spot is None)
            for alternative in self.alternatives
        )

    @property
    def gpu_hours(self) -> float | None:
        """Of the whole job; None where its variables do not say."""
        hours, gpu_hours = self.number(HOURS), self.number(GPU_HOURS)
        if hours is not None and gpu_hours is not None:
            raise SkyTaskNotUnderstood(HOURS, f"say this or {GPU_HOURS}, one of them")
        return gpu_hours if hours is None else hours * self.gpus

    def number(self, name: str) -> float | None:
        """A variable as a number above 0; None where it is not said. Refuses SkyTaskNotUnderstood."""
        text = self.variables.get(name, "").strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not isfinite(value) or not 0 < value <= MOST_HOURS:
            raise SkyTaskNotUnderstood(name, f"{text[:40]!r} is no number above 0")
        return value

    def deadline(self) -> datetime | None:
        """As its variable says it. Refuses SkyTaskNotUnderstood."""
        text = self.variables.get(DEADLINE, "").strip()
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            raise SkyTaskNotUnderstood(
                DEADLINE,
                f"{text[:40]!r} is no moment with an offset, such as 2026-03-02T12:00:00Z",
            )
        return moment

    def asked_quote(self, team_id: int) -> QuoteRequest | None:
        """Return what a quote is asked of; None where it does not say how long it runs, or asks for what is no known GPU."""
        hours = self.gpu_hours
        counts = {alternative.count for alternative in self.alternatives}
        models = tuple(dict.fromkeys(alternative.accelerator for alternative in self.alternatives))
        if (
            hours is None
            or len(counts) > 1
            or not all(named_gpu(model).candidates for model in models)
        ):
            return None
        clouds = {alternative.cloud for alternative in self.alternatives}
        return QuoteRequest(
            gpus=self.gpus,
            work=RequestedWork(gpu_hours=hours),
            gpu_models=models,
            deadline=self.deadline(),
            write_seconds=self.number(WRITE),
            restart_seconds=self.number(RESTART) or 0.0,
            kind=self.kind,
            has_fallback=self.is_serving and self.has_fallback,
            residency=() if "" in clouds else tuple(sorted(f"{cloud}:" for cloud in clouds)),
            team_id=team_id,
            limit=MOST_ASKED_OFFERS,
        )


def sky_task(task: Mapping[str, Any], request_name: str) -> SkyTask | None:
    """Return what a task asks for; None where it has no GPUs. Refuses SkyTaskNotUnderstood."""
    resources = _read_mapping(task.get("resources"), "resources")
    ordered, any_of = resources.get("ordered"), resources.get("any_of")
    base = {
        key: resource for key, resource in resources.items() if key not in ("ordered", "any_of")
    }
    alternatives = ordered or any_of or [{}]
    if not isinstance(alternatives, list):
        raise SkyTaskNotUnderstood("resources", "its alternatives are no list")
    choices = [
        _read_alternative(base | _read_mapping(alternative, "resources"))
        for alternative in alternatives
    ]
    with_gpus = tuple(choice for choice in choices if choice is not None)
    if not with_gpus:
        return None
    nodes = task.get("num_nodes") or 1
    if not isinstance(nodes, int) or nodes < 1:
        raise SkyTaskNotUnderstood("num_nodes", "is no number of nodes")
    policy = _read_mapping(
        _read_mapping(task.get("service"), "service").get("replica_policy"), "service"
    )
    variables = _read_mapping(task.get("envs"), "envs")
    return SkyTask(
        alternatives=with_gpus,
        nodes=nodes,
        is_ordered=bool(ordered) or len(with_gpus) < len(choices),
        request_name=request_name,
        variables={
            str(key): "" if variable is None else str(variable)
            for key, variable in variables.items()
        },
        has_fallback=bool(
            policy.get("dynamic_ondemand_fallback") or policy.get("base_ondemand_fallback_replicas")
        ),
    )


def _read_alternative(resources: dict[str, Any]) -> SkyResources | None:
    accelerator = _read_accelerator(resources.get("accelerators"))
    if accelerator is None:
        return None
    cloud, region = _cloud_and_region(str(resources.get("infra") or ""))
    spot = resources.get("use_spot")
    return SkyResources(
        resources, *accelerator, cloud, region, spot if isinstance(spot, bool) else None
    )


def _read_accelerator(accelerators: Any) -> tuple[str, int] | None:
    """Name and number on a node; None without any, or where it is a part of one."""
    if isinstance(accelerators, str):
        name, _, count = accelerators.partition(":")
        accelerators = {name: count or 1}
    if not isinstance(accelerators, Mapping) or len(accelerators) != 1:
        return None
    ((name, count),) = accelerators.items()
    try:
        number = float(count)
    except (TypeError, ValueError):
        return None
    return (str(name), int(number)) if number >= 1 and number.is_integer() else None


def _cloud_and_region(infra: str) -> tuple[str, str]:
    """`aws/us-east-1/us-east-1a` as cloud and region; `*` is any."""
    parts: Iterable[str] = (part.strip() for part in infra.strip("/").split("/", 2))
    cloud, region, *_ = [*("" if part == "*" else part for part in parts), "", ""]
    return cloud.lower(), region


def _read_mapping(value: Any, field: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise SkyTaskNotUnderstood(field, "is no mapping")
    return value
