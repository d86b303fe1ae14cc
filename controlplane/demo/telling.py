"""The demo's work tells of itself, through the doors that the SDK, engines and gateways use."""

import gzip
import json
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import Any

from apps.accounts import actions as accounts
from apps.fleet import queries as fleet
from apps.workloads import queries as workloads
from controlplane.demo.calls import usage_events
from controlplane.demo.fleet import DemoSpan
from controlplane.demo.requests import request_hours
from controlplane.demo.runs import run_reports

Json = dict[str, Any]
ANSWER_SECONDS = 60
REPORTS, ROWS, CALLS = 8, 500, 2_000
"""How many go in one request."""


class DemoRefused(Exception):
    """The server did not take what the demo told."""


def tell(listen: str, story: Mapping[str, Any], tokens: Mapping[str, Any], span: DemoSpan) -> None:
    """Send what runs, services and calls have to say; `tokens` as `fill` returns them."""
    server = f"http://{listen}/api/v1"
    nodes = [node.id for node in fleet.nodes_lived(span.starts_at, span.ends_at)]
    held = workloads.allocations_held(nodes, span.starts_at, span.ends_at)
    jobs = workloads.jobs({each.job_id for each in held})
    reports = run_reports(story, list(jobs.values()), span)
    for part in _parts(reports, REPORTS):
        _post(f"{server}/run-reports", tokens["jobs"]["atlas"], part)
    counter = accounts.make_token(
        name="gateway of the demo",
        scopes=["requests", "usage"],
        expires_at=span.at + timedelta(hours=1),
        at=span.at,
    )
    for part in _parts(request_hours(span), ROWS):
        _post(f"{server}/request-hours", counter.secret, {"rows": part})
    for part in _parts(usage_events(span), CALLS):
        _post(f"{server}/usage-events", counter.secret, part)


def _parts(rows: Iterable[Json], size: int) -> Iterator[list[Json]]:
    rest = iter(rows)
    while part := list(islice(rest, size)):
        yield part


def _post(url: str, token: str, body: object) -> None:
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Content-Encoding": "gzip",
    }
    packed = gzip.compress(json.dumps(body).encode(), 6)
    asked = urllib.request.Request(url, data=packed, headers=headers, method="POST")  # noqa: S310
    try:
        with urllib.request.urlopen(asked, timeout=ANSWER_SECONDS) as answer:  # noqa: S310
            told = json.load(answer)
    except urllib.error.HTTPError as refused:
        raise DemoRefused(f"{url}: {refused.code} {refused.read(500).decode()}") from refused
    if told.get("errors"):
        raise DemoRefused(f"{url}: {told['errors'][:3]}")
