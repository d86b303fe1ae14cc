"""A node's own token against every write: of others' facts nothing changes, whatever it sends."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client

from apps.accounts.actions import make_token
from apps.economics.ownership import Rule
from apps.fleet import actions as fleet
from apps.fleet.models import TrustIncident
from apps.telemetry import api as telemetry_api
from apps.workloads.actions.rules import add_rule
from apps.workloads.actions.workloads import add_workload
from apps.workloads.queries import RuleFact
from tests import make
from tests.apps.telemetry.sending import batch, gpu, ms, now, this_hour, window
from tests.contract.described import operations, request_examples
from tests.contract.world import World, with_world
from tests.planted import undone
from tests.scope.addresses import every_address

REFUSED = {401, 403, 404, 405}
WRITES = sorted(
    {(path, method) for path, method, _ in operations() if method != "get"}
    | {
        (f"/{each.pattern}", "post")
        for each in every_address()
        if each.pattern.startswith("api/v1/telemetry/")
    }
)
TOLD_ALIKE = {"last_used_at", "last_seen_at", "clock_offset_ms"}
"""Columns that say no more than that a token was used."""


@dataclass(frozen=True)
class Intruder:
    """A node, its agent and its token: honest by name, whatever it sends."""

    node_id: int
    agent_id: int
    secret: str

    def client(self) -> Client:
        return Client(headers={"Authorization": f"Bearer {self.secret}"})

    def post(self, path: str, body: Any) -> Any:
        return self.client().post(f"/api/v1/{path}", json.dumps(body), "application/json")


def joined(name: str) -> Intruder:
    """A node of cluster atlas as it is after it joined: its token measures and tells of jobs."""
    began_at, cluster = now() - timedelta(days=9), make.make_cluster("atlas")
    node = make.make_node(name, at=began_at, cluster_id=cluster)
    token = make_token(name=name, scopes=["ingest", "jobs"], expires_at=None, at=began_at)
    agent = make.make_agent(node_id=node, token_id=token.id, at=began_at)
    fleet.bind_cluster_token(token_id=token.id, cluster_id=cluster)
    return Intruder(node, agent, token.secret)


def event(**given: Any) -> dict[str, Any]:
    """A statement about the victim's job, by whom and with what a test says."""
    told = {
        "cluster": "atlas", "raw_id": "v-1", "event": "start", "source": "agent",
        "at": this_hour().isoformat(),
    }  # fmt: skip
    return told | given


OWN = [{"node": "intruder", "gpus": 8}]
VICTIMS = [{"node": "victim", "gpus": 8}]
EVIL = {"account": "evil"}


def job_bodies() -> list[dict[str, Any]]:
    """What ends, moves, owns anew or opens again a job of another node, one at a time."""
    early = (this_hour() - timedelta(days=3)).isoformat()
    late = (this_hour() + timedelta(minutes=20)).isoformat()
    ways: list[dict[str, Any]] = [
        {"event": "update", "allocations": OWN, **EVIL},
        {"event": "update", "allocations": OWN, "labels": {"team": "evil"}},
        {"event": "update", "allocations": OWN, "user": "mallory"},
        {"event": "update", "allocations": OWN, "partition": "evil"},
        {"event": "update", "allocations": OWN, "namespace": "evil"},
        {"event": "update", "allocations": OWN, "name": "evil"},
        {"event": "update", "allocations": OWN, "run": "evil"},
        {"event": "update", "allocations": OWN, "state": "FAILED", **EVIL},
        {"event": "start", "allocations": OWN, "at": early, **EVIL},
        {"event": "start", "allocations": OWN, "at": early},
        {"event": "start", "allocations": OWN, "at": late, **EVIL},
        {"event": "start", "allocations": OWN, "submitted_at": early},
        {"event": "start", "allocations": OWN, "submitted_at": early, **EVIL},
        {"event": "start", "allocations": OWN, "restart_count": 3},
        {"event": "start", "allocations": OWN, "restart_count": 3, **EVIL},
        {"event": "submit", "at": early},
        {"event": "submit", "at": early, "allocations": OWN, **EVIL},
        {"event": "update", "allocations": VICTIMS, **EVIL},
        {"event": "update", **EVIL},
        {"event": "update", "allocations": []},
        {"event": "end", "state": "FAILED"},
        {"event": "end", "at": late},
        {"event": "end", "allocations": VICTIMS},
        {"event": "end", "source": "scheduler"},
        {"event": "end", "source": "accounting", "allocations": OWN},
    ]
    return [event(raw_id=raw_id) | way for raw_id in ("v-1", "v-2") for way in ways]


def aimed(path: str) -> list[Any] | None:
    """Bodies with the victim's ids for a write that an agent's token may call; None: none is."""
    row = {
        "service": "their-box", "hour": this_hour().isoformat(), "revision": 9,
        "source": "engine", "source_key": "victim/engine", "requests": 1_000_000,
    }  # fmt: skip
    slice_of = {"uuid": "MIG-evil", "kind": "mig", "parent": "GPU-0", "profile": "1g.10gb"}
    told = {"format": 1, "boot": 7, "sequence": 7, "sent_at_ms": ms(now()), "devices": ["GPU-0"]}
    lost = {"at_ms": ms(this_hour()), "kind": "gpu_lost", "phase": "began", "device": 0}
    reclaim = {"at_ms": ms(now()), "kind": "reclaim_notice", "phase": "point"}
    bodies: dict[str, list[Any]] = {
        "/api/v1/jobs": job_bodies(),
        "/api/v1/jobs/bulk": [
            {"events": job_bodies()},
            {"events": [event(event="update", allocations=OWN, **EVIL), event(event="end")]},
        ],
        "/api/v1/request-hours": [
            {"rows": [row, {**row, "source_key": "intruder/engine"}]},
            {"rows": [{**row, "source": "gateway"}]},
        ],
        "/api/v1/telemetry/batches": [
            batch([window(9)], sequence=1),
            batch([window(9)], sequence=2, devices=[gpu(7) | slice_of]),
            batch([window(9)], sequence=3, agent={"node": "victim", "source": "nvml"}),
        ],
        "/api/v1/telemetry/reports": [
            {**told, "events": [lost], "agent": {"node": "victim"}},
            {**told, "sequence": 8, "events": [lost | {"phase": "ended"}]},
            {**told, "sequence": 9, "agent": {"node": "victim"}, "events": [reclaim]},
            {**told, "sequence": 10, "status": {"state": "ok", "provider_id": "i-victim"}},
        ],
        "/api/v1/enrolments": [
            {"token": "rrj_guess", "source": "nvml", "version": "1", "node": "victim"}
        ],
    }
    return bodies.get(path)


@pytest.fixture
def intruder(world: World) -> Intruder:
    """Beside a victim with a job of its own, one of its scheduler, a service, and measurements."""
    # Of atlas, as the world has other clusters too.
    victim = joined("victim")
    intruder = joined("intruder")
    team = make.make_team("Victims")
    box = add_workload(name="their-box", team_id=team, kind="serving")
    rule = Rule(1, team, account="research", workload_id=box)
    add_rule(rule=RuleFact(rule, None, None), at=now())
    traits = {"user": "ada", "account": "research", "partition": "h100", "namespace": "prod",
              "name": "serve", "run": "r-1", "labels": {"team": "vision"}}  # fmt: skip
    held = event(allocations=VICTIMS, **traits)
    assert victim.post("jobs", held).status_code == 200
    scheduler = Intruder(0, 0, make.make_token("jobs").secret)
    placed = event(raw_id="v-2", source="scheduler", allocations=VICTIMS, **traits)
    assert scheduler.post("jobs", placed).status_code == 200
    counted = {"service": "their-box", "hour": this_hour().isoformat(), "revision": 1,
               "source": "engine", "source_key": "victim/engine", "requests": 10}  # fmt: skip
    answer = victim.post("request-hours", {"rows": [counted]}).json()
    assert (answer["accepted"], answer["unmatched"]) == (1, 0)
    windows = [window(minute) for minute in range(8, 12)]
    assert victim.post("telemetry/batches", batch(windows, devices=[gpu(0)])).status_code == 200
    telemetry_api.forget()
    return intruder


pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/api/v1/jobs", "/api/v1/jobs/bulk", "/api/v1/request-hours",
                                  "/api/v1/telemetry/batches", "/api/v1/telemetry/reports",
                                  "/api/v1/enrolments"])  # fmt: skip
def test_what_a_node_says_of_others_changes_nothing(intruder: Intruder, path: str) -> None:
    before = facts(intruder)
    for body in aimed(path) or ():
        answer = intruder.post(path.removeprefix("/api/v1/"), body)
        assert answer.status_code < 500, (body, answer.content)
        assert changes(before, facts(intruder)) == {}, body


def test_what_was_refused_is_one_counted_problem_of_the_node(intruder: Intruder) -> None:
    for _ in range(3):
        intruder.post("jobs", event(event="update", allocations=OWN, **EVIL))
    row = {"service": "their-box", "hour": this_hour().isoformat(), "revision": 1,
           "source": "engine", "source_key": "mine", "requests": 1_000_000}  # fmt: skip
    answer = intruder.post("request-hours", {"rows": [row]}).json()
    assert (answer["accepted"], answer["unmatched"]) == (1, 1)
    incidents = TrustIncident.objects.filter(node_id=intruder.node_id).order_by("kind")
    assert [(one.kind, one.count) for one in incidents] == [
        ("job_of_others", 3), ("service_elsewhere", 1),
    ]  # fmt: skip
    assert "v-1" in incidents[0].detail
    assert "account" in incidents[0].detail


@pytest.mark.proof
def test_no_write_of_the_surface_changes_what_is_not_the_nodes(
    intruder: Intruder, world: World
) -> None:
    before, taken = facts(intruder), []
    for path, method in WRITES:
        for body in [*(aimed(path) or ()), *examples_of(path, method, world)]:
            with undone():
                answer = getattr(intruder.client(), method)(
                    path.format(**world.paths), json.dumps(body), "application/json"
                )
                assert changes(before, facts(intruder)) == {}, (method, path, body)
            if answer.status_code not in REFUSED and aimed(path) is None:
                taken.append(f"{method} {path}: {answer.status_code}")
    # What an agent may call is aimed at above: a new one needs bodies with another node's ids.
    assert sorted(set(taken)) == []


def examples_of(path: str, method: str, world: World) -> list[Any]:
    """The documented bodies with ids of what others have; of what takes none, an empty one."""
    for its_path, its_method, operation in operations():
        if (its_path, its_method) == (path, method):
            return [with_world(each, world) for each in request_examples(operation).values()] or [
                {}
            ]
    return [{}]


def facts(intruder: Intruder) -> dict[str, dict[str, str]]:
    """By table, each row that is not the intruder's own, by its key."""
    return {
        model._meta.db_table: dict(rows_of(model._meta.db_table, intruder))
        for model in apps.get_models()
        if model.__module__.startswith("apps.") and model._meta.managed
    }


def rows_of(table: str, intruder: Intruder) -> Iterator[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT to_jsonb(row)::text FROM {table} AS row")  # noqa: S608
        for (text,) in cursor.fetchall():
            row = {
                name: value for name, value in json.loads(text).items() if name not in TOLD_ALIKE
            }
            is_own = (
                row.get("node_id") == intruder.node_id
                or row.get("agent_node_id") == intruder.node_id
                or row.get("agent_id") == intruder.agent_id
                or (table == "fleet_agent" and row["id"] == intruder.agent_id)
                or (table == "fleet_changedhour" and row["unit"] == intruder.node_id)
            )
            # Names alone say nothing of anybody.
            if not is_own and table != "telemetry_holderkey":
                yield json.dumps(row, sort_keys=True), text


def changes(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> dict[str, Any]:
    """What was lost or gained, by table."""
    found = {}
    for table, rows in before.items():
        lost, gained = rows.keys() - after[table].keys(), after[table].keys() - rows.keys()
        if lost or gained:
            found[table] = sorted(lost), sorted(gained)
    return found
