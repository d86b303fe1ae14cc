"""A scenario: a fleet and its work over a whole number of days, on a clock of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from runrate_agent.compat import SLOTS, tomllib
from runrate_agent.simulation.fleet import Node, clusters_in, nodes_in, pools_in
from runrate_agent.simulation.load import loads_in
from runrate_agent.simulation.table import ScenarioUnreadable, Table
from runrate_agent.simulation.work import (
    Gap,
    Job,
    Process,
    Surroundings,
    gaps_in,
    jobs_in,
    processes_in,
)

# Read by the server's own demo only: who is in the organisation and what was out of service.
SERVER_TABLES = ("teams", "rules", "outages")
NEVER = 100 * 365 * 24 * 60


@dataclass(frozen=True, **SLOTS)
class Scenario:
    """Everything in it happens at minutes since its start, whatever the date it is played for."""

    name: str
    seed: int
    minutes: int
    clusters: Mapping[str, str]
    nodes: Mapping[str, Node]
    jobs: tuple[Job, ...]
    processes: tuple[Process, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, **SLOTS)
class Claim:
    """One job's hold on one device."""

    started_minute: int
    ended_minute: int
    job: Job


def scenario_named(name: str) -> Scenario:
    """A shipped scenario by name, or one in a file by path."""
    shipped = resources.files("runrate_agent") / "scenarios" / f"{name}.toml"
    path = Path(name)
    if "/" not in name and shipped.is_file():
        return scenario_from(shipped.read_text(encoding="utf-8"), name)
    if not path.is_file():
        raise ScenarioUnreadable(f"{name}: neither a shipped scenario nor a file")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioUnreadable(f"{name}: {error}") from error
    return scenario_from(text, path.stem)


def scenario_from(text: str, name: str) -> Scenario:
    scenario = _scenario(Table(_tables_of(text), ""), name)
    _check_jobs(scenario)
    _check_claims(scenario)
    return scenario


def without_end(scenario: Scenario) -> Scenario:
    """The same, but nodes and jobs that last to its end go on for good."""
    nodes = {
        name: replace(node, ended_minute=NEVER) if node.ended_minute == scenario.minutes else node
        for name, node in scenario.nodes.items()
    }
    jobs = tuple(
        replace(job, places=tuple(replace(each, node=nodes[each.node.name]) for each in job.places))
        for job in scenario.jobs
    )
    return replace(scenario, minutes=NEVER, nodes=nodes, jobs=jobs)


def _tables_of(text: str) -> dict[str, Any]:
    """What a TOML text says; where it is `based_on` a shipped scenario, over what that says."""
    try:
        tables: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioUnreadable(f"not TOML: {error}") from error
    base = tables.pop("based_on", None)
    if base is None:
        return tables
    shipped = resources.files("runrate_agent") / "scenarios" / f"{base}.toml"
    if not shipped.is_file():
        raise ScenarioUnreadable(f"based_on: no shipped scenario named {base!r}")
    return {**_tables_of(shipped.read_text(encoding="utf-8")), **tables}


def claims_by_device(scenario: Scenario) -> dict[str, list[Claim]]:
    """The claims on each device's UUID, in order of their start."""
    claims: dict[str, list[Claim]] = {}
    for job in scenario.jobs:
        for place in job.places:
            for device in place.devices:
                ended = _end_on(job, place.node, scenario.minutes)
                claim = Claim(max(job.started_minute, 0), ended, job)
                claims.setdefault(device.record.uuid, []).append(claim)
    for held in claims.values():
        held.sort(key=lambda claim: (claim.started_minute, claim.job.identity.holder))
    return claims


def _scenario(root: Table, name: str) -> Scenario:
    seed, minutes = root.count("seed"), root.count("days") * 24 * 60
    if not minutes:
        raise root.refusal("days", "at least 1")
    root.text("title", "")
    clusters = clusters_in(root)
    nodes = nodes_in(root, pools_in(root, clusters), seed, minutes)
    around = Surroundings(clusters, nodes, loads_in(root), seed, minutes)
    scenario = Scenario(
        name=name,
        seed=seed,
        minutes=minutes,
        clusters=clusters,
        nodes=nodes,
        jobs=tuple(jobs_in(root, around)),
        processes=tuple(processes_in(root, around)),
        gaps=tuple(gaps_in(root, nodes)),
    )
    for key in SERVER_TABLES:
        list(root.tables(key))
    root.end()
    return scenario


def _check_jobs(scenario: Scenario) -> None:
    seen: set[tuple[str, str, int]] = set()
    for job in scenario.jobs:
        identity = job.identity
        key = (identity.cluster, identity.raw_id, identity.restart_count)
        if key in seen:
            raise ScenarioUnreadable(f"jobs[{identity.name}].id: {identity.raw_id} is used twice")
        seen.add(key)
        if job.ended_minute is not None and job.ended_minute > scenario.minutes:
            raise ScenarioUnreadable(
                f"jobs[{identity.name}].hours: {identity.raw_id} ends after the scenario; "
                "leave `hours` out for a job that runs on"
            )
        for place in job.places:
            _check_life(job, place.node)


def _check_life(job: Job, node: Node) -> None:
    ended = node.ended_minute if job.ended_minute is None else job.ended_minute
    if not node.started_minute <= job.started_minute < ended <= node.ended_minute:
        raise ScenarioUnreadable(
            f"jobs[{job.identity.name}].started_hours: {node.name} does not live through "
            f"{job.identity.raw_id}"
        )


def _check_claims(scenario: Scenario) -> None:
    """More claims on a device than it can give are a mistake, unless the job says so."""
    replicas = {
        each.uuid: each.replicas or 1 for node in scenario.nodes.values() for each in node.records
    }
    for uuid, claims in claims_by_device(scenario).items():
        for claim, others in _overlaps(claims):
            contested = claim.job.is_contested or any(each.job.is_contested for each in others)
            if len(others) >= replicas[uuid] and not contested:
                names = ", ".join(each.job.identity.raw_id for each in others)
                raise ScenarioUnreadable(
                    f"jobs[{claim.job.identity.name}].on: {claim.job.identity.raw_id} claims a "
                    f"device that {names} holds; say `contested = true` if that is meant"
                )


def _overlaps(claims: list[Claim]) -> Iterator[tuple[Claim, list[Claim]]]:
    for number, claim in enumerate(claims):
        yield claim, [each for each in claims[:number] if each.ended_minute > claim.started_minute]


def _end_on(job: Job, node: Node, minutes: int) -> int:
    return min(minutes if job.ended_minute is None else job.ended_minute, node.ended_minute)
