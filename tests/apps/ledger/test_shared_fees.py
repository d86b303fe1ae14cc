"""A fee of a bill that a rule shares: every dollar once, over every hour of its month, in any order."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F, Sum
from django.test import Client
from django.utils import timezone

from apps.economics.billing import BillRowRule
from apps.fleet import actions as fleet
from apps.ledger.actions import close
from apps.ledger.actions.bill_rules import (
    BillRuleSaysNothing,
    BillRuleSharesOtherwise,
    add_bill_rule,
    end_bill_rule,
)
from apps.ledger.actions.bills import undo_delivery
from apps.ledger.actions.exchanging import state_rate
from apps.ledger.actions.reconcile import reconcile_waiting
from apps.ledger.models import Bill, BilledCharge, BillRule, Charge, Close, Line, StatementLine
from apps.ledger.queries.bills.comparing import unreconciled_sums
from apps.ledger.queries.bills.rules import moves_if_added, moves_if_ended
from apps.ledger.queries.closes.statements import journal
from apps.ledger.queries.shared_costs import carried as carried_by_cost
from apps.marks.queries import Pass, hours_marked
from apps.pricing.actions import NewExchangeRate
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.console.people import confirmed, signed_in, words_of
from tests.apps.ledger import scene
from tests.apps.ledger.bill_files import hour_row, take_file, write
from tests.planted import undone

pytestmark = pytest.mark.django_db
HOUR = scene.HOUR
FEBRUARY, MARCH = datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
FIRST = MARCH - 4 * HOUR
"""The node lives the last four hours of February: of all others nothing is settled here."""
AT = MARCH + 4 * HOUR
HOURS_OF_FEBRUARY = 28 * 24
# A tenth of a dollar for each hour of February.
FEE = hour_row(
    "67.2",
    ListCost="134.4",
    ContractedCost="100.8",
    BillingPeriodStart="2026-02-01T00:00:00Z",
    BillingPeriodEnd="2026-03-01T00:00:00Z",
    ChargePeriodStart="2026-02-01T00:00:00Z",
    ChargePeriodEnd="2026-03-01T00:00:00Z",
    ChargeCategory="Purchase",
    ServiceCategory="Other",
    ServiceName="AWS Support (Business)",
    ResourceId="",
    PricingUnit="",
    ConsumedUnit="",
    Tags="{}",
)
MACHINE = FEE | {
    "ChargeCategory": "Usage",
    "ServiceCategory": "Compute",
    "ServiceName": "Machines",
    "ResourceId": "i-01",
    "PricingUnit": "Hours",
    "ConsumedUnit": "Hours",
    "ChargePeriodStart": FIRST.isoformat(),
    "ChargePeriodEnd": (FIRST + HOUR).isoformat(),
}
RULE = BillRowRule(0, service="AWS Support*", share_method="by_cost")
ACCEPTED = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved", "uninvoiced")


@pytest.fixture(scope="module")
def teams(of_module: None) -> tuple[int, int]:
    """Research holds six GPUs of the node, Search two."""
    make.make_organisation()
    node_id = scene.make_priced_node("gpu-01", provider_id="i-01", started_at=FIRST, at=AT)
    fleet.end_node(node_id=node_id, ended_at=MARCH, reason="done", at=AT)
    found = []
    for account, gpus in (("research", 6), ("search", 2)):
        found.append(make.make_team(account))
        scene.make_rule(account, found[-1])
        scene.make_job(account, node_id, gpus=gpus, account=account, from_=FIRST, to=MARCH)
    scene.settle(AT, starts_at=FIRST, ends_at=AT)
    return found[0], found[1]


def deliver(folder: Path, *rows: dict[str, str], is_addition: bool = False) -> int:
    path = write(folder / "bill.csv", rows)
    return take_file(path, is_addition=is_addition, clock=lambda: AT).import_id


def settle() -> None:
    reconcile_waiting(lambda: AT)
    scene.settle(AT, starts_at=FIRST, ends_at=AT)


def carried(basis: str = "effective", **given: object) -> dict[int, Decimal]:
    """What teams carry of shared costs in the four hours."""
    lines = Line.objects.filter(charge__kind="shared", hour__gte=FIRST, **given).values("team_id")
    sums = lines.annotate(sum=Sum(f"{basis}_micros")).values_list("team_id", "sum")
    return {team_id: Decimal(micros) / 10**6 for team_id, micros in sums if micros is not None}


def charges() -> list[tuple[object, ...]]:
    """What every charge of the four hours comes to, whose it is, and what it is called."""
    lines = Line.objects.filter(hour__gte=FIRST).order_by("hour", "charge__kind", "team_id")
    return list(
        lines.values_list(
            *("hour", "charge__kind", "charge__reason", "charge__spread_method", "team_id"),
            *("list_micros", "contracted_micros", "effective_micros", "billed_micros"),
        )
    )


def of_the_bill() -> tuple[Decimal, Decimal]:
    """What a bill's charges say was billed, and what rounding left."""
    micros = BilledCharge.objects.aggregate(sum=Sum("billed_micros"))["sum"] or 0
    return Decimal(micros) / 10**6, Bill.objects.get().residual or Decimal(0)


def test_support_is_shared_by_what_teams_cost(tmp_path: Path, teams: tuple[int, int]) -> None:
    research, search = teams
    add_bill_rule(rule=RULE, at=AT)
    deliver(tmp_path, FEE)
    settle()
    # Three quarters of each hour to who holds three quarters of the node.
    assert carried("list") == {research: Decimal("0.6"), search: Decimal("0.2")}
    assert carried("contracted") == {research: Decimal("0.45"), search: Decimal("0.15")}
    assert carried("effective") == {research: Decimal("0.3"), search: Decimal("0.1")}
    assert carried("billed") == carried("effective")
    found = Charge.objects.filter(hour=FIRST).exclude(kind="node_hour").get()
    assert (found.kind, found.status, found.spread_method) == (
        *("shared", "reconciled"),
        "by direct cost",
    )
    assert not BilledCharge.objects.exclude(kind="shared").exists()
    assert audit_here().places == ()


def test_a_hundred_dollars_are_a_hundred_dollars_over_all_hours(
    tmp_path: Path, teams: tuple[int, int]
) -> None:
    add_bill_rule(rule=RULE, at=AT)
    deliver(tmp_path, FEE | {"BilledCost": "100", "EffectiveCost": "100"})
    settle()
    assert BilledCharge.objects.count() == HOURS_OF_FEBRUARY
    assert of_the_bill() == (100, 0)
    hours = BilledCharge.objects.aggregate(first=Sum("rows"), effective=Sum("effective_micros"))
    assert hours == {"first": 1, "effective": 100_000_000}
    (apart,) = unreconciled_sums(Bill.objects.get().id)
    assert (apart.charge_kind, apart.label, apart.reason) == (
        *("shared", "AWS Support"),
        "shared by direct cost",
    )
    assert (apart.team_name, apart.rows, apart.billed_micros) == (
        *("all who are there", 1),
        100_000_000,
    )


ORDERS: dict[str, Callable[[Path], object]] = {
    "rule, bill": lambda folder: (_rule(), deliver(folder, FEE)),
    "bill, rule": lambda folder: (deliver(folder, FEE), settle(), _rule()),
    "ended, said again": lambda folder: (
        *(deliver(folder, FEE), _rule(), settle(), _end(), settle()),
        _rule(),
    ),
    "by another method first": lambda folder: (
        *(deliver(folder, FEE), _rule(share_method="even"), settle(), _end()),
        _rule(),
    ),
    "replaced": lambda folder: (
        *(_rule(), deliver(folder, FEE | {"BilledCost": "9", "EffectiveCost": "9"}), settle()),
        deliver(folder, FEE),
    ),
    "a second one undone": lambda folder: (
        *(_rule(), deliver(folder, FEE), settle()),
        _undo(deliver(folder, FEE | {"EffectiveCost": "60"}, is_addition=True)),
    ),
    "undone, and there again": lambda folder: (
        *(_rule(), _undo(deliver(folder, FEE)), settle()),
        deliver(folder, FEE),
    ),
}


def _rule(**changes: str) -> None:
    add_bill_rule(rule=replace(RULE, **changes), at=AT)


def _end() -> None:
    end_bill_rule(rule_id=BillRule.objects.get(ended_at=None).id, at=AT)


def _undo(import_id: int) -> None:
    settle()
    undo_delivery(import_id=import_id, at=AT)


def test_the_month_is_the_same_whatever_came_first(tmp_path: Path, teams: tuple[int, int]) -> None:
    months = []
    for order in ORDERS.values():
        with undone():
            order(tmp_path)
            settle()
            months.append(charges())
            assert audit_here().places == ()
    assert months == [months[0]] * len(ORDERS)
    assert sum(effective for *_, effective, _ in months[0]) == 4 * (98_320_000 + 100_000)


def test_without_its_rule_the_fee_is_a_service_again(
    tmp_path: Path, teams: tuple[int, int]
) -> None:
    deliver(tmp_path, FEE)
    settle()
    before = charges()
    _rule()
    settle()
    assert charges() != before
    _end()
    settle()
    assert charges() == before
    (billed,) = BilledCharge.objects.all()
    assert (billed.kind, billed.hour, billed.billed_micros) == ("service", FEBRUARY, 67_200_000)


def test_undone_nothing_of_it_stays(tmp_path: Path, teams: tuple[int, int]) -> None:
    before = charges()
    _rule()
    _undo(deliver(tmp_path, FEE))
    settle()
    assert charges() == before
    assert not BilledCharge.objects.exists()
    assert audit_here().places == ()


def test_what_is_given_back_is_shared_with_its_sign(tmp_path: Path, teams: tuple[int, int]) -> None:
    research, search = teams
    _rule()
    credit = FEE | {"ChargeCategory": "Credit"}
    credit |= dict.fromkeys(("BilledCost", "EffectiveCost", "ContractedCost", "ListCost"), "-134.4")
    deliver(tmp_path, FEE, credit)
    settle()
    # Two billed kinds, two charges of each hour; together less than nothing.
    assert Charge.objects.filter(kind="shared", hour=FIRST).count() == 2
    assert carried("billed") == {research: Decimal("-0.3"), search: Decimal("-0.1")}
    assert of_the_bill() == (Decimal("-67.2"), 0)
    assert audit_here().places == ()


def test_what_the_bill_does_not_say_stays_unknown(tmp_path: Path, teams: tuple[int, int]) -> None:
    research, search = teams
    _rule()
    deliver(tmp_path, FEE | {"ListCost": "", "ContractedCost": ""}, MACHINE)
    settle()
    assert (carried("list"), carried("contracted")) == ({}, {})
    assert carried("billed") == {research: Decimal("0.3"), search: Decimal("0.1")}
    # What is billed is shared where what it costs is not known, too.
    BilledCharge.objects.filter(hour=FIRST).update(effective_micros=None)
    scene.recharge(FIRST)
    scene.settle(AT, starts_at=FIRST, ends_at=AT)
    assert carried("effective", hour=FIRST) == {}
    assert carried("billed", hour=FIRST) == {research: Decimal("0.075"), search: Decimal("0.025")}
    assert audit_here().places == ()


def test_another_currency_is_converted_once_for_the_month(
    tmp_path: Path, teams: tuple[int, int]
) -> None:
    _rule()
    deliver(tmp_path, FEE | {"BillingCurrency": "EUR"})
    settle()
    assert "EUR" in Bill.objects.get().failure
    assert carried() == {}
    rate = NewExchangeRate(
        month=FEBRUARY.date(), from_currency="EUR", to_currency="USD", rate=Decimal("1.0833")
    )
    state_rate(rate=rate, at=AT)
    settle()
    billed, residual = of_the_bill()
    assert (billed, residual) == (Decimal("72.797760"), 0)
    assert sum(carried("billed").values()) == Decimal(4 * 108_330) / 10**6
    assert audit_here().places == ()


def test_a_machine_on_record_and_a_commitment_are_not_shared(
    tmp_path: Path, teams: tuple[int, int]
) -> None:
    add_bill_rule(rule=BillRowRule(0, issuer="A Cloud", share_method="even"), at=AT)
    bought = FEE | {"CommitmentDiscountId": "sp-1", "CommitmentDiscountStatus": ""}
    deliver(
        tmp_path, MACHINE | {"CommitmentDiscountId": "", "CommitmentDiscountStatus": ""}, bought
    )
    settle()
    (billed,) = BilledCharge.objects.all()
    assert (billed.kind, billed.commitment_id) == ("purchase", "sp-1")
    assert Charge.objects.get(kind="node_hour", hour=FIRST).billed_micros == 67_200_000
    assert carried() == {}


def test_a_machine_that_comes_later_takes_its_rows_back(
    tmp_path: Path, teams: tuple[int, int]
) -> None:
    _rule(service="Machines")
    deliver(tmp_path, MACHINE | {"ResourceId": "i-02"})
    settle()
    assert sum(carried("billed").values()) == Decimal("0.4")
    node_id = scene.make_priced_node("gpu-02", provider_id="i-02", started_at=FIRST, at=AT)
    fleet.end_node(node_id=node_id, ended_at=FIRST + HOUR, reason="done", at=AT)
    settle()
    assert carried() == {}
    assert scene.charge(node_id, FIRST).billed_micros == 67_200_000
    assert audit_here().places == ()


def test_methods_share_as_they_do_an_entered_cost(tmp_path: Path, teams: tuple[int, int]) -> None:
    research, search = teams
    deliver(tmp_path, FEE)
    for method, part in (("even", "0.2"), ("by_unit_time", "0.3"), ("by_energy", "0.3")):
        with undone():
            _rule(share_method=method)
            settle()
            rest = Decimal("0.4") - Decimal(part)
            assert carried("billed") == {research: Decimal(part), search: rest}, method


def test_months_that_are_not_ours_are_shared_whole(tmp_path: Path, teams: tuple[int, int]) -> None:
    """A bill in months of the west is of February here; what is of January is January's."""
    _rule()
    west = {
        "BillingPeriodStart": "2026-02-01T08:00:00Z",
        "BillingPeriodEnd": "2026-03-01T08:00:00Z",
    }
    of_february = {"ChargePeriodStart": west["BillingPeriodStart"]}
    of_february["ChargePeriodEnd"] = west["BillingPeriodEnd"]
    last = {"ChargePeriodStart": "2026-03-01T02:00:00Z", "ChargePeriodEnd": "2026-03-01T03:00:00Z"}
    before = {
        "ChargePeriodStart": "2026-01-09T00:00:00Z",
        "ChargePeriodEnd": "2026-01-10T00:00:00Z",
    }
    deliver(tmp_path, *(FEE | west | part for part in (of_february, last, before)))
    settle()
    months = BilledCharge.objects.values_list("hour__month").annotate(Sum("billed_micros"))
    assert dict(months) == {1: 67_200_000, 2: 134_400_000}


def close_february() -> Close:
    scene.settle(AT, starts_at=FEBRUARY, ends_at=AT)
    asked = close.CloseRequest(month=FEBRUARY.date(), person_id=None, accepted=ACCEPTED)
    close.close_month(request=asked, at=AT)
    return Close.objects.get(reopened_at=None)


def test_a_closed_month_stays_as_it_is(tmp_path: Path, teams: tuple[int, int]) -> None:
    close_february()
    before = charges()
    _rule()
    deliver(tmp_path, FEE)
    settle()
    assert (charges(), carried()) == (before, {})
    assert hours_marked(Pass.CHARGE, AT, 10**4)[-4:] == [FIRST + n * HOUR for n in range(4)]
    assert audit_here().places == ()


@pytest.mark.proof
def test_a_closed_month_is_corrected_by_the_whole_fee(
    tmp_path: Path, teams: tuple[int, int]
) -> None:
    research, search = teams
    close_february()
    _rule()
    deliver(tmp_path, FEE)
    settle()
    close.post_corrections(month=FEBRUARY.date(), at=AT)
    found = carried("billed", posting_month=date(2026, 3, 1))
    assert found == {research: Decimal("0.3"), search: Decimal("0.1")}
    whole = Line.objects.filter(charge__kind="shared").aggregate(sum=Sum("billed_micros"))["sum"]
    assert whole == 67_200_000
    assert not Line.objects.filter(charge__kind="shared", posting_month=FEBRUARY.date()).exists()
    assert audit_here().places == ()


@pytest.mark.proof
def test_statements_journal_and_export_of_the_month_have_the_bills_total(
    tmp_path: Path, teams: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    _rule()
    deliver(tmp_path, FEE | {"BilledCost": "100", "EffectiveCost": "100"}, MACHINE)
    settle()
    closed = close_february()
    total = Decimal("167.2")
    of = StatementLine.objects.filter(close=closed)
    stated = of.aggregate(billed=Sum("billed_micros"), effective=Sum("effective_micros"))
    assert stated["billed"] == total * 10**6
    shared = [entry.amount for entry in journal(closed.id) if entry.account == "Shared costs"]
    assert sum(shared) == 100
    out = tmp_path / "february.csv"
    call_command("export_focus", "--month", "2026-02", "--out", str(out), "--json")
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert Decimal(figures["billed"]) == total
    with out.open(newline="") as text:
        rows = [row for row in csv.DictReader(text) if "AWS Support" in row["ChargeDescription"]]
    assert sum(Decimal(row["BilledCost"]) for row in rows) == 100
    assert sum(Decimal(row["EffectiveCost"]) for row in rows) == 100
    assert {row["InvoiceIssuerName"] for row in rows} == {"A Cloud"}
    assert audit_here().places == ()


def test_the_audit_finds_what_was_moved(tmp_path: Path, teams: tuple[int, int]) -> None:
    _rule()
    deliver(tmp_path, FEE)
    settle()
    for change in (
        lambda: BilledCharge.objects.filter(hour=FIRST).update(share_method="even"),
        lambda: BilledCharge.objects.filter(hour=FIRST).update(billed_micros=1),
        lambda: BilledCharge.objects.filter(hour=FIRST).update(team_id=teams[0]),
        lambda: Charge.objects.filter(hour=FIRST, kind="shared").update(part=0),
        lambda: Line.objects.filter(hour=FIRST, charge__kind="shared").update(
            billed_micros=F("billed_micros") + 1
        ),
    ):
        with undone():
            change()
            assert audit_here().places != ()


@pytest.mark.parametrize(
    "said",
    [
        {"share_method": "weighted"},
        {"share_method": "by_luck"},
        {"team_id": 1},
        {"pool_id": 1},
        {"node_id": 1},
        {"kind": "commitment"},
    ],
)
def test_what_cannot_be_shared_is_refused(said: dict, teams: tuple[int, int]) -> None:
    with pytest.raises(BillRuleSharesOtherwise):
        add_bill_rule(rule=replace(RULE, **said), at=AT)
    with pytest.raises(BillRuleSaysNothing):
        add_bill_rule(rule=BillRowRule(0, share_method="even"), at=AT)


def test_a_rule_says_who_would_carry_what_before_it_is_kept(
    tmp_path: Path, teams: tuple[int, int]
) -> None:
    deliver(tmp_path, FEE)
    settle()
    (move,) = moves_if_added(RULE)
    assert (move.came.becomes, move.came.team) == ("service", "Platform")
    assert (move.goes.becomes, move.goes.team, move.goes.share_method) == ("shared", "", "by_cost")
    assert (move.teams, move.billed) == (
        {"research": 50_400_000, "search": 16_800_000},
        Decimal("67.2"),
    )
    finance = signed_in("finance")
    asked = {"service": "AWS Support*", "share_method": "by_cost"}
    said = (
        "from non-compute charges, charged to Platform to a shared cost, by direct cost; by the "
        "month so far about $50.40 research, $16.80 search"
    )
    assert said in words_of(finance.get("/bills/rules/new", asked))
    confirmed(finance, "/bills/rules/new", asked)
    settle()
    assert carried("billed") == {teams[0]: Decimal("0.3"), teams[1]: Decimal("0.1")}
    listed = words_of(finance.get("/bills/rules"))
    assert "a shared cost, by direct cost" in listed
    bill_page = words_of(finance.get(f"/bills/{Bill.objects.get().id}"))
    assert "all who are there" in bill_page
    assert "Map it" not in bill_page
    (back,) = moves_if_ended(BillRule.objects.get().id)
    assert (back.came, back.goes, back.teams) == (move.goes, move.came, move.teams)


def test_lines_and_the_page_of_shared_costs_name_the_fee(
    tmp_path: Path, teams: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _rule()
    deliver(tmp_path, FEE)
    settle()
    assert carried_by_cost([FEBRUARY.date()]) == {
        "AWS Support": {
            FEBRUARY.date(): {teams[0]: 300_000, teams[1]: 100_000},
        }
    }
    line = Line.objects.filter(charge__kind="shared", team_id=teams[0], hour=FIRST).get()
    page = words_of(signed_in("finance").get(f"/costs/lines/2026-02/{line.id}"))
    assert "AWS Support" in page
    assert "by direct cost" in page
    monkeypatch.setattr(timezone, "now", lambda: AT)
    shared = words_of(signed_in("platform").get("/shared-costs"))
    assert "Fees of bills are shared; nothing of this month is charged yet." in shared
    assert "AWS Support, from bills research $0.30" in shared
    token = make.make_token("read").secret
    client = Client(headers={"Authorization": f"Bearer {token}"})
    answer = client.get("/api/v1/costs/lines", {"window": "2026-02-28", "limit": "100"})
    told = [row for row in answer.json()["results"] if row["kind"] == "shared"]
    fee = {"id": Bill.objects.get().id, "name": "AWS Support"}
    assert [row["shared_fee"] for row in told] == [fee] * 8
    assert {row["shared_by"] for row in told} == {"by direct cost"}


def test_rest_and_the_command_keep_such_a_rule(tmp_path: Path, teams: tuple[int, int]) -> None:
    deliver(tmp_path, FEE)
    settle()
    token = make.make_token("read", "manage").secret
    client = Client(headers={"Authorization": f"Bearer {token}"})

    def send(path: str, **body: str) -> Any:
        address = f"/api/v1/bill-rules{path}"
        return client.post(address, json.dumps(body), "application/json")

    asked = {"service": "AWS Support*", "share_method": "even"}
    (move,) = send("/preview", **asked).json()["moves"]
    assert move["to_place"] == {
        "becomes": "shared",
        "kind": "other",
        "node": None,
        "pool": None,
        "team": "",
        "share_method": "even",
    }
    assert [(each["team"], each["share"]["currency"]) for each in move["shares"]] == [
        ("research", "USD"),
        ("search", "USD"),
    ]
    refused = send("", **asked, team="search")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "share_method")
    assert send("", **asked).json()["share_method"] == "even"
    _end()
    call_command("add_bill_rule", service="AWS Support*", share="by_energy")
    assert BillRule.objects.get(ended_at=None).share_method == "by_energy"
    with pytest.raises(CommandError, match="of no node"):
        call_command("add_bill_rule", service="x*", share="even", team="search")
