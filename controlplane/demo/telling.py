"""The demo's work tells of itself, through the doors that the SDK, engines and gateways use."""

from collections import Counter

from apps.fleet import queries as fleet
from apps.workloads import queries as workloads
from controlplane.demo.calls import usage_events
from controlplane.demo.company import Company
from controlplane.demo.doors import in_parts
from controlplane.demo.fleet import DemoSpan, Table
from controlplane.demo.requests import request_hours
from controlplane.demo.runs import run_reports

REPORTS, ROWS, CALLS = 8, 500, 2_000
"""How many go in one request."""


def tell(company: Company, story: Table, span: DemoSpan) -> None:
    """Send what runs that began in the span, services and calls have to say of it."""
    doors = company.doors
    nodes = [node.id for node in fleet.nodes_alive_between(span.starts_at, span.ends_at)]
    held = workloads.allocations_held(nodes, span.starts_at, span.ends_at)
    began = [
        job
        for job in workloads.jobs({each.job_id for each in held}).values()
        if job.started_at is not None and span.starts_at <= job.started_at < span.ends_at
    ]
    gpus: Counter[int] = Counter()
    for each in held:
        gpus[each.job_id] += int(each.gpus)
    for part in in_parts(run_reports(story, began, gpus, span), REPORTS):
        doors.post("run-reports", doors.tokens["jobs"]["atlas"], part, is_packed=True)
    for part in in_parts(request_hours(span), ROWS):
        doors.post("request-hours", doors.tokens["counts"], {"rows": part}, is_packed=True)
    for part in in_parts(usage_events(span), CALLS):
        doors.post("usage-events", doors.tokens["counts"], part, is_packed=True)
