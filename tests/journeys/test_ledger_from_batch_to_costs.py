"""One dollar all the way: a batch and a job over HTTP, settled, audited, and asked for."""

import json
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from apps.fleet import actions as fleet
from apps.pricing import actions as pricing
from tests import make
from tests.apps.telemetry.sending import Sending, batch, now, window

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def hour() -> datetime:
    """Three hours ago: settled for good by now."""
    return now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=4)


@pytest.fixture
def sending(hour: datetime) -> Sending:
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


def test_a_batch_and_a_job_become_costs_that_add_up(
    sending: Sending, hour: datetime, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = sending.post(batch([window(minute, hour=hour) for minute in range(60)]))
    assert answer.json()["accepted"] == 60
    assert tell_job(sending, hour).status_code == 200

    call_command(
        "settle", "--from", hour.isoformat(), "--to", (hour + timedelta(hours=1)).isoformat()
    )
    costs = ask(hour)

    # One of two GPUs for the whole hour, 40 of 60 seconds at work: $10, of which two thirds worked.
    amounts = {row["state"]: row["cost"]["amount"] for row in costs["results"]}
    assert amounts == {
        "active": "6.666667",
        "held_idle": "3.333333",
        "unallocated": "10.000000",
    }
    assert costs["totals"]["cost"]["amount"] == "20.000000"
    assert costs["meta"]["coverage"] == 1
    capsys.readouterr()
    call_command("audit_ledger", "--to", (hour + timedelta(hours=1)).isoformat(), "--json")
    assert json.loads(capsys.readouterr().out)["residual_micros"] == 0


def tell_job(sending: Sending, hour: datetime) -> Any:
    token = make.make_token("jobs")
    fleet.bind_cluster_token(token_id=token.id, cluster_id=make.make_cluster("atlas"))
    start = {
        "cluster": "atlas",
        "raw_id": "4711",
        "event": "start",
        "at": hour.isoformat(),
        "source": "scheduler",
        "account": "research",
        "allocations": [{"node": "gpu-01", "gpus": 1, "devices": ["GPU-0"]}],
    }
    end = {key: start[key] for key in ("cluster", "raw_id", "source")} | {
        "event": "end",
        "at": (hour + timedelta(hours=1)).isoformat(),
        "state": "COMPLETED",
    }
    client = Client(headers={"Authorization": f"Bearer {token.secret}"})
    client.post("/api/v1/jobs", start, content_type="application/json")
    return client.post("/api/v1/jobs", end, content_type="application/json")


def ask(hour: datetime) -> Any:
    token = make.make_token("read")
    return (
        Client(headers={"Authorization": f"Bearer {token.secret}"})
        .get("/api/v1/costs", {"window": f"{hour:%Y-%m-%d}", "group_by": "state"})
        .json()
    )
