"""What people and passes keep beside the ledger, so that every page of the console has something to show.

Made through the actions that people use, after the rows of `bench/pages_*.sql`; what a night's look would find is
made as the tests make it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from apps.accounts import actions as accounts
from apps.accounts.queries import Viewer, viewer_of_user
from apps.economics.hours import hour_of
from apps.fleet import actions as fleet
from apps.fleet.models import Node, TrustIncident, TrustKind, WaitingNode
from apps.ledger.models import Bill, BillTwin
from apps.placement.actions import make_offer_book, make_quote, request_admission
from apps.placement.queries.admission_limits import AdmissionJob
from apps.placement.queries.quote_request import QuoteRequest, RequestedWork
from apps.planning import actions as planning
from apps.planning.actions.plans import keep_plan
from apps.planning.actions.requests import raise_capacity_request
from apps.planning.actions.series_uploads import RowsRead, keep_series_file, record_series_preview
from apps.planning.queries.budgets import BudgetStep
from apps.planning.queries.events import DemandEventFact
from apps.planning.queries.plan_items import NewPlannedItem, PriceChange
from apps.planning.queries.plans import EnteredPlan
from apps.planning.queries.requests import EnteredCapacityRequest
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from apps.planning.solvers.portfolio import series_answer
from apps.review import actions as review
from apps.review.models import AlertKind, AnomalyVerdict, Finding
from apps.show.document import document_text
from apps.uploads.files import StoredFile
from apps.uploads.imports import RejectedFact
from apps.workloads.models import ExcludedNodeName, ServiceObjective
from apps.workloads.queries import workloads
from tests.apps.ledger import scene
from tests.apps.placement.move_scene import keep_one_move
from tests.apps.review import reviews
from tests.apps.review.recommended import looked, proposal
from tests.apps.review.spend_history import spend_anomaly_of
from tests.make import SCENARIO

LEAD, PLATFORM = 3, 2
TEAM, POOL, CLUSTER, TOKEN = 100, 1, 1, 1
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Company:
    """How much there is of it, and when."""

    at: datetime
    teams: int
    began: datetime

    @property
    def month(self) -> date:
        """The first of this month."""
        return self.at.date().replace(day=1)


def plant_matters(company: Company) -> None:
    """Make all of it; each is said by its kind where it fails."""
    for kind, plant in MATTERS.items():
        try:
            plant(company)
        except Exception as trouble:
            trouble.add_note(f"while the bench planted {kind}: bench/pages_matters.py")
            raise


def _budgets(company: Company) -> None:
    steps = (BudgetStep(company.month, Decimal(40_000)),)
    for number in range(company.teams):
        name, key = f"Budget of team {number}", str(TEAM + number)
        budget = planning.EnteredBudget(
            name, "team", key, "money", "monthly", company.month, None, steps
        )
        planning.add_budget(budget=budget, at=company.at)


def _alerts(company: Company) -> None:
    for number in range(4 * company.teams):
        told = review.AlertMatter(
            matter=f"budget:{number}:threshold",
            kind=AlertKind.BUDGET_THRESHOLD,
            severity="warning",
            title=f"Budget {number} has used 92 % of its amount",
            facts=[("So far", "$36,800"), ("Of", "$40,000")],
            link="/budgets",
            team_id=TEAM + number % company.teams,
            level=90,
        )
        review.raise_alert(alert_matter=told, at=company.at)


def _channels(company: Company) -> None:
    for number in range(10):
        channel = review.EnteredAlertChannel(
            f"Channel {number}", "mail", None, address=f"c{number}@example.org"
        )
        made = review.add_channel(channel=channel, at=company.at)
        for _ in range(20):
            review.try_channel(channel_id=made.id, at=company.at)


def _anomalies(company: Company) -> None:
    for number in range(company.teams):
        spend_anomaly_of(TEAM + number, f"Team {number}", company.at)
    today = company.at.date()
    changed_on = today - timedelta(days=12)
    for service in workloads().values():
        Finding.objects.create(
            kind="step", measure="cost_per_1000_requests", workload_id=service.id, changed_on=changed_on,
            first_seen_on=changed_on, last_seen_on=today, seen=2, before=0.61, after=0.73, effect_ratio=0.2,
            impact_micros=613_000_000, parts=[{"name": "price", "millionths": 120_000}],
            causes=[{"kind": "deploy", "what": "9", "on": changed_on.isoformat(), "days": 0}],
        )  # fmt: skip
    first = Finding.objects.earliest("pk")
    AnomalyVerdict.objects.create(
        verdict="explained", series=f"cost_per_1000_requests|{first.workload_id}", finding=first,
        at=company.at, who="Person 1", reason="a launch",
    )  # fmt: skip


def _recommendations(company: Company) -> None:
    proposals = [
        proposal(f"{number}:2", likely=1_000 + number, team_id=TEAM + number % company.teams)
        for number in range(2 * company.teams)
    ]
    looked(*proposals, at=company.at)


def _weekly_review(company: Company) -> None:
    facts = workloads().values()
    rows = [reviews.workload(fact.id, fact.team_id, name=fact.name) for fact in facts]
    teams = tuple(reviews.team(TEAM + number) for number in range(company.teams))
    review.freeze_review(content=reviews.content(*rows, teams=teams), at=company.at)
    review.make_review_files(
        typeset=lambda document, _: document_text(document).encode(), at=company.at
    )


def _plans(company: Company) -> None:
    items = tuple(
        NewPlannedItem(f"price {number}", company.at.date(), PriceChange(0.9))
        for number in range(5)
    )
    for number in range(10):
        plan = EnteredPlan(f"Plan {number}", company.at.date(), 26, pool_id=POOL, items=items)
        keep_plan(plan=plan, by=None, at=company.at)


def _capacity_requests(company: Company) -> None:
    for number in range(company.teams):
        request = EnteredCapacityRequest(
            TEAM + number,
            pool_id=POOL,
            gpus=5,
            starts_at=company.at,
            ends_at=None,
            reason="a longer context",
        )
        raise_capacity_request(request=request, by=None, at=company.at)


def _headroom(company: Company) -> None:
    policy = planning.EnteredHeadroomPolicy(
        "Pretraining", "pool", str(POOL), (), Decimal(6), Decimal(2), lead_days=14
    )
    planning.add_headroom_policy(policy=policy, at=company.at)
    quota = planning.EnteredGpuQuota("aws", "", "", 20_000, 14, "Person 2")
    planning.add_gpu_quota(quota=quota, at=company.at)
    limit = planning.EnteredPowerLimit("Hall 2", (POOL,), Decimal(240), Decimal("1.3"))
    planning.add_power_limit(limit=limit, at=company.at)
    target = planning.EnteredActivityTarget("team", TEAM, "active", Decimal("0.7"))
    planning.set_activity_target(target=target, at=company.at)


def _forecasts(company: Company) -> None:
    """Of one team and one pool: a series takes a second of solving."""
    for series in (
        SeriesKey("spend", "team", str(TEAM)),
        SeriesKey("gpu_hours", "pool", str(POOL)),
    ):
        points = [
            (hour_of(company.at) - hour * HOUR, 50.0 + hour % 24) for hour in range(1, 15 * 24)
        ]
        planning.import_history(series=series, points=points, at=company.at)
    planning.make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=company.at)
    launch = DemandEventFact(
        0,
        "Launch",
        "launch",
        company.at.date(),
        None,
        "gpu_hours",
        "pool",
        str(POOL),
        "factor",
        1.4,
        None,
    )
    planning.add_demand_event(event=launch, at=company.at)


def _series_import(company: Company) -> None:
    file = StoredFile("history.csv", "0" * 32 + ".upload", 9, "0" * 64)
    import_id = keep_series_file(upload=file, person_id=PLATFORM, at=company.at)
    asked = {
        "series": ["gpu_hours", "", ""], "time": "time", "value": "value", "unit": "gpus", "zone": "UTC",
        "rows": "moments",
    }  # fmt: skip
    hour = hour_of(company.at).isoformat()
    trial = {
        "refused": "", "hours": 2, "from": hour, "until": hour, "known": 2, "unknown": 3, "gaps": [[hour, 3]],
        "gap_count": 1, "first_rows": [[2, hour, 8.0]], "least": 8.0, "mean": 8.0, "most": 8.0, "added": 2,
        "changed": 0,
    }  # fmt: skip
    rejected = [RejectedFact(7, "value", "'many' is no number")]
    seen = {"trial": trial, "columns": ["time", "value"]}
    record_series_preview(
        import_id=import_id, reading=asked, preview=seen, read=RowsRead(3, rejected)
    )


def _scenarios(company: Company) -> None:
    entry = planning.ScenarioEntry(json.dumps(SCENARIO))
    kept = planning.keep_scenario(entry=entry, owner_id=None, at=company.at)
    planning.run_scenario(scenario_id=kept, at=company.at)


def _portfolio(company: Company) -> None:
    needed = {"name": "H100", "on_demand": 2.0, "demand": {"hours": [6.0, 8.0] * 12}}
    offer = {
        "name": "a year",
        "family": "H100",
        "kind": "reserved",
        "term_months": 12,
        "hourly": 1.0,
    }
    overlay = {"months": 1, "scenarios": 1, "families": [needed], "offers": [offer]}
    planning.request_portfolio(overlay=overlay, asked_by_id=None, at=company.at)
    planning.answer_portfolios(solver=series_answer, clock=lambda: company.at)


def _placement(company: Company) -> None:
    make_offer_book(at=company.at)
    asked = QuoteRequest(gpus=8, work=RequestedWork(gpu_hours=384), team_id=TEAM)
    for _ in range(200):
        make_quote(question=asked, team_ids=None, by=None, at=company.at)
    job = AdmissionJob(team_id=TEAM, gpus=8, pool_id=POOL)
    for _ in range(50):
        request_admission(job=job, by=_person(PLATFORM), at=company.at)
    keep_one_move(1, POOL, 1, company.at)


def _kept_by_people(company: Company) -> None:
    """A view and a note of everybody who asks, for a view is its owner's alone."""
    note = review.EnteredChartNote(company.at.date() - timedelta(days=1), "a launch", TEAM)
    review.add_chart_note(note=note, viewer=_person(1), at=company.at)
    for owner_id in (1, PLATFORM, LEAD):
        entry = accounts.SavedViewEntry("Runs of a quarter", None)
        accounts.save_view(
            owner_id=owner_id, address="/runs?window=90d", entry=entry, at=company.at
        )


def _bill_twin(company: Company) -> None:
    """A file of another kind that is to be added to a bill: somebody is asked."""
    bill = Bill.objects.order_by("pk")[0]
    BillTwin.objects.create(
        bill=bill, other=bill, why="a file of another kind", noticed_at=company.at
    )


def _doors(company: Company) -> None:
    """A way in for nodes, a name that is none of ours, a promise and a file."""
    token = fleet.NewJoinToken("nodes", CLUSTER, ("gpu-*",), company.at + timedelta(days=9))
    token_id = fleet.make_join_token(token=token, at=company.at).id
    WaitingNode.objects.create(
        join_token_id=token_id, name="gpu-9999", first_at=company.at, last_at=company.at
    )
    TrustIncident.objects.create(
        kind=TrustKind.DEVICES, node=Node.objects.earliest("pk"), ceiling=8, reported=1024,
        first_at=company.at, last_at=company.at,
    )  # fmt: skip
    ExcludedNodeName.objects.create(
        cluster_id=CLUSTER, name="login-1", reason="a login node", decided_at=company.at
    )
    service_id = min(fact.id for fact in workloads().values() if fact.kind == "serving")
    ServiceObjective.objects.create(
        workload_id=service_id, feature="", measure="first_token", within_seconds=0.5,
        target_ratio=0.95, period=(company.began, None),
    )  # fmt: skip
    scene.make_export(TOKEN, text="pool,team\n")


def _person(user_id: int) -> Viewer:
    return viewer_of_user(user_id)


MATTERS: Mapping[str, Callable[[Company], None]] = {
    "budgets": _budgets,
    "alerts": _alerts,
    "channels": _channels,
    "anomalies": _anomalies,
    "recommendations": _recommendations,
    "weekly reviews": _weekly_review,
    "plans": _plans,
    "capacity requests": _capacity_requests,
    "headroom": _headroom,
    "forecasts": _forecasts,
    "an import of a series": _series_import,
    "scenarios": _scenarios,
    "portfolios": _portfolio,
    "placement": _placement,
    "what people keep": _kept_by_people,
    "bills that may be one": _bill_twin,
    "doors": _doors,
}


def company_of(teams: int, began: datetime) -> Company:
    """Return the company of the seed as it stands now."""
    return Company(datetime.now(UTC), teams, began)
