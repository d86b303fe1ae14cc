"""One dollar, all the way: a batch and job events over HTTP, the sweeps, and the page that says it."""

import csv
import io
import json
import urllib.request
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client

from apps.fleet import actions as fleet
from apps.ledger.tasks import settle_marked_hours
from apps.telemetry.actions.partitions import keep_partitions
from apps.telemetry.tasks import roll_up_usage
from tests import make
from tests.apps.ledger import scene
from tests.browser.fleet import make_people

pytestmark = pytest.mark.django_db
CONTRACT = Path(__file__).resolve().parents[1] / "contract"
HOUR = timedelta(hours=1)


def post(address: str, body: object, secret: str) -> dict:
    request = urllib.request.Request(  # noqa: S310 - the test's own server
        address,
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310 - the same
        return json.loads(answer.read())


def batch_of(hour: datetime) -> dict:
    """The agent's own batch, its windows in `hour`.

    It does not say when it was sent: on a busy machine the way here would be taken for a wrong
    clock, and its windows be moved off their minutes, by which time is kept to a quarter second.
    """
    batch = json.loads((CONTRACT / "telemetry_batch.json").read_text())
    starts = batch["windows"]["starts_at_ms"]
    shift = int(hour.timestamp() * 1000) - min(starts)
    batch["windows"]["starts_at_ms"] = [start + shift for start in starts]
    del batch["sent_at_ms"]
    return batch


def events_of(hour: datetime) -> dict:
    """The scheduler's own events of job 4711: it holds one GPU for the hour."""
    events = json.loads((CONTRACT / "jobs_bulk.json").read_text())["events"]
    first = events[0] | {
        "submitted_at": hour.isoformat(), "at": hour.isoformat(),
    }  # fmt: skip
    last = first | {"event": "end", "state": "COMPLETED", "at": (hour + HOUR).isoformat()}
    return {"events": [first, last]}


def test_from_a_batch_and_a_job_to_the_page(live_server):
    cache.clear()
    now = datetime.now(UTC)
    hour = now.replace(minute=0, second=0, microsecond=0) - 4 * HOUR
    keep_partitions(at=now)
    make.make_organisation()
    make_people("Finn")
    scene.make_rule("research", make.make_team("Research"))
    pool_id = make.make_pool("a100", gpus_per_node=3, gpu_model="NVIDIA A100-SXM4-80GB")
    scene.make_rate(pool_id, Decimal(36))
    cluster_id = make.make_cluster("atlas")
    node_id = make.make_node(
        "gpu-01", pool_id=pool_id, cluster_id=cluster_id, units=3, started_at=hour, at=hour + HOUR
    )
    fleet.end_node(node_id=node_id, ended_at=hour + HOUR, reason="", at=hour + HOUR)
    agent, scheduler = make.make_token("ingest"), make.make_token("jobs")
    make.make_agent(node_id=node_id, token_id=agent.id)
    fleet.bind_cluster_token(token_id=scheduler.id, cluster_id=cluster_id)

    address = f"{live_server.url}/api/v1"
    stored = post(f"{address}/telemetry/batches", batch_of(hour), agent.secret)
    assert stored["accepted"] == 7
    assert stored["rejected"] == []
    told = post(f"{address}/jobs/bulk", events_of(hour), scheduler.secret)
    assert told["errors"] == []
    roll_up_usage()
    settle_marked_hours()

    client = Client()
    client.force_login(get_user_model().objects.get(name="Finn"))
    page = client.get("/").content.decode().replace("\N{NO-BREAK SPACE}", " ")
    assert "The last 30 days cost $36.00, and " in page
    # One of three GPUs is held by Research for the hour, 12.00 of it: 120 s were observed, 41.25 s
    # of them worked. Of other GPUs its processes worked 24.349 s besides, which nobody had claimed.
    (research,) = [row for row in teams_of(client) if row["team"] == "Research"]
    assert research["held_idle"] == "0.262500"
    assert research["unobserved"] == "11.600000"
    assert float(research["active"]) == pytest.approx(12 * (41.25 + 24.349) / 3600, abs=1e-5)
    assert f"${float(research['cost']):.2f}" in page


def teams_of(client: Client) -> list[dict[str, str]]:
    """The rows of the page's table."""
    answer = client.get("/overview.csv?table=by-team")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))
