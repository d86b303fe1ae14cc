"""A small world in which every table of money has rows: a closed month, its corrections, and after."""

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from apps.economics.billing import BillRowRule
from apps.economics.run_time import Bucket
from apps.fleet import actions as fleet
from apps.fleet.models import Pool
from apps.ledger.actions import close
from apps.ledger.actions.bill_rules import add_bill_rule
from apps.ledger.actions.calls import price_waiting
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.ledger.models import VendorCost
from apps.ledger.solvers.api_pricing import books
from apps.pricing import actions as pricing
from apps.workloads.actions.usage import Call, take_calls
from apps.workloads.models import OwnershipRule, Workload
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.bill_files import take_file
from tests.apps.ledger.test_reconcile import COLUMNS, row
from tests.apps.unit_economics import run_scene
from tests.apps.unit_economics import service_scene as services

HOUR = timedelta(hours=1)
MARCH, APRIL = date(2026, 3, 1), date(2026, 4, 1)
CLOSED = scene.TEN
"""The first of two hours of a month that is closed."""
OPEN = datetime(2026, 4, 1, 10, tzinfo=UTC)
"""The first of two hours of the month after it."""
CLOSING = datetime(2026, 4, 2, 9, 30, tzinfo=UTC)
NOW = datetime(2026, 4, 3, 12, tzinfo=UTC)
MAY = datetime(2026, 5, 1, tzinfo=UTC)
EVERYTHING = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved")


def make_world(folder: Path) -> None:
    """March, closed and corrected; two hours of April, of every kind of charge; all settled."""
    make.make_organisation()
    make.make_person("finance@example.org", name="Finance")
    research, vision = make.make_team("Research"), make.make_team("Vision")
    scene.make_rule("research", research)
    scene.make_rule("vision", vision)
    _close_march()
    _train(research)
    _price_otherwise()
    _serve(vision)
    _share_costs({research: Decimal(3), vision: Decimal(1)})
    _call_models(research, vision)
    _share_fee(folder)
    scene.settle_all(NOW)
    _bill(folder)
    scene.settle_all(NOW)


def _close_march() -> None:
    node_id = _node("closed-01", CLOSED)
    scene.make_job("1", node_id, gpus=4, uuids=scene.make_gpus(node_id)[:4])
    _shared("support", CLOSED)
    scene.settle_all(CLOSING)
    asked = close.CloseRequest(month=MARCH, person_id=None, accepted=EVERYTHING)
    close.close_month(request=asked, at=CLOSING)
    pool = Pool.objects.get(name="pool of closed-01")
    late = {"kind": "contract", "starts_at": CLOSED, "ends_at": CLOSED + 2 * HOUR}
    scene.make_rate(pool.id, Decimal("49.16"), **late)
    close.post_corrections(month=MARCH, at=CLOSING)


def _train(team_id: int) -> None:
    """Two jobs on one node, of which a tenth of the price does not ride on its GPUs; one ran a run."""
    pool_id = make.make_pool("trained on", owner_team_id=team_id)
    pricing.set_gpu_share(
        pool_id=pool_id, gpu_share=Decimal("0.9"), starts_at=OPEN, note="agreed", at=OPEN
    )
    node_id = _node("open-01", OPEN, pool_id=pool_id)
    uuids = scene.make_gpus(node_id, seen_from=OPEN)
    alpha = {"account": "research", "user": "ada", "labels": {"project": "alpha"}}
    job_id = _job("21", node_id, uuids[:4], **alpha)
    _job("22", node_id, uuids[4:6], account="vision", labels={"project": "beta"})
    run_scene.make_energy(uuids, 1_000_000.0, hour=OPEN)
    run_scene.make_tensor(uuids, 1_200.0, 3_000.0, hour=OPEN)
    programme = Workload.objects.create(name="llm", team_id=team_id, kind="training")
    OwnershipRule.objects.filter(account="research").update(workload=programme)
    spans = (job_id, OPEN, OPEN + HOUR)
    told: dict[str, Any] = {
        "tokens": 90_000_000,
        "examples": 1_000,
        "flops": 4e18,
        "gpus": 4,
        "jobs": 1,
        "attempts": 1,
        "status": "finished",
        "began_at": OPEN,
        "ended_at": OPEN + HOUR,
        "submitted_at": OPEN - HOUR,
        "first_good_at": OPEN + HOUR / 2,
        "good_checkpoints": 2,
        "model": {"active_parameters": 8e9, "precision": "bf16"},
    }
    run_id = run_scene.make_run("llama", spans, workload_id=programme.id, **told)
    minutes = {Bucket.PRODUCTIVE: 48, Bucket.DATA_WAIT: 12}
    run_scene.tell(run_id, job_id, minutes, OPEN, step_ms=3_000_000, tokens=90_000_000)


def _price_otherwise() -> None:
    """Nodes by a contract alone, without a price, reserved ahead, and bought."""
    contract = make.make_pool("by contract")
    scene.make_rate(contract, Decimal(60), kind="contract", starts_at=OPEN)
    _node("open-02", OPEN, pool_id=contract, priced=False)
    _node("open-03", OPEN, pool_id=make.make_pool("without a price"), priced=False)
    reserved = make.make_pool("reserved", instance_type="p4d.24xlarge")
    scene.make_commitment(
        pool_id=reserved, units=2, period=(OPEN, OPEN + 2 * HOUR), name="two nodes"
    )
    _node("open-04", OPEN, pool_id=reserved)


def _serve(team_id: int) -> None:
    """A service on hardware that was bought, in one hour counted by feature and in one not at all."""
    scene.make_owned_plan("rack", starts_at=OPEN)
    rack = Pool.objects.get(name="pool of rack").id
    node_id = _node("open-05", OPEN, pool_id=rack, priced=False)
    uuids = scene.make_gpus(node_id, seen_from=OPEN)
    chat = services.make_service(team_id)
    OwnershipRule.objects.create(
        priority=20, account="chat", team_id=team_id, workload_id=chat, period=(None, None)
    )
    _job("23", node_id, uuids[:4], account="chat", to=OPEN + 2 * HOUR)
    run_scene.make_energy(uuids, 1_500_000.0, hour=OPEN)
    counts = {"requests": 1_000, "prompt_tokens": 50_000, "cached_tokens": 10_000}
    services.count(chat, OPEN, feature="search", output_tokens=9_000, **counts)
    services.count(chat, OPEN, feature="draft", requests=10, prompt_tokens=7, output_tokens=5)
    services.count(chat, OPEN + 3 * HOUR, requests=4)


def _share_costs(weights: Mapping[int, Decimal]) -> None:
    _shared("licences", OPEN, method="weighted", weights=weights)


def _call_models(*team_ids: int) -> None:
    values: dict[str, Any] = {
        "source": "rest:0",
        "at": OPEN,
        "vendor": "openai",
        "model": "gpt-4.1",
        "cached_tokens": 100,
        "cache_write_tokens": 0,
        "reasoning_tokens": 10,
        "output_tokens": 20,
    }
    calls = [
        Call(
            **values | {"key": f"call {place}", "team_id": team_id, "input_tokens": 1_000 + place},
            stated_cost=Decimal("0.0031") if place else None,
        )
        for place, team_id in enumerate((*team_ids, *team_ids))
    ]
    unknown = values | {"key": "unknown", "model": "nobody's", "input_tokens": 1}
    calls.append(Call(**unknown, team_id=team_ids[0]))
    limited = values | {"key": "limited", "outcome": "rate_limited", "input_tokens": 0}
    calls.append(Call(**limited, team_id=team_ids[1]))
    take_calls(calls=calls, at=NOW)
    price_waiting(before=NOW, book=books)
    VendorCost.objects.create(
        vendor="openai",
        day=OPEN,
        amount=Decimal("0.01"),
        currency="USD",
        micros=10_000,
        told_at=NOW,
    )


def _bill(folder: Path) -> None:
    """A node's hours, what is tied to none, and a credit."""
    _node("open-06", OPEN, provider_id="i-06")
    scene.settle_all(NOW)
    rows = [
        row("61.1234567", OPEN, ResourceId="i-06", ListCost="98", ContractedCost="70"),
        row("62", OPEN + HOUR, ResourceId="i-06"),
        row("1.25", OPEN, ServiceCategory="Storage", PricingUnit="GB-Months"),
        row("-2", OPEN, ChargeCategory="Credit", ResourceId=""),
        row("9.99", OPEN, ChargeCategory="Tax", ResourceId=""),
    ]
    _deliver(folder, rows)


def _share_fee(folder: Path) -> None:
    """A fee of a bill of its own that goes over all hours of April, most of them yet to come."""
    rule = BillRowRule(0, service="Support", share_method="by_unit_time")
    add_bill_rule(rule=rule, at=NOW)
    fee = {"ServiceName": "Support", "ServiceCategory": "Other", "ResourceId": ""}
    _deliver(folder, [row("72", OPEN, BillingAccountId="77", **fee)])


def _deliver(folder: Path, rows: Sequence[dict[str, str]]) -> None:
    """Take in a bill of April and reconcile it."""
    period = {"BillingPeriodStart": APRIL.isoformat() + "T00:00:00+00:00"}
    period["BillingPeriodEnd"] = MAY.isoformat()
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows(each | period for each in rows)
    path = folder / "bill.csv"
    path.write_text(out.getvalue())
    take_file(path, clock=lambda: NOW)
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=NOW)


def _node(name: str, starts_at: datetime, *, priced: bool = True, **given: Any) -> int:
    """A node of eight GPUs that lives for two hours, at a list price unless it is said otherwise."""
    ends_at = starts_at + 2 * HOUR
    pool_id = given.pop("pool_id", 0) or make.make_pool(f"pool of {name}")
    if priced:
        scene.make_rate(pool_id, starts_at=starts_at, ends_at=ends_at)
    node_id = make.make_node(name, pool_id=pool_id, started_at=starts_at, at=ends_at, **given)
    fleet.end_node(node_id=node_id, ended_at=ends_at, reason="given back", at=ends_at)
    return node_id


def _job(raw_id: str, node_id: int, uuids: list[str], **given: Any) -> int:
    values = {"gpus": Fraction(len(uuids)), "from_": OPEN, "to": OPEN + HOUR, "uuids": uuids}
    return scene.make_job(raw_id, node_id, **values | given)


def _shared(name: str, starts_at: datetime, **given: Any) -> None:
    values = {"amount": Decimal(744), "currency": "USD", "method": "by_cost"} | given
    cost = pricing.EnteredSharedCost(
        name=name, starts_at=starts_at, ends_at=starts_at + 2 * HOUR, **values
    )
    pricing.add_shared_cost(cost=cost, at=NOW)
