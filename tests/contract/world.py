"""One of everything that the REST surface speaks of, for the examples of its description.

`PATHS` and `BODIES` say which made thing stands for a path parameter, or for a field of an example
body. A new parameter that neither knows fails the tests: make the thing in `make_world`.
"""

import json
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any

import numpy as np

from apps.accounts.queries import viewer_of_user
from apps.economics.hours import hour_of
from apps.economics.ownership import Rule
from apps.economics.spot.trace import SpotTrace
from apps.fleet import actions as fleet
from apps.fleet.actions import clouds
from apps.fleet.models import TrustIncident, WaitingNode
from apps.ledger.actions.partitions import ensure_month
from apps.ledger.models import (
    ApiHour,
    Bill,
    BillImport,
    BillRule,
    BillTwin,
    Close,
    RejectedBillRow,
    StatementLine,
    VendorCost,
)
from apps.placement.actions import (
    SpotPlace,
    keep_spot_series,
    make_offer_book,
    make_quote,
    request_admission,
    set_egress_prices,
)
from apps.placement.models import JobQuote
from apps.placement.queries.admission_limits import AdmissionJob
from apps.placement.queries.quote_request import QuoteRequest, RequestedWork
from apps.planning.actions import (
    EnteredActivityTarget,
    EnteredBudget,
    EnteredGpuQuota,
    EnteredHeadroomPolicy,
    EnteredPowerLimit,
    ScenarioEntry,
    add_budget,
    add_demand_event,
    add_gpu_quota,
    add_headroom_policy,
    add_power_limit,
    answer_portfolios,
    import_history,
    keep_scenario,
    make_forecasts,
    request_portfolio,
    run_scenario,
    set_activity_target,
)
from apps.planning.actions.plans import EnteredPlan, keep_plan
from apps.planning.actions.requests import EnteredCapacityRequest, raise_capacity_request
from apps.planning.models import Forecast, PlannedItem
from apps.planning.queries.budgets import BudgetStep
from apps.planning.queries.events import DemandEventFact
from apps.planning.queries.plan_items import NewPlannedItem, TrainingWork
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from apps.planning.solvers.portfolio import series_answer
from apps.pricing.actions.api_prices import EnteredApiPrice, add_api_price
from apps.pricing.actions.quotas import QuotaPlace, record_quotas
from apps.providers.reading import AccountLimit
from apps.review import actions
from apps.review.actions import (
    AlertMatter,
    EnteredAlertChannel,
    EnteredChartNote,
    add_channel,
    add_chart_note,
    raise_alert,
    try_channel,
)
from apps.review.models import AlertChannel, AlertKind, AnomalyVerdict, Finding
from apps.telemetry.models import Incident
from apps.unit_economics.actions.runs import figure_due_runs
from apps.workloads.actions.returns import state_score, state_value
from apps.workloads.actions.rules import add_rule
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import Job, RequestHour, Run, RunSpan, ServiceObjective
from apps.workloads.queries import RuleFact
from apps.workloads.queries.returns import EnteredScore, EnteredValue
from tests import make
from tests.apps.ledger import scene
from tests.apps.placement.move_scene import keep_one_move
from tests.apps.review import reviews
from tests.apps.review.recommended import looked, proposal
from tests.apps.review.spend_history import spend_anomaly_of
from tests.apps.unit_economics import service_scene
from tests.contract.frozen_week import FROZEN_WEEK
from tests.make import SCENARIO

NEVER = datetime(2099, 1, 1, tzinfo=UTC)
NOON_NEXT_YEAR = make.NOON + timedelta(days=365)


@dataclass(frozen=True, slots=True)
class World:
    """What was made: ids by the parameter they fill, and the token that may do everything."""

    secret: str
    paths: dict[str, Any]
    bodies: dict[str, Any]

    @property
    def headers(self) -> dict[str, str]:
        """How the examples are sent."""
        return {"Authorization": f"Bearer {self.secret}"}


def _reviewed(workload_ids: tuple[int, int], team_id: int) -> str:
    """A frozen week with workloads and what was said of it; what that is worth, and how good it is."""
    rows = tuple(reviews.workload(workload_id, team_id) for workload_id in workload_ids)
    service_id, _ = workload_ids
    actions.freeze_review(content=replace(FROZEN_WEEK, workloads=rows), at=make.NOON)
    by = viewer_of_user(make.make_person("review@example.org", role="finance"))
    note = actions.EnteredReviewNote("2026-W30", service_id, "shrink", "Two replicas go at night.")
    actions.add_review_note(note=note, by=by, at=make.NOON)
    worth = EnteredValue(
        service_id, "thousand_requests", Decimal("0.8"), Decimal("1.2"), date(2026, 7, 1)
    )
    state_value(value=worth, by=by, at=make.NOON)
    score = EnteredScore(service_id, "resolved", 0.64, True, date(2026, 3, 1))
    state_score(score=score, by=by, at=make.NOON, today=date(2026, 3, 2))
    return "2026-W30"


def make_world() -> World:
    """Everything the examples need."""
    make.make_organisation()
    team_id = make.make_team("Research", cost_centre="CC-100")
    cluster_id = make.make_cluster("atlas")
    pool_id = make.make_pool("h100", cluster_id=cluster_id, owner_team_id=team_id)
    node_id = make.make_node("gpu-01", pool_id=pool_id, cluster_id=cluster_id)
    reporting_id = make.make_agent(node_id=node_id)
    _report(reporting_id, node_id)
    outage = fleet.NewOutage(
        node_id=node_id, kind="maintenance", starts_at=make.NOON + timedelta(hours=1)
    )
    workload_id = add_workload(name="llm-pretrain", team_id=team_id, kind="training")
    rule = Rule(10, team_id, workload_id=workload_id, account="research")
    rule_id = add_rule(rule=RuleFact(rule, None, None), at=make.NOON)
    job_id = scene.make_job("4711", node_id)
    Job.objects.filter(id=job_id).update(name="pretrain-7b", user="ada", partition="h100")
    ids = {
        "team_id": team_id,
        "workload_id": workload_id,
        "rule_id": rule_id,
        "run_id": _run(job_id),
        "token_id": make.make_token("read", name="reports", team_id=team_id).id,
        "cluster_id": cluster_id,
        "pool_id": pool_id,
        "node_id": node_id,
        "device_id": make.make_device("GPU-0", node_id=node_id),
        "agent_id": reporting_id,
        "outage_id": fleet.record_outage(outage=outage, at=make.NOON),
        "rate_id": make.make_rate(),
        "commitment_id": scene.make_commitment(
            name="two p5 for a year", period=(make.NOON, NOON_NEXT_YEAR)
        ),
        "job_id": job_id,
    }
    scene.make_owned_plan("rack 4")
    ids["shared_cost_id"] = scene.make_shared_cost("Support")
    ids["bill_rule_id"] = BillRule.objects.create(
        priority=10, resource_id="host-*", node_id=node_id, created_at=make.NOON
    ).id
    ids["bill_id"] = _bill()
    ids["import_id"] = _delivery()
    ids["waiting_import_id"], ids["failed_import_id"] = _uploaded("waiting"), _uploaded("failed")
    ids["bill_twin_id"] = _twin(ids["bill_id"])
    ids["close_id"] = _close(team_id)
    _cloud()
    ids["api_price_id"] = _called(team_id)
    ids["service_id"] = add_workload(name="answer-box", team_id=team_id, kind="serving")
    _counted(ids["service_id"])
    ids["objective_id"] = _promised(ids["service_id"])
    _answered(ids["service_id"], team_id, pool_id)
    ids |= _changed(ids["service_id"])
    ids["forecast_id"], ids["daily_forecast_id"] = _forecasts(pool_id)
    ids["demand_event_id"] = _launch(pool_id)
    ids["scenario_id"] = _scenario()
    ids["portfolio_id"] = _portfolio()
    _spot_seen()
    ids["plan_id"], ids["item_id"] = _planned(pool_id)
    ids["capacity_request_id"] = _asked_for(team_id, workload_id, pool_id)
    ids["budget_id"] = _budget(team_id)
    quota = EnteredGpuQuota("aws", "", "", 64, 14, "Petra", 128, date(2026, 3, 2))
    add_gpu_quota(quota=quota, at=make.NOON)
    policy = EnteredHeadroomPolicy(
        "Pretraining", "pool", str(pool_id), (), Decimal(6), Decimal(2), lead_days=14
    )
    add_headroom_policy(policy=policy, at=make.NOON)
    target = EnteredActivityTarget("team", team_id, "active", Decimal("0.7"))
    set_activity_target(target=target, at=make.NOON)
    room = EnteredPowerLimit("Hall 2", (pool_id,), Decimal(240), Decimal("1.3"), Decimal(180))
    add_power_limit(limit=room, at=make.NOON)
    joining = fleet.NewJoinToken("nodes of atlas", cluster_id, ("gpu-*",), NEVER, pool_id)
    ids["join_token_id"] = fleet.make_join_token(token=joining, at=make.NOON).id
    waiting = {"join_token_id": ids["join_token_id"], "first_at": make.NOON, "last_at": make.NOON}
    ids["waiting_node_id"] = WaitingNode.objects.create(name="gpu-21", **waiting).id
    growth = fleet.TrustMatter("devices_waiting", "1016 GPUs wait", node_id, None, 8, 1024)
    fleet.raise_trust_incident(matter=growth, at=make.NOON)
    ids["trust_incident_id"] = TrustIncident.objects.get(node_id=node_id).id
    invitation = fleet.invite_agent(node_id=node_id, expires_at=NEVER, at=make.NOON)
    everything = make.make_token(
        "read",
        "manage",
        "jobs",
        "runs",
        "requests",
        "usage",
        "ingest",
        "schedule",
        name="everything",
    )
    ids["export_id"] = scene.make_export(everything.id)
    ids["week"] = _reviewed((ids["service_id"], workload_id), team_id)
    ids["quote_id"] = _quoted(team_id)
    ids["admission_id"] = _admitted(team_id, pool_id)
    keep_one_move(workload_id, pool_id, ids["run_id"], datetime.now(tz=UTC))
    ids["alert_id"] = _alerted(team_id)
    (ids["recommendation_id"],) = looked(
        proposal(team_id=team_id, workload_id=workload_id), at=datetime.now(tz=UTC)
    )
    ids["answer"] = "dismiss"
    ids |= spend_anomaly_of(team_id, "GPUs", make.NOON)
    ids["channel_id"] = _channel()
    noted = EnteredChartNote(date(2026, 11, 12), "The assistant was announced", team_id)
    ids["chart_note_id"] = add_chart_note(
        note=noted, viewer=viewer_of_user(make.make_person("noting@example.org", role="finance")),
        at=make.NOON,
    )  # fmt: skip
    hour = hour_of(datetime.now(tz=UTC)).isoformat()
    offer = JobQuote.objects.get(id=ids["quote_id"]).answer["offers"][0]["key"]
    bodies = {
        "node_id": node_id, "token": invitation, "hour": hour, "offer": offer, "job": job_id,
        "workload": ids["service_id"],
    }  # fmt: skip
    return World(everything.secret, paths=ids, bodies=bodies)


def _admitted(team_id: int, pool_id: int) -> int:
    """A job that a hard budget denies, so that it can be overridden."""
    month = datetime.now(tz=UTC).date().replace(day=1)
    steps = (BudgetStep(month, Decimal(1)),)
    tiny = EnteredBudget(
        "One hour", "team", str(team_id), "gpu_hours", "monthly", month, None, steps, is_hard=True
    )
    add_budget(budget=tiny, at=make.NOON)
    job = AdmissionJob(team_id=team_id, gpus=8, gpu_hours=384, pool_id=pool_id)
    person = make.make_person("asker@example.org", role="finance")
    return request_admission(job=job, by=viewer_of_user(person), at=datetime.now(tz=UTC))


def _channel() -> int:
    """Where the organisation's alerts are mailed, paused, with a test that waits."""
    channel = EnteredAlertChannel("Finance", "mail", None, address="fin@example.org")
    channel_id = add_channel(channel=channel, at=make.NOON).id
    try_channel(channel_id=channel_id, at=make.NOON)
    AlertChannel.objects.update(paused_at=make.NOON)
    return channel_id


def _alerted(team_id: int) -> int:
    """A budget of which nine tenths are used."""
    told = AlertMatter(
        matter="budget:1:2026-03-01:threshold",
        kind=AlertKind.BUDGET_THRESHOLD,
        severity="warning",
        title="GPUs has used 92 % of its $50,000 of March 2026, with 63 % of the time gone",
        facts=[("So far", "$46,000")],
        link="/budgets/1",
        team_id=team_id,
        level=90,
    )
    alert_id = raise_alert(alert_matter=told, at=make.NOON)
    assert alert_id is not None
    return alert_id


def _quoted(team_id: int) -> int:
    """A book of the pool's offer, a price of egress, and a quote of which nothing was taken; of another, something came."""
    at = datetime.now(tz=UTC)
    prices = {("aws:us-east-1", "gcp:us-central1"): Decimal("0.09")}
    set_egress_prices(prices=prices, source="price list of March", at=at)
    make_offer_book(at=at)
    asked = QuoteRequest(gpus=8, work=RequestedWork(gpu_hours=384), team_id=team_id)
    taken, left = (make_quote(question=asked, team_ids=None, by=None, at=at).id for _ in range(2))
    ended = JobQuote.objects.get(id=taken)
    ended.chosen, ended.taken_at, ended.ended_at = ended.answer["offers"][0]["key"], at, at
    ended.save()
    return left


def _called(team_id: int) -> int:
    """Calls to a model API, what their vendor says of the day, and a contract price."""
    at = hour_of(datetime.now(tz=UTC))
    ApiHour.objects.create(
        hour=at, vendor="openai", model="gpt-4.1", team_id=team_id, requests=40,
        input_tokens=1_200_000, output_tokens=50_000, micros=12_500_000, list_micros=12_500_000,
    )  # fmt: skip
    VendorCost.objects.create(
        vendor="openai", day=at.date(), amount=Decimal("12.5"), currency="USD",
        micros=12_500_000, told_at=at,
    )  # fmt: skip
    price = EnteredApiPrice("openai", "gpt-4.1*", "input", make.NOON, amount=Decimal("1.5"))
    return add_api_price(price=price)


def _bill() -> int:
    """A bill that came, and nothing of it yet."""
    values = {"issuer": "A Cloud", "provider": "A Cloud", "account": "1234", "currency": "USD"}
    bill = Bill.objects.create(
        starts_at=make.NOON,
        ends_at=NEVER,
        created_at=make.NOON,
        changed_at=make.NOON,
        **values,
    )
    return bill.id


def _twin(bill_id: int) -> int:
    """Another name of its issuer, and the delivery that is held for it."""
    values = {"issuer": "A Cloud, Inc.", "provider": "A Cloud", "account": "1234"}
    other = Bill.objects.create(
        starts_at=make.NOON, ends_at=NEVER, created_at=make.NOON, changed_at=make.NOON,
        currency="USD", **values,
    )  # fmt: skip
    held = BillImport.objects.create(
        name="again.csv", digest="1" * 64, state="held", started_at=make.NOON
    )
    why = "A Cloud and A Cloud, Inc. are one provider"
    return BillTwin.objects.create(
        bill=other, other_id=bill_id, batch=held, why=why, noticed_at=make.NOON
    ).id


def _delivery() -> int:
    """A delivery of a bill's file, with a row that could not be read."""
    batch = BillImport.objects.create(
        name="july.csv",
        digest="0" * 64,
        state="done",
        rejected=1,
        totals={"USD": dict.fromkeys(("billed", "effective", "list", "contracted"), "0")},
        started_at=make.NOON,
    )
    RejectedBillRow.objects.create(batch=batch, line=2, field="BilledCost", reason="no amount")
    return batch.id


def _uploaded(state: str) -> int:
    """A bill's file of which nothing is taken yet, or that was broken off."""
    return BillImport.objects.create(
        name=f"{state}.csv",
        digest=sha256(state.encode()).hexdigest(),
        state=state,
        stored_as=f"{state}.csv",
        started_at=make.NOON,
        ended_at=make.NOON if state == "failed" else None,
    ).id


def _close(team_id: int) -> int:
    """A closed month, and what a team was told of it."""
    close = Close.objects.create(
        month=date(2025, 12, 1),
        version=1,
        closed_at=make.NOON,
        cut_off=make.NOON,
        digest="0" * 64,
        lines=1,
        totals={f"{basis}_micros": 10_000 for basis in ("list", "contracted", "effective")},
    )
    StatementLine.objects.create(
        close=close,
        team_id=team_id,
        kind="node_hour",
        status="estimated",
        flags=0,
        unit_milliseconds=0,
        unpriced_milliseconds=0,
        effective_micros=10_000,
    )
    return close.id


def _cloud() -> None:
    """An account with one thing that was read of it, and a limit."""
    account = clouds.NewCloudAccount("main", "aws", "123456789012", ("us-east-1",), ("quotas",))
    account_id = clouds.add_cloud_account(account=account, at=make.NOON)
    turn = clouds.begin_sync(account_id=account_id, what="quotas", at=make.NOON)
    clouds.keep_page(turn=turn, cursor={}, counts={"quotas": 1}, at=make.NOON)
    clouds.finish_sync(turn=turn, at=make.NOON)
    limit = AccountLimit("L-417A185B", "Running On-Demand P instances", Decimal(1152), "vCPUs")
    place = QuotaPlace("aws", "123456789012", "us-east-1")
    record_quotas(place=place, quotas=[limit], at=make.NOON)


def _counted(workload_id: int) -> None:
    """What an engine counted of a service."""
    RequestHour.objects.create(
        workload_id=workload_id,
        service_named="answer-box",
        source="engine",
        source_key="1 127.0.0.1:8000",
        hour=make.NOON,
        revision=1,
        requests=1000,
    )


def _promised(workload_id: int) -> int:
    """What a service promises of one of its features."""
    objective = ServiceObjective.objects.create(
        workload_id=workload_id,
        feature="search",
        measure="first_token",
        within_seconds=0.5,
        target_ratio=0.95,
        period=(make.NOON, None),
    )
    return objective.id


def _changed(service_id: int) -> dict[str, int]:
    """A unit cost that changed, of which nothing is to be told."""
    found = Finding.objects.create(
        kind="step", measure="cost_per_1000_requests", workload_id=service_id,
        changed_on=date(2026, 3, 12), first_seen_on=date(2026, 3, 16),
        last_seen_on=date(2026, 3, 20), seen=4, before=0.42, after=0.4914, effect_ratio=0.17,
        impact_micros=1_413_720_000, parts=[{"name": "price", "millionths": 71_400}],
        causes=[{"kind": "deployment", "what": "answer-box 2.4.0", "on": "2026-03-12", "days": 0}],
    )  # fmt: skip
    said = AnomalyVerdict.objects.create(
        verdict="muted", series=f"cost_per_1000_requests|{service_id}", at=make.NOON, who="Petra",
        reason="a launch",
    )  # fmt: skip
    return {"finding_id": found.id, "finding_verdict_id": said.id}


def _launch(pool_id: int) -> int:
    """An event that a pool's demand is known to have."""
    launch = DemandEventFact(
        0, "Launch of the assistant", "launch", date(2026, 3, 16), None, "gpu_hours", "pool",
        str(pool_id), "factor", 1.4, None,
    )  # fmt: skip
    return add_demand_event(event=launch, at=make.NOON)


def _forecasts(pool_id: int) -> tuple[int, int]:
    """Forecasts of a pool's demand by the hour and by day, of two weeks of it."""
    demand = SeriesKey("gpu_hours", "pool", str(pool_id))
    hours = [(make.NOON + timedelta(hours=hour), 50.0 + hour % 24) for hour in range(14 * 24)]
    import_history(series=demand, points=hours, at=NOON_NEXT_YEAR)
    at = make.NOON + timedelta(days=15)
    make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=at)
    made = Forecast.objects.filter(series__measure="gpu_hours")
    return made.get(granularity="hour").id, made.get(granularity="day").id


def _portfolio() -> int:
    """One that is answered, and one that waits and may be called off: the latter's id."""
    needed = {"name": "H100", "on_demand": 2.0, "demand": {"hours": [6.0, 8.0] * 12}}
    offer = {
        "name": "a year",
        "family": "H100",
        "kind": "reserved",
        "term_months": 12,
        "hourly": 1.0,
    }
    overlay = {"months": 1, "scenarios": 1, "families": [needed], "offers": [offer]}
    request_portfolio(overlay=overlay, asked_by_id=None, at=make.NOON)
    answer_portfolios(solver=series_answer, clock=lambda: make.NOON)
    return request_portfolio(overlay=overlay, asked_by_id=None, at=make.NOON)


def _spot_seen() -> None:
    seen = SpotTrace("us-east-1a", 1.0, np.array([1.0, 1.0, 0.0] * 8), make.NOON.timestamp())
    place = SpotPlace("aws", "us-east-1", "us-east-1a", "NVIDIA H100 80GB HBM3")
    keep_spot_series(name="us-east-1a", trace=seen, place=place, source="looks", at=NOON_NEXT_YEAR)


def _scenario() -> int:
    """A kept scenario that was run."""
    entry = ScenarioEntry(json.dumps(SCENARIO))
    kept = keep_scenario(entry=entry, owner_id=None, at=make.NOON)
    run_scenario(scenario_id=kept, at=make.NOON + timedelta(seconds=20))
    return kept


def _planned(pool_id: int) -> tuple[int, int]:
    """A plan with one training in it."""
    training = NewPlannedItem("pretrain", make.NOON.date(), TrainingWork(8, 7e9, 1e12, 0.4))
    plan = EnteredPlan("autumn", make.NOON.date(), 4, pool_id=pool_id, items=(training,))
    plan_id = keep_plan(plan=plan, by=None, at=make.NOON)
    return plan_id, PlannedItem.objects.get(plan_id=plan_id).id


def _asked_for(team_id: int, workload_id: int, pool_id: int) -> int:
    """A request for capacity that a machine raised, so that anybody may decide on it."""
    request = EnteredCapacityRequest(
        team_id=team_id,
        workload_id=workload_id,
        pool_id=pool_id,
        gpus=12,
        starts_at=make.NOON,
        ends_at=NOON_NEXT_YEAR,
        reason="a longer context",
    )
    at = make.NOON + timedelta(days=15)
    return raise_capacity_request(request=request, by=None, at=at)


def _budget(team_id: int) -> int:
    """What a team may spend each month, with another amount from a later one on."""
    months = date(2026, 1, 1), date(2026, 7, 1)
    steps = tuple(BudgetStep(month, Decimal(50_000)) for month in months)
    budget = EnteredBudget(
        "GPUs", "team", str(team_id), "money", "monthly", months[0], None, steps, "Agreed"
    )
    return add_budget(budget=budget, at=make.NOON)


def _answered(service_id: int, team_id: int, pool_id: int) -> None:
    """An hour of today in which a service answered, with what it promised and what changed."""
    today = datetime.now(tz=UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    ensure_month(month=today.date().replace(day=1))
    service_scene.make_line(pool_id, team_id, service_id, hour=today, kind="service")
    bounds = {"latency_bounds_seconds": [1.0, 2.0], "latency_counts": [8, 1, 1]}
    service_scene.count(
        service_id, today, feature="ask", requests=10, prompt_tokens=100, cached_tokens=50,
        output_tokens=40, **bounds,
    )  # fmt: skip
    service_scene.promise(service_id)
    service_scene.change(service_id, "answer-box 2.4.0", today)
    service_scene.roll_up(pool_id, day=today)


def _report(agent_id: int, node_id: int) -> None:
    """An agent that said how it is, and an incident."""
    problem = {"code": "no_pod_resources", "detail": "the kubelet's socket is not mounted"}
    said = fleet.ReportedStatus(
        boot=1, sequence=1, state="ok", spool_batches=0, spool_bytes=0, problems=(problem,)
    )
    fleet.note_status(agent_id=agent_id, status=said, at=make.NOON)
    Incident.objects.create(
        node_id=node_id, kind="xid", code=79, started_at=make.NOON, last_at=make.NOON
    )


def _run(job_id: int) -> int:
    """A run that this job carried for an hour."""
    run = Run.objects.create(key="llm-7b-v3")
    began_at = Job.objects.get(id=job_id).opened_at
    RunSpan.objects.create(run=run, job_id=job_id, period=(began_at, began_at + timedelta(hours=1)))
    figure_due_runs(at=make.NOON)
    return run.id


def with_world(body: Any, world: World) -> Any:
    """An example body with the ids of what was made; what is told field by field, or by name, stays as it is shown."""
    if isinstance(body, dict):
        return {
            name: made
            if isinstance(value, type(made := world.bodies.get(name)))
            else with_world(value, world)
            for name, value in body.items()
        }
    return [with_world(each, world) for each in body] if isinstance(body, list) else body
