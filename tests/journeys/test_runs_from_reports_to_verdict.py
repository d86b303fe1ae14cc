"""A run that waits for data, all the way: what it reports, its node's counters, and the verdict."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from apps.pricing import actions as pricing
from apps.unit_economics.actions.runs import figure_due_runs
from apps.workloads.actions.workloads import add_workload
from apps.workloads.tasks import fold_runs
from tests import make
from tests.apps.ledger import scene
from tests.apps.telemetry.sending import Sending, ms, now

pytestmark = pytest.mark.django_db(transaction=True)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def hour() -> datetime:
    """Four hours ago: settled for good by now."""
    return now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=4)


@pytest.fixture
def sending(hour: datetime) -> Sending:
    """A node of two GPUs that costs 20 dollars an hour, and its agent."""
    make.make_organisation()
    cluster_id = make.make_cluster("atlas")
    pool_id = make.make_pool("h100", cluster_id=cluster_id)
    node_id = make.make_node("gpu-01", pool_id=pool_id, cluster_id=cluster_id, at=hour, units=2)
    pricing.add_rate(
        rate=pricing.EnteredRate(
            kind="list",
            amount=Decimal("20.00"),
            currency="USD",
            starts_at=None,
            purchase_option="on_demand",
            pool_id=pool_id,
        ),
        at=now(),
    )
    token = make.make_token(at=hour)
    agent_id = make.make_agent(node_id=node_id, token_id=token.id, at=hour)
    return Sending(node_id, agent_id, token.secret)


def test_a_starved_run_is_told_so_with_its_cost_and_the_disks_that_stalled(
    sending: Sending, hour: datetime
) -> None:
    team_id = make.make_team("Research")
    workload_id = add_workload(name="llm", team_id=team_id, kind="training")
    scene.make_rule("research", team_id)
    client = bearer("jobs", "read", name="everything")
    send_counters(sending, hour)
    tell_job(client, hour)
    run_id = report(bearer("runs", name="the team's", team_id=team_id), hour)

    fold_runs()
    call_command("settle", "--from", hour.isoformat(), "--to", (hour + 60 * MINUTE).isoformat())
    figure_due_runs(at=now())
    told = client.get(f"/api/v1/runs/{run_id}/bottlenecks").json()

    # Both GPUs for an hour, of which 24 minutes waited for data: $20, and $8 of it.
    assert told["words"] == (
        "Starved: 40\xa0% of GPU time waits for data; $8.00; "
        "storage: in 30\xa0% of that time some task of the node waited for disks."
    )
    assert {each["bucket"]: each["cost"]["amount"] for each in told["buckets"]} == {
        "productive": "12.000000",
        "data_wait": "8.000000",
    }
    of_all = client.get(f"/api/v1/workloads/{workload_id}/programme").json()
    assert (of_all["cost"]["amount"], of_all["tokens"]) == ("20.000000", 6_000_000)
    # $20 for six million tokens.
    assert of_all["cost_per_million_tokens"]["amount"] == "3.333333"
    assert of_all["goodput_ratio"] == 0.6


def bearer(*scopes: str, **given: Any) -> Client:
    """Somebody with a token of these scopes."""
    return Client(headers={"Authorization": f"Bearer {make.make_token(*scopes, **given).secret}"})


def send_counters(sending: Sending, hour: datetime) -> None:
    """What the agent's node counted: disks stalled in three tenths of the hour."""
    starts = [ms(hour + minute * MINUTE) for minute in range(60)]
    body: dict[str, Any] = {
        "format": 1,
        "boot": 1,
        "sequence": 0,
        "sent_at_ms": ms(now()),
        "agent": {"version": "0.2.0", "source": "nvml"},
        "devices": [],
        "node_readings": {
            "starts_at_ms": starts,
            "seconds": [60] * 60,
            "io_stalled_seconds": [18.0] * 60,
        },
    }
    answer = sending.client().post(
        "/api/v1/telemetry/reports", body, content_type="application/json"
    )
    assert answer.json()["accepted"]["node_readings"] == 60


def tell_job(client: Client, hour: datetime) -> None:
    """A job that held both GPUs for the hour."""
    known = {"cluster": "atlas", "raw_id": "4711", "source": "scheduler"}
    start = {
        "event": "start",
        "at": hour.isoformat(),
        "account": "research",
        "allocations": [{"node": "gpu-01", "gpus": 2}],
    }
    end = {"event": "end", "at": (hour + 60 * MINUTE).isoformat(), "state": "COMPLETED"}
    for event in (start, end):
        answer = client.post("/api/v1/jobs", known | event, content_type="application/json")
        assert answer.status_code == 200, answer.content


def report(client: Client, hour: datetime) -> int:
    """What the SDK says: in each ten minutes six of training and four of waiting for data."""
    windows = [
        {
            "starts_at_ms": ms(hour + tens * 10 * MINUTE),
            "ends_at_ms": ms(hour + (tens + 1) * 10 * MINUTE),
            "steps": 100,
            "first_step": tens * 100,
            "last_step": tens * 100 + 99,
            "tokens": 1_000_000,
            "examples": 0,
            "flops": 0.0,
            "productive_ms": 360_000,
            "phases_ms": {"data": 240_000},
            "step_times_ms": [],
        }
        for tens in range(6)
    ]
    told = {
        "run": "llm-7b",
        "workload": "llm",
        "attempt": "first",
        "rank": 0,
        "world_size": 2,
        "restarts": 0,
        "job": {"scheduler": "slurm", "raw_id": "4711", "cluster": "atlas"},
        "began_at_ms": ms(hour),
        "ended_at_ms": ms(hour + 60 * MINUTE),
        "status": "finished",
        "model": {"active_parameters": 7e9},
        "tags": {},
        "sequence": 0,
        "windows": windows,
        "events": [],
        "dropped": 0,
    }
    answer = client.post("/api/v1/run-reports", told, content_type="application/json")
    assert answer.status_code == 200, answer.content
    return int(answer.json()["results"][0]["run"])
