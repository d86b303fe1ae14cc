"""Two teams, and jobs that nobody owns, on one node: every name and every amount is one of a kind.

The Zephyrines own (Ada is their owner, Ben a member), Dee leads the Harbour, Cy belongs nowhere.
Node gpu-01 costs 7,919.308 in the only settled hour, yesterday from 10:00 UTC: the Zephyrines hold
three of its eight GPUs, Dee's team two, and nobody's job runs on node gpu-02 for 5,003.11. All of
them still run.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from django.contrib.auth import get_user_model
from django.db.models import Sum
from django.test import Client

from apps.accounts import actions as accounts
from apps.accounts.models import Role
from apps.accounts.queries import viewer_of_user
from apps.economics.hours import hour_of
from apps.economics.jobs import (
    AllocationRecord,
    EventKind,
    JobEventIn,
    JobSource,
    JobStatement,
    RejectedJobRow,
)
from apps.economics.ownership import Rule
from apps.economics.spot.trace import SpotTrace
from apps.fleet import actions as fleet
from apps.fleet import queries as fleet_queries
from apps.fleet.actions import clouds
from apps.fleet.actions.cloud_machines import keep_machines
from apps.fleet.actions.trust import TrustMatter, raise_trust_incident
from apps.fleet.models import TrustIncident, WaitingNode
from apps.ledger.models import (
    ApiHour,
    Bill,
    BillImport,
    BillRule,
    BillTwin,
    Close,
    Line,
    StatementLine,
    VendorCost,
)
from apps.placement.actions import (
    SpotPlace,
    keep_spot_series,
    make_offer_book,
    make_quote,
    request_admission,
)
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
from apps.planning.actions.series_uploads import RowsRead, keep_series_file, record_series_preview
from apps.planning.models import Forecast, PlannedItem
from apps.planning.queries.budgets import BudgetStep
from apps.planning.queries.events import DemandEventFact
from apps.planning.queries.plan_items import NewPlannedItem, PriceChange
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from apps.planning.solvers.portfolio import series_answer
from apps.pricing.actions import EnteredRate, propose_rate
from apps.pricing.actions.api_prices import EnteredApiPrice, add_api_price
from apps.pricing.actions.quotas import QuotaPlace, record_quotas
from apps.providers.reading import AccountLimit, ObservedMachine
from apps.review import actions as review
from apps.review.actions import (
    AlertMatter,
    EnteredAlertChannel,
    EnteredChartNote,
    add_channel,
    add_chart_note,
    raise_alert,
    try_channel,
)
from apps.review.models import AlertKind, AnomalyVerdict, Finding
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.show.document import document_text
from apps.show.money import full_amount, rounded_amount, short_amount
from apps.telemetry.models import Incident
from apps.unit_economics.models import ServiceCount, ServiceDay, ServiceTotal
from apps.uploads.files import StoredFile
from apps.uploads.imports import RejectedFact
from apps.workloads.actions.imports import close_batch, open_batch, reject_rows
from apps.workloads.actions.recording import record_event
from apps.workloads.actions.returns import state_value
from apps.workloads.actions.rules import add_rule
from apps.workloads.actions.workloads import add_workload
from apps.workloads.models import (
    ExcludedNodeName,
    RequestHour,
    Run,
    RunAttempt,
    RunEvent,
    RunSummary,
)
from apps.workloads.queries import RuleFact
from apps.workloads.queries.returns import EnteredValue
from tests import make
from tests.apps.ledger import scene
from tests.apps.placement.move_scene import keep_one_move
from tests.apps.review import reviews
from tests.apps.review.recommended import looked, proposal
from tests.apps.review.spend_history import spend_anomaly_of
from tests.apps.unit_economics import service_scene
from tests.make import SCENARIO

NEVER = datetime(2099, 1, 1, tzinfo=UTC)
ZEPHYRINES, HARBOUR, NOBODY, WHOLE = "the Zephyrines'", "the Harbour's", "nobody's", "the whole's"
"""Whose secrets they are; the whole's are prices, tokens, people and sums over everybody."""

SECRETS: dict[str, tuple[str, ...]] = {
    ZEPHYRINES: (
        "Zephyrine", "Zephyrling", "CC-77190", "Ada Quillfeather", "windtunnel-larks",
        "pretrain-quill", "ottoline", "acct-plume", "ns-gusts", "gale-force", "run-kestrel",
        "880412771", "tagged-gannet",
        "answers-kittiwake", "feature-plover", "deploy-petrel", "feature-siskin", "asked-bittern",
        "scenario-lapwing",
        "allowance-of-swifts", "alarm-of-curlews", "stop-of-stints", "view-of-whimbrels",
    ),
    HARBOUR: (
        "Harbourside", "CC-55023", "tugboats", "dredge-nightly", "barnabas", "acct-quay",
        "660938125", "run-cutter", "answers-skua", "model-guillemot", "asked-avocet",
        "scenario-turnstone",
        "allowance-of-coots", "alarm-of-ruffs", "stop-of-knots",
    ),
    NOBODY: ("orphaned-sweep", "peregrina", "acct-drift", "330571944"),
    WHOLE: (
        "gpus-of-dunlin", "a-year-of-dunlin",
        "7919.308", "7,919.3", "5003.11", "5,003.11", "token-osprey", "token-of-zephyr",
        "ada.quillfeather@", "petra.rack@", "otters-of-march", "user-skerry",
        "cloud-of-cormorants", "limit-of-cormorants", "lone-cormorant", "join-of-terns",
        "reserve-curlew", "purchase-stork", "model-razorbill", "rented-out-wagtail",
        "allowance-of-harriers", "headroom-of-grebes", "alarm-of-plovers", "stop-of-turnstones", "rate-of-avocets",
        "wire-of-oystercatchers",
        "plan-of-godwits", "price-of-dunlin",
        "quota-of-dunlins", "room-of-siskins", "spot-of-phalaropes",
    ),
}  # fmt: skip

OWN_ADDRESS = {"ada": frozenset({"ada.quillfeather@"})}


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: by a session, by a token, or by neither; `may` read whose secrets, `knows` some."""

    name: str
    cookie: str = ""
    secret: str = ""
    may: frozenset[str] = frozenset()
    knows: frozenset[str] = frozenset()

    def client(self, **given: Any) -> Client:
        """A fresh client that is them."""
        headers = {"Authorization": f"Bearer {self.secret}"} if self.secret else {}
        client = Client(headers=headers, **given)
        if self.cookie:
            client.cookies["sessionid"] = self.cookie
        return client


@dataclass(frozen=True, slots=True)
class World:
    """`planted` fills the parameters of addresses; `secrets` are texts by whose they are."""

    planted: Mapping[str, Any]
    askers: Mapping[str, Asker]
    secrets: Mapping[str, frozenset[str]]

    def secrets_in(self, text: str, name: str) -> list[str]:
        """What of a text is not for this asker."""
        asker = self.askers[name]
        closed = self.secrets.keys() - asker.may
        texts = {each for whose in closed for each in self.secrets[whose]} - asker.knows
        return sorted(each for each in texts if each in text)


def make_world() -> World:
    """Everything, through the actions that people and machines use."""
    now = datetime.now(UTC)
    began_at = now.replace(hour=10, minute=0, second=0, microsecond=0) - timedelta(days=1)
    make.make_organisation()
    people = _people()
    teams = _teams(people)
    fleet_ids, uuids = _fleet(teams, began_at, now)
    work = _work(teams, uuids, began_at, now)
    scene.settle(now, starts_at=began_at, ends_at=began_at + scene.HOUR)
    batch_id = _import(now)
    line = Line.objects.filter(job_id=work["job_id"]).values("id", "posting_month").first()
    assert line is not None, "the hour of the Zephyrines' job was not settled"
    tokens = _tokens(teams)
    make.make_agent(node_id=fleet_ids["node_id"], token_id=tokens["osprey"].id)
    planted = {
        **fleet_ids,
        **work,
        **(services := _services(teams, began_at)),
        **_findings(services["service_id"], began_at),
        "demand_event_id": _demand_event(teams, now),
        "chart_note_id": _chart_note(people["ada"], teams["zephyr"], now),
        "view_id": _saved_view(people["ada"], teams["zephyr"], now),
        **_forecasts(teams, now),
        "scenario_id": _scenarios(teams, now),
        **_plan(fleet_ids["pool_id"], now),
        "capacity_request_id": _capacity_requests(teams, fleet_ids["pool_id"], now),
        "budget_id": _budgets(teams, now),
        "alert_id": _alerts(teams, now),
        "recommendation_id": _recommendations(teams, now),
        "week": _weekly_review(teams["zephyr"], work["workload_id"], now),
        "step": "claim",
        "answer": "claim",
        **spend_anomaly_of(teams["zephyr"], "Zephyr-spend", now),
        "channel_id": _channel(teams, now),
        "activity_target_id": _activity_target(teams["zephyr"], now),
        "gpu_quota_id": _gpu_quota(fleet_ids["pool_id"], now),
        "power_limit_id": _room(fleet_ids["pool_id"], now),
        "headroom_policy_id": _headroom(fleet_ids["pool_id"], now),
        "portfolio_id": _portfolio(now),
        "quote_id": _quoted(now),
        "admission_id": _admission(people["petra"], teams["zephyr"], fleet_ids["pool_id"], now),
        "move_id": keep_one_move(work["workload_id"], fleet_ids["pool_id"], work["run_id"], now),
        "spot_series_id": _spot_series(now),
        "family": 0,
        "api_price_id": _calls(teams, now),
        "team_id": teams["zephyr"],
        "person_id": people["ada"],
        "batch_id": batch_id,
        "series_import_id": _series_import(people["petra"], now),
        "import_id": _bill_import(now),
        "bill_id": _bill(now),
        "bill_twin_id": _bill_twin(now),
        "shared_cost_id": scene.make_shared_cost("pelican-storage", starts_at=now),
        "bill_rule_id": BillRule.objects.create(
            priority=10, resource_id="heron-*", node_id=fleet_ids["node_id"], created_at=now
        ).id,
        "close_id": _close(teams, now),
        "commitment_id": _commitment(teams, now),
        "owned_plan_id": scene.make_owned_plan(
            "purchase-stork",
            pool="bought machines",  # pools are everybody's to know
            starts_at=now.replace(minute=0, second=0, microsecond=0) + timedelta(days=1),
        ),
        "account_id": _cloud(now),
        "token_id": tokens["osprey"].id,
        **_trusted(fleet_ids, now),
        "exclusion_id": ExcludedNodeName.objects.create(
            cluster_id=fleet_ids["cluster_id"],
            name="login-wagtail",
            reason="rented-out-wagtail",
            decided_at=now,
        ).id,
        "line_id": line["id"],
        "export_id": scene.make_export(
            tokens["zephyr"].id, team_ids=[teams["zephyr"]], text="windtunnel-larks,pretrain-quill"
        ),
        "month": f"{line['posting_month']:%Y-%m}",
        # Whoever holds the true one is the invited person.
        "secret": "no-invitation-has-this",
        "provider_id": "no-provider",
        "name": "runrate_agent-0.0.0-py3-none-any.whl",  # everybody may fetch what is served
    }
    return World(planted, _askers(tokens), _secrets(teams))


def _chart_note(person_id: int, team_id: int, now: datetime) -> int:
    """What Ada notes of yesterday for the Zephyrines."""
    note = EnteredChartNote(now.date() - timedelta(days=1), "note-of-dotterels", team_id)
    return add_chart_note(note=note, viewer=viewer_of_user(person_id), at=now)


def _weekly_review(team_id: int, workload_id: int, now: datetime) -> str:
    """A frozen week of the Zephyrines' workload, with what they decided, and what it is worth to them."""
    of_team = reviews.team(team_id, name="Zephyrines")
    row = reviews.workload(workload_id, team_id, name="pretrain-quill", team="Zephyrines")
    review.freeze_review(content=reviews.content(row, teams=(of_team,)), at=now)
    review.make_review_files(typeset=lambda document, _: document_text(document).encode(), at=now)
    decided = review.EnteredReviewNote("2026-W30", workload_id, "keep", "windtunnel-larks stay")
    by = viewer_of_user(make.make_person("review@example.org", role="finance"))
    review.add_review_note(note=decided, by=by, at=now)
    value = EnteredValue(workload_id, "week", Decimal(77_771), Decimal(77_772), now.date())
    state_value(value=value, by=by, at=now)
    return "2026-W30"


def _saved_view(owner_id: int, team_id: int, now: datetime) -> int:
    """What Ada keeps for the Zephyrines."""
    entry = accounts.SavedViewEntry("view-of-whimbrels", team_id)
    return accounts.save_view(owner_id=owner_id, address="/runs?window=90d", entry=entry, at=now)


def _demand_event(teams: Mapping[str, int], now: datetime) -> int:
    """What the Zephyrines expect is theirs to know."""
    event = DemandEventFact(
        0, "windtunnel-larks", "launch", now.date(), None, "spend", "team", str(teams["zephyr"]),
        "factor", 1.4, None,
    )  # fmt: skip
    return add_demand_event(event=event, at=now)


def _forecasts(teams: Mapping[str, int], now: datetime) -> dict[str, int]:
    """What each team is expected to spend; that of the Zephyrines, by the hour and by day."""
    for team_id in teams.values():
        spent = [(hour_of(now) - hour * scene.HOUR, 613.0) for hour in range(1, 61)]
        import_history(series=SeriesKey("spend", "team", str(team_id)), points=spent, at=now)
    make_forecasts(maker=forecast_fields, daily=daily_forecast_fields, at=now)
    made = Forecast.objects.filter(series__measure="spend", series__key=str(teams["zephyr"]))
    return {
        "forecast_id": made.get(granularity="hour").id,
        "daily_forecast_id": made.get(granularity="day").id,
    }


def _scenarios(teams: Mapping[str, int], now: datetime) -> int:
    """What each team keeps of self-hosting against an API, named by a secret of its own; that of the Zephyrines."""
    kept = [
        keep_scenario(
            entry=ScenarioEntry(json.dumps(SCENARIO | {"name": name}), teams[team]),
            owner_id=None,
            at=now,
        )
        for team, name in (("zephyr", "scenario-lapwing"), ("harbour", "scenario-turnstone"))
    ]
    for scenario_id in kept:
        run_scenario(scenario_id=scenario_id, at=now)
    return kept[0]


def _plan(pool_id: int, now: datetime) -> dict[str, int]:
    """A plan, with what is planned in it: no team's to read."""
    item = NewPlannedItem("price-of-dunlin", now.date(), PriceChange(0.9))
    plan = EnteredPlan("plan-of-godwits", now.date(), 4, pool_id=pool_id, items=(item,))
    plan_id = keep_plan(plan=plan, by=None, at=now)
    return {"plan_id": plan_id, "item_id": PlannedItem.objects.get(plan_id=plan_id).id}


def _capacity_requests(teams: Mapping[str, int], pool_id: int, now: datetime) -> int:
    """What each team asks for, and why; that of the Zephyrines."""
    made = [
        raise_capacity_request(
            request=EnteredCapacityRequest(
                teams[owner], pool_id=pool_id, gpus=5, starts_at=now, ends_at=None, reason=reason
            ),
            by=None,
            at=now,
        )
        for owner, reason in (("zephyr", "asked-bittern"), ("harbour", "asked-avocet"))
    ]
    return made[0]


def _budgets(teams: Mapping[str, int], now: datetime) -> int:
    """What each team, and all together, may spend each month; that of the Zephyrines."""
    steps = (BudgetStep(date(2026, 1, 1), Decimal(40_000)),)
    ids = {}
    for name, scope, key in (
        ("allowance-of-harriers", "organisation", ""),
        ("allowance-of-coots", "team", str(teams["harbour"])),
        ("allowance-of-swifts", "team", str(teams["zephyr"])),
    ):
        budget = EnteredBudget(name, scope, key, "money", "monthly", steps[0].from_day, None, steps)
        ids[name] = add_budget(budget=budget, at=now)
    return ids["allowance-of-swifts"]


def _alerts(teams: Mapping[str, int], now: datetime) -> int:
    """What each team, and nobody but who sees everything, is told of; that of the Zephyrines."""
    raised = {
        name: raise_alert(
            alert_matter=AlertMatter(
                matter=name,
                kind=AlertKind.BUDGET_THRESHOLD,
                severity="warning",
                title=f"{name} has used 92 % of its amount",
                facts=[("Of", name)],
                link="/budgets",
                team_id=team_id,
                level=90,
            ),
            at=now,
        )
        for name, team_id in (
            ("alarm-of-plovers", None),
            ("alarm-of-ruffs", teams["harbour"]),
            ("alarm-of-curlews", teams["zephyr"]),
        )
    }
    alert_id = raised["alarm-of-curlews"]
    assert alert_id is not None
    return alert_id


def _recommendations(teams: Mapping[str, int], now: datetime) -> int:
    """What each team, and nobody but who sees everything, could stop; that of the Zephyrines, with a price."""
    price = RecommendationEvidence("Rate", "rate-of-avocets", is_price=True)
    ids = looked(
        proposal("7:2", title="stop-of-stints", team_id=teams["zephyr"], evidence=(price,)),
        proposal("8:2", title="stop-of-knots", team_id=teams["harbour"]),
        proposal("9:2", title="stop-of-turnstones"),
        at=now,
    )
    return ids[0]


def _channel(teams: Mapping[str, int], now: datetime) -> int:
    """Where alerts of the Zephyrines are mailed: for who sees everything alone, with a test that waits."""
    channel = EnteredAlertChannel(
        "wire-of-oystercatchers", "mail", teams["zephyr"], address="wire@example.org"
    )
    channel_id = add_channel(channel=channel, at=now).id
    try_channel(channel_id=channel_id, at=now)
    return channel_id


def _activity_target(team_id: int, now: datetime) -> int:
    """What is asked of the Zephyrines' GPU time."""
    target = EnteredActivityTarget("team", team_id, "active", Decimal("0.7"))
    return set_activity_target(target=target, at=now)


def _admission(person_id: int, team_id: int, pool_id: int, now: datetime) -> int:
    """A job of the Zephyrines', of a price that nobody knows."""
    job = AdmissionJob(team_id=team_id, gpus=8, pool_id=pool_id)
    return request_admission(job=job, by=viewer_of_user(person_id), at=now)


def _quoted(now: datetime) -> int:
    """A quote of nobody's, from a book of all that can be had."""
    make_offer_book(at=now)
    asked = QuoteRequest(gpus=8, work=RequestedWork(gpu_hours=384))
    return make_quote(question=asked, team_ids=None, by=None, at=now).id


def _gpu_quota(pool_id: int, now: datetime) -> int:
    """What the provider of a pool lets all together have."""
    provider = fleet_queries.pools()[pool_id].provider
    quota = EnteredGpuQuota(provider, "", "", 64, 14, raised_by="quota-of-dunlins")
    return add_gpu_quota(quota=quota, at=now)


def _room(pool_id: int, now: datetime) -> int:
    """What the room of a pool feeds all together."""
    room = EnteredPowerLimit("room-of-siskins", (pool_id,), Decimal(240), Decimal("1.3"))
    return add_power_limit(limit=room, at=now)


def _headroom(pool_id: int, now: datetime) -> int:
    """What being short of GPUs costs all together."""
    policy = EnteredHeadroomPolicy(
        "headroom-of-grebes", "pool", str(pool_id), (), Decimal(6), Decimal(2), lead_days=7
    )
    return add_headroom_policy(policy=policy, at=now)


def _portfolio(now: datetime) -> int:
    """What to buy for GPUs of a secret name, which is no team's to read."""
    needed = {"name": "gpus-of-dunlin", "on_demand": 2.0, "demand": {"hours": [6.0, 8.0] * 12}}
    offer = {"name": "a-year-of-dunlin", "family": "gpus-of-dunlin", "kind": "reserved", "term_months": 12,
             "hourly": 1.0}  # fmt: skip
    overlay = {"months": 1, "scenarios": 1, "families": [needed], "offers": [offer]}
    run_id = request_portfolio(overlay=overlay, asked_by_id=None, at=now)
    answer_portfolios(solver=series_answer, clock=lambda: now)
    return run_id


def _spot_series(now: datetime) -> int:
    """Where spot was seen is for who reads prices."""
    seen = SpotTrace("spot-of-phalaropes", 1.0, np.array([1.0, 0.0] * 12))
    place = SpotPlace(provider="aws", zone="spot-of-phalaropes")
    return keep_spot_series(name=seen.name, trace=seen, place=place, source="looks", at=now)


def _join_token(cluster_id: int, now: datetime) -> int:
    """What lets a fleet's nodes in is no team's to read."""
    token = fleet.NewJoinToken("join-of-terns", cluster_id, ("tern-*",), now + timedelta(days=1))
    return fleet.make_join_token(token=token, at=now).id


def _trusted(fleet_ids: dict[str, int], now: datetime) -> dict[str, int]:
    """A join token, a machine that waits with it, and a matter of a node."""
    token_id = _join_token(fleet_ids["cluster_id"], now)
    waiting = WaitingNode.objects.create(
        join_token_id=token_id, name="tern-99", first_at=now, last_at=now
    )
    matter = TrustMatter("devices_waiting", "plovers", fleet_ids["node_id"], None, 8, 1024)
    raise_trust_incident(matter=matter, at=now)
    return {
        "join_token_id": token_id,
        "waiting_node_id": waiting.id,
        "trust_incident_id": TrustIncident.objects.get().id,
    }


def _cloud(now: datetime) -> int:
    """A cloud account whose name, limits and machines are no team's to read."""
    account = clouds.NewCloudAccount(
        "cloud-of-cormorants", "aws", "7", ("us-east-1",), ("machines",)
    )
    account_id = clouds.add_cloud_account(account=account, at=now)
    turn = clouds.begin_sync(account_id=account_id, what="machines", at=now)
    clouds.finish_sync(turn=turn, at=now)
    limit = AccountLimit("L-417A185B", "limit-of-cormorants", Decimal(8))
    record_quotas(place=QuotaPlace("aws", "7", "us-east-1"), quotas=[limit], at=now)
    machine = ObservedMachine(
        external_id="i-7",
        name="lone-cormorant",
        names=("lone-cormorant",),
        region="us-east-1",
        zone="us-east-1a",
        instance_type="p5.48xlarge",
        purchase_option="spot",
        cpus=None,
        launched_at=None,
    )
    keep_machines(account_id=account_id, machines=[machine], at=now)
    return account_id


def _people() -> dict[str, int]:
    told = {
        "ada": ("ada.quillfeather@example.org", "Ada Quillfeather", Role.LEAD),
        "ben": ("ben.thistle@example.org", "Ben Thistle", Role.VIEWER),
        "cy": ("cy.reed@example.org", "Cy", Role.VIEWER),
        "dee": ("dee.wharf@example.org", "Dee", Role.LEAD),
        "finn": ("finn.ledger@example.org", "Finn", Role.FINANCE),
        "petra": ("petra.rack@example.org", "Petra", Role.PLATFORM),
    }
    return {
        key: make.make_person(email, name=name, role=role)
        for key, (email, name, role) in told.items()
    }


def _teams(people: Mapping[str, int]) -> dict[str, int]:
    zephyr = make.make_team("Zephyrine", cost_centre="CC-77190", owner_id=people["ada"])
    accounts.place_in_teams(person_id=people["ben"], team_ids={zephyr})
    return {
        "zephyr": zephyr,
        "below": make.make_team("Zephyrling", parent_id=zephyr),
        "harbour": make.make_team("Harbourside", cost_centre="CC-55023", owner_id=people["dee"]),
    }


def _fleet(
    teams: Mapping[str, int], began_at: datetime, now: datetime
) -> tuple[dict[str, int], list[str]]:
    """Both nodes with their prices, GPUs, an agent and an outage; the GPUs of gpu-01 apart."""
    cluster_id = make.make_cluster()
    pool_id = make.make_pool(cluster_id=cluster_id, owner_team_id=teams["zephyr"])
    other_id = make.make_pool("lab", cluster_id=cluster_id)
    rate_id = scene.make_rate(pool_id, Decimal("7919.308"))
    scene.make_rate(other_id, Decimal("5003.11"))
    # Half of what is paid: it waits for a second person, and prices nothing.
    halved = EnteredRate(
        kind="list",
        amount=Decimal("3959.654"),
        currency="USD",
        starts_at=now,
        purchase_option="on_demand",
        pool_id=pool_id,
    )
    waiting_id = propose_rate(rate=halved, by=None, at=now).id
    alive = {"cluster_id": cluster_id, "started_at": began_at, "at": now}
    node_id = make.make_node("gpu-01", pool_id=pool_id, **alive)
    lab_id = make.make_node("gpu-02", pool_id=other_id, **alive)
    uuids = scene.make_gpus(node_id, seen_from=began_at)
    scene.make_gpus(lab_id, seen_from=began_at)
    outage = fleet.NewOutage(
        node_id=lab_id, kind="maintenance", starts_at=began_at + 2 * scene.HOUR
    )
    agent_id = make.make_agent(node_id=node_id)
    said = fleet.ReportedStatus(boot=1, sequence=1, state="gpus_missing", missing=(uuids[0],))
    fleet.note_status(agent_id=agent_id, status=said, at=now)
    Incident.objects.create(
        node_id=node_id, kind="gpu_missing", uuid=uuids[0], started_at=began_at, last_at=now
    )
    ids = {
        "cluster_id": cluster_id,
        "pool_id": pool_id,
        "rate_id": rate_id,
        "waiting_id": waiting_id,
        "node_id": node_id,
        "device_id": min(scene.device_ids(uuids)),
        "agent_id": agent_id,
        "outage_id": fleet.record_outage(outage=outage, at=now),
    }
    return ids, uuids


def _work(
    teams: Mapping[str, int], uuids: Sequence[str], began_at: datetime, now: datetime
) -> dict[str, int]:
    """The rules, the three jobs, and the minutes that those on gpu-01 worked."""
    workload_id = add_workload(name="windtunnel-larks", team_id=teams["zephyr"], kind="training")
    tugboats_id = add_workload(name="tugboats", team_id=teams["harbour"])
    rule_id = _rule("acct-plume", teams["zephyr"], workload_id, now)
    _rule("acct-quay", teams["harbour"], tugboats_id, now)
    job_id = _job(
        "880412771", _on("gpu-01", uuids[:3]), began_at, account="acct-plume", user="ottoline",
        name="pretrain-quill", namespace="ns-gusts", run="run-kestrel",
        labels=(("project", "gale-force"),),
    )  # fmt: skip
    _job(
        "660938125", _on("gpu-01", uuids[3:5]), began_at, account="acct-quay", user="barnabas",
        name="dredge-nightly", run="run-cutter",
    )  # fmt: skip
    _job(
        "330571944", AllocationRecord("gpu-02", Fraction(8)), began_at, account="acct-drift",
        user="peregrina", name="orphaned-sweep",
    )  # fmt: skip
    for index, device_id in enumerate(scene.device_ids(uuids[:5])):
        key = f"slurm/atlas/{'660938125' if index > 2 else '880412771'}"
        scene.make_usage(device_id, [180] * 60, key=key, hour=began_at)
    run_id = Run.objects.get(key="run-kestrel").id
    _told_of_itself(run_id, job_id, began_at)
    return {
        "job_id": job_id,
        "workload_id": workload_id,
        "rule_id": rule_id,
        "run_id": run_id,
        "other_run_id": Run.objects.get(key="run-cutter").id,
    }


def _calls(teams: Mapping[str, int], now: datetime) -> int:
    """Calls to model APIs of each team, the vendor's report of them, and a contract price."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    for owner, model, feature in (
        ("zephyr", "gpt-4.1", "feature-siskin"),
        ("harbour", "model-guillemot", ""),
    ):
        ApiHour.objects.create(
            hour=hour, vendor="openai", model=model, team_id=teams[owner], feature=feature,
            requests=11, unpriced_requests=1, input_tokens=700, output_tokens=90, micros=413_000,
            list_micros=413_000, reason="no counts",
        )  # fmt: skip
    VendorCost.objects.create(
        vendor="openai", day=now.date(), item="all", amount=Decimal(1), currency="USD",
        micros=1_000_000, told_at=now,
    )  # fmt: skip
    price = EnteredApiPrice("openai", "model-razorbill", "input", hour, amount=Decimal("1.5"))
    return add_api_price(price=price)


def _findings(service_id: int, at: datetime) -> dict[str, int]:
    """What changed about a service of the Zephyrines, with what was told of then, and what was said of it."""
    found = Finding.objects.create(
        kind="step", measure="cost_per_1000_requests", workload_id=service_id,
        feature="feature-plover", changed_on=at.date(), first_seen_on=at.date(),
        last_seen_on=at.date() + timedelta(days=1), seen=2, before=0.61, after=0.73,
        effect_ratio=0.2, impact_micros=613_000_000,
        parts=[{"name": "price", "millionths": 120_000}],
        causes=[{"kind": "deploy", "what": "plover-9", "on": at.date().isoformat(), "days": 0}],
    )  # fmt: skip
    said = AnomalyVerdict.objects.create(
        verdict="explained", series=f"cost_per_1000_requests|{service_id}|feature-plover",
        finding=found, at=at, who="Ada", reason="plover-9 writes more",
    )  # fmt: skip
    return {"finding_id": found.id, "finding_verdict_id": said.id}


def _services(teams: Mapping[str, int], at: datetime) -> dict[str, int]:
    """A service of each team, as the roll-up leaves them; a promise and a change of the first."""
    found = {}
    for name, owner, feature in (
        ("answers-kittiwake", "zephyr", "feature-plover"),
        ("answers-skua", "harbour", ""),
    ):
        one = add_workload(name=name, team_id=teams[owner], kind="serving")
        found[owner] = one
        counts: dict[str, Any] = {
            "requests": 700, "succeeded": 690, "prompt_tokens": 9_000, "cached_tokens": 0,
            "output_tokens": 500, "prompt_ms": 5, "output_ms": 5,
        }  # fmt: skip
        day: dict[str, Any] = {"day": at.date(), "workload_id": one}
        ServiceCount.objects.create(**day, feature=feature, part=0, hours=1, **counts)
        ServiceDay.objects.create(
            **day, feature=feature, part=0, team_id=teams[owner], kind="node_hour", state=1, flags=0,
            posting_month=at.date().replace(day=1), status="estimated", effective_micros=613_000,
            unit_milliseconds=10, unpriced_milliseconds=0,
        )  # fmt: skip
        ServiceTotal.objects.create(
            **day, posting_month=at.date().replace(day=1), measure="effective",
            answered_micros=613_000, stated_micros=613_000,
            active_micros=613_000, unit_milliseconds=10, unpriced_milliseconds=0,
            held_milliseconds=10, observed_milliseconds=10, statuses=2, **counts,
        )  # fmt: skip
        RequestHour.objects.create(
            workload_id=one, service_named=name, feature=feature, source="gateway", hour=at,
            source_key=f"counter of {name}", revision=1, requests=700,
        )  # fmt: skip
    objective_id = service_scene.promise(found["zephyr"])
    service_scene.change(found["zephyr"], "deploy-petrel", at)
    return {"service_id": found["zephyr"], "objective_id": objective_id}


def _told_of_itself(run_id: int, job_id: int, began_at: datetime) -> None:
    """A process of the Zephyrines' run, a checkpoint that passed, and what it is tagged with."""
    attempt = RunAttempt.objects.create(
        run_id=run_id, key="0", job_id=job_id, began_at=began_at, heard_at=began_at + scene.HOUR
    )
    RunEvent.objects.create(
        attempt=attempt, sequence=1, part=0, kind="good_checkpoint", at=began_at + scene.HOUR / 2
    )
    tags = {"sweep": "tagged-gannet"}
    told = {"told_at": began_at, "folded_at": began_at, "tags": tags}
    RunSummary.objects.update_or_create(run_id=run_id, defaults=told)


def _rule(account: str, team_id: int, workload_id: int, now: datetime) -> int:
    rule = Rule(10, team_id, workload_id=workload_id, account=account)
    return add_rule(rule=RuleFact(rule, None, None), at=now)


def _on(node: str, uuids: Sequence[str]) -> AllocationRecord:
    return AllocationRecord(node, Fraction(len(uuids)), devices=tuple(uuids))


def _job(raw_id: str, held: AllocationRecord, began_at: datetime, **given: Any) -> int:
    """A job that began then and still runs."""
    told = JobStatement(
        EventKind.START,
        began_at,
        JobSource.SCHEDULER,
        submitted_at=began_at,
        restart_count=0,
        state="RUNNING",
        allocations=(held,),
        **given,
    )
    event = JobEventIn("atlas", raw_id, told)
    return record_event(event=event, at=began_at + timedelta(minutes=1)).job_id


def _bill_import(now: datetime) -> int:
    """A bill's file that came, and could not be read."""
    return BillImport.objects.create(
        name="heron-of-march.csv", digest="0" * 64, state="failed", started_at=now
    ).id


def _bill(now: datetime) -> int:
    """A bill that nothing came of yet."""
    return Bill.objects.create(
        issuer="Heron Hosting",
        provider="Heron Hosting",
        account="acct-heron",
        starts_at=now - timedelta(days=40),
        ends_at=now - timedelta(days=10),
        currency="USD",
        created_at=now,
        changed_at=now,
        reconciled_at=now,
    ).id


def _bill_twin(now: datetime) -> int:
    """The same month under another name of its issuer, held until somebody says which counts."""
    first = Bill.objects.get(issuer="Heron Hosting")
    other = Bill.objects.create(
        issuer="Heron Hosting, Inc.", provider=first.provider, account=first.account,
        starts_at=first.starts_at, ends_at=first.ends_at, currency="USD",
        created_at=now, changed_at=now, reconciled_at=now,
    )  # fmt: skip
    held = BillImport.objects.create(
        name="heron-again.csv", digest="1" * 64, state="held", started_at=now
    )
    return BillTwin.objects.create(
        bill=other, other=first, batch=held, why="one payer and period", noticed_at=now
    ).id


def _commitment(teams: Mapping[str, int], now: datetime) -> int:
    """What was bought ahead from tomorrow on: it covers nothing yet."""
    tomorrow = now.replace(minute=0, second=0, microsecond=0) + timedelta(days=1)
    return scene.make_commitment(
        name="reserve-curlew",
        provider="aws",
        instance_type="p5.48xlarge",
        owner_id=teams["zephyr"],
        period=(tomorrow, tomorrow + timedelta(days=365)),
    )


def _close(teams: Mapping[str, int], now: datetime) -> int:
    """A month long ago, of which the Zephyrines were told a sum."""
    close = Close.objects.create(
        month=date(2020, 3, 1),
        version=1,
        closed_at=now,
        cut_off=now,
        digest="0" * 64,
        lines=1,
        totals={"effective_micros": 5_939_000_000},
    )
    StatementLine.objects.create(
        close=close,
        team_id=teams["zephyr"],
        kind="node_hour",
        status="estimated",
        state=1,
        flags=0,
        unit="gpu",
        unit_milliseconds=3_600_000,
        unpriced_milliseconds=0,
        effective_micros=5_939_000_000,
    )
    return close.id


def _series_import(person_id: int, now: datetime) -> int:
    """A file of a history of which a row cannot be taken, and hours stay unknown."""
    file = StoredFile("history-of-otters.csv", "0" * 32 + ".upload", 9, "0" * 64)
    import_id = keep_series_file(upload=file, person_id=person_id, at=now)
    asked = {
        "series": ["gpu_hours", "", ""], "time": "time", "value": "value", "unit": "gpus",
        "zone": "UTC", "rows": "moments",
    }  # fmt: skip
    hour = now.replace(minute=0, second=0, microsecond=0).isoformat()
    trial = {
        "refused": "", "hours": 2, "from": hour, "until": hour, "known": 2, "unknown": 3,
        "gaps": [[hour, 3]], "gap_count": 1, "first_rows": [[2, hour, 8.0]],
        "least": 8.0, "mean": 8.0, "most": 8.0, "added": 2, "changed": 0,
    }  # fmt: skip
    rejected = RejectedFact(7, "value", "'many-otters' is no number")
    record_series_preview(
        import_id=import_id,
        reading=asked,
        preview={"trial": trial, "columns": ["time", "value"]},
        read=RowsRead(3, [rejected]),
    )
    return import_id


def _import(now: datetime) -> int:
    """A file of jobs of which a row was not taken."""
    batch_id = open_batch(kind="csv", name="otters-of-march.csv", digest="0" * 64, at=now)
    rejected = RejectedJobRow(line=7, field="user", message="'user-skerry' is nobody")
    reject_rows(batch_id=batch_id, rows=[rejected])
    close_batch(batch_id=batch_id, at=now)
    return batch_id


def _tokens(teams: Mapping[str, int]) -> dict[str, accounts.IssuedToken]:
    def made(name: str, *scopes: str, **given: Any) -> accounts.IssuedToken:
        return make.make_token(*scopes, name=name, expires_at=NEVER, **given)

    return {
        "osprey": made("token-osprey", "ingest"),
        "zephyr": made("token-of-zephyr", "read", team_id=teams["zephyr"]),
        "harbour": made("token-of-dee", "read", "manage", team_id=teams["harbour"]),
        "jobs": made("teller", "jobs"),
        "runs": made("teller of runs", "runs"),
        "requests": made("gateway", "requests"),
        "usage": made("gateway of calls", "usage"),
        "schedule": made("scheduler", "schedule"),
        "read": made("reader", "read"),
        "manage": made("manager", "manage"),
    }


def _askers(tokens: Mapping[str, accounts.IssuedToken]) -> dict[str, Asker]:
    everything = frozenset(SECRETS)
    own, others = frozenset({ZEPHYRINES}), frozenset({HARBOUR})
    people = {"cy": frozenset[str](), "dee": others, "ben": own, "ada": own}
    people |= {"finn": everything, "petra": everything}
    machines = {
        "osprey": frozenset[str](),
        "jobs": frozenset[str](),
        "runs": frozenset[str](),
        "requests": frozenset[str](),
        "usage": frozenset[str](),
        "schedule": frozenset[str](),
        "harbour": others,
        "zephyr": own,
        "read": everything,
        "manage": everything,
    }
    askers = [Asker("a stranger")]
    askers += [
        Asker(name, cookie=_session(name), may=may, knows=OWN_ADDRESS.get(name, frozenset()))
        for name, may in people.items()
    ]
    askers += [
        Asker(
            f"the token {name}",
            secret=tokens[name].secret,
            may=may,
            # Its own name: it bears it on what it asked for.
            knows=frozenset({"token-of-zephyr"} if name == "zephyr" else ()),
        )
        for name, may in machines.items()
    ]
    return {asker.name: asker for asker in askers}


def _session(name: str) -> str:
    client = Client()
    client.force_login(get_user_model().objects.get(email__startswith=f"{name}."))
    return client.cookies["sessionid"].value


def _secrets(teams: Mapping[str, int]) -> dict[str, frozenset[str]]:
    """The texts, and the sums that each may read, in every form in which they are shown."""
    return {
        ZEPHYRINES: _texts(ZEPHYRINES, team_id=teams["zephyr"]),
        HARBOUR: _texts(HARBOUR, team_id=teams["harbour"]),
        NOBODY: _texts(NOBODY, team__kind="unowned"),
        WHOLE: _texts(WHOLE) | _sums(charge__node__name="gpu-01"),
    }


def _texts(whose: str, **lines: Any) -> frozenset[str]:
    return frozenset(SECRETS[whose]) | _sums(**lines)


def _sums(**lines: Any) -> frozenset[str]:
    micros = Line.objects.filter(**lines).aggregate(Sum("effective_micros"))
    amount = micros["effective_micros__sum"]
    assert amount, f"no line has a cost of {lines}"
    exact = f"{Decimal(amount) / 1_000_000:.2f}"
    shown = {show(amount, "USD") for show in (short_amount, rounded_amount, full_amount)}
    return frozenset({str(amount), exact} | shown)
