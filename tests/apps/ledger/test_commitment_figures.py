"""Coverage, utilisation, savings and what was not used, from the charges themselves."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Sum

from apps.ledger.actions import close
from apps.ledger.actions.bills import undo_delivery
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.ledger.models import Bill, BilledHour, BillImport, Charge, ChargePart, Line
from apps.ledger.queries.bills.comparing import unreconciled_sums
from apps.ledger.queries.commitment_preview import if_ended, if_entered
from apps.ledger.queries.commitments import Figures, commitment_use, ends_within, term_of
from apps.ledger.queries.commitments_billed import billed_spans
from apps.ledger.queries.commitments_of_hour import hours_billed_differently
from apps.ledger.queries.focus_rows import billed_by
from apps.marks.actions import mark_span
from apps.marks.queries import Pass
from apps.pricing.actions import (
    EnteredCommitment,
    add_commitment,
    as_bought,
    end_commitment,
    set_gpu_share,
)
from apps.pricing.models import Commitment
from apps.pricing.queries.commitments import CommitmentFact, commitment
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.bill_files import deliver, hour_row
from tests.economics.test_focus_cur import LEGACY

pytestmark = pytest.mark.django_db
HOUR, TEN = scene.HOUR, scene.TEN
HOUR_MS = 3_600_000
IN_MARCH = {
    "BillingPeriodStart": "2026-03-01T00:00:00Z",
    "BillingPeriodEnd": "2026-04-01T00:00:00Z",
    "ChargePeriodStart": "2026-03-02T10:00:00Z",
    "ChargePeriodEnd": "2026-03-02T11:00:00Z",
}


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def settle(hours: int = 1) -> None:
    mark_span(pass_=Pass.CHARGE, units=[0], starts_at=TEN, ends_at=TEN + hours * HOUR)
    scene.settle(ends_at=TEN + hours * HOUR)


def figures(commitment_id: int, hours: int = 1) -> Figures:
    return commitment_use((TEN, TEN + hours * HOUR), scene.LATER).figures(commitment_id)


def test_a_reservation_of_one_of_two_nodes_covers_half_and_is_used_in_full() -> None:
    pool_id = make.make_pool("h100")
    scene.make_priced_node("gpu-01", pool_id=pool_id)
    make.make_node("gpu-02", pool_id=pool_id, started_at=TEN, at=scene.LATER, units=8)
    one = scene.make_commitment()
    settle()
    found = figures(one)
    assert (found.coverage, found.utilisation) == (Fraction(1, 2), 1)
    assert (found.on_demand, found.cost, found.unused_cost) == (98_320_000, 40_000_000, 0)
    assert found.savings_rate == Fraction(98_320_000 - 40_000_000, 98_320_000)
    assert found.break_even == Fraction(4000, 9832)
    assert found.covered_ms == 8 * HOUR_MS


def test_what_nobody_used_is_paid_for_and_lowers_the_savings() -> None:
    scene.make_priced_node("gpu-01")
    one = scene.make_commitment(units=2, hourly=Decimal(70))
    settle()
    found = figures(one)
    assert (found.coverage, found.utilisation) == (1, Fraction(1, 2))
    assert (found.covered_cost, found.unused_cost) == (35_000_000, 35_000_000)
    assert found.savings_rate == Fraction(98_320_000 - 70_000_000, 98_320_000)
    # Two nodes on demand would be 196.64: used by 35.6 % it would cost as much.
    assert found.break_even == Fraction(7000, 19664)


def test_the_worked_example_of_the_savings_rate() -> None:
    assert Figures(on_demand=1000, covered_cost=640, unused_cost=60).savings_rate == Fraction(3, 10)


def test_before_anything_is_charged_every_figure_is_undefined_and_none_is_zero() -> None:
    one = scene.make_commitment()
    found = figures(one)
    assert (found.coverage, found.utilisation, found.savings_rate, found.break_even) == (None,) * 4
    use = commitment_use((TEN, TEN + HOUR), scene.LATER)
    assert (use.coverage, use.utilisation, use.all.savings_rate) == (None, None, None)


def test_one_that_nobody_uses_has_a_utilisation_of_zero_and_no_savings_rate() -> None:
    scene.make_priced_node("gpu-01", started_at=TEN)
    one = scene.make_commitment(instance_type="p4d.24xlarge", provider="aws")
    settle()
    found = figures(one)
    assert (found.utilisation, found.coverage) == (0, None)
    assert (found.savings_rate, found.break_even, found.unused_cost) == (None, None, 40_000_000)
    assert found.saved == -40_000_000


def test_use_without_a_price_saves_nobody_knows_what() -> None:
    make.make_node("gpu-01", started_at=TEN, at=scene.LATER, units=8)
    one = scene.make_commitment()
    settle()
    found = figures(one)
    assert (found.utilisation, found.cost) == (1, 40_000_000)
    assert (found.on_demand, found.saved, found.savings_rate, found.break_even) == (None,) * 4


def test_a_commitment_of_unknown_cost_is_used_at_an_unknown_saving() -> None:
    scene.make_priced_node("gpu-01")
    one = scene.make_commitment(currency="EUR")
    settle()
    found = figures(one)
    assert (found.utilisation, found.coverage) == (1, 1)
    assert (found.cost, found.savings_rate, found.unused_cost) == (None, None, None)
    assert commitment_use((TEN, TEN + HOUR), scene.LATER).utilisation is None


def test_a_spend_is_measured_in_what_it_buys() -> None:
    pool_id = make.make_pool("h100", instance_type="p5.48xlarge")
    scene.make_priced_node("gpu-01", pool_id=pool_id)
    one = scene.make_commitment(
        kind="savings_plan",
        units=0,
        spend=Decimal(25),
        hourly=Decimal(25),
        prices={"p5.48xlarge": "50"},
    )
    settle()
    found = figures(one)
    assert (found.coverage, found.utilisation) == (Fraction(1, 2), 1)
    assert found.savings_rate == Fraction(49_160_000 - 25_000_000, 49_160_000)


def test_gpus_count_by_the_gpu() -> None:
    pool_id = make.make_pool("h100")
    scene.make_priced_node("gpu-01", pool_id=pool_id, units=8)
    one = scene.make_commitment(units=16, unit="gpu", hourly=Decimal(80))
    settle()
    assert figures(one).utilisation == Fraction(1, 2)


def test_times_in_which_it_did_not_hold_are_not_eligible() -> None:
    scene.make_priced_node("gpu-01")
    one = scene.make_commitment(period=(TEN + HOUR, TEN + 3 * HOUR))
    settle(hours=4)
    # The node lived four hours, two of them in the term.
    found = figures(one, hours=4)
    assert (found.coverage, found.utilisation) == (1, 1)
    use = commitment_use(tuple(TEN + hour * HOUR for hour in range(5)), scene.LATER)
    assert [use.in_time(hour).cost for hour in range(4)] == [0, 40_000_000, 40_000_000, 0]
    assert use.coverage == 1


def test_a_block_that_begins_within_an_hour_is_used_and_covers_in_full() -> None:
    half = TEN + HOUR / 2
    scene.make_priced_node("gpu-01", started_at=half)
    one = scene.make_commitment(
        kind="capacity_block", period=(half, half + 8 * HOUR), hourly=Decimal(40)
    )
    settle(hours=8)
    found = commitment_use((TEN, TEN + 8 * HOUR), scene.LATER).figures(one)
    assert (found.coverage, found.utilisation) == (1, 1)


def test_the_whole_weighs_each_commitment_by_what_it_costs() -> None:
    pool_id = make.make_pool("h100")
    scene.make_priced_node("gpu-01", pool_id=pool_id)
    scene.make_commitment(hourly=Decimal(60))
    scene.make_commitment(hourly=Decimal(20), instance_type="p4d.24xlarge")
    settle()
    use = commitment_use((TEN, TEN + HOUR), scene.LATER)
    # Sixty of eighty were used.
    assert use.utilisation == Fraction(3, 4)
    assert use.coverage == 1
    assert use.all.unused_cost == 20_000_000
    assert use.all.savings_rate == Fraction(98_320_000 - 80_000_000, 98_320_000)


def test_the_price_of_a_term_is_paid_hour_by_hour_and_nothing_is_left_at_its_end() -> None:
    one = commitment(scene.make_commitment(upfront=Decimal(100), hourly=Decimal(1)))
    half = term_of(one, TEN + 50 * HOUR)
    assert (half.paid_micros, half.left_micros, half.left_hours) == (100_000_000, 100_000_000, 50)
    over = term_of(one, TEN + 200 * HOUR)
    assert (over.paid_micros, over.left_micros, over.left_hours) == (200_000_000, 0, 0)
    before = term_of(one, TEN - HOUR)
    assert (before.paid_micros, before.left_micros, before.left_hours) == (0, 200_000_000, 100)


def test_the_ones_that_end_soon_are_told() -> None:
    one = commitment(scene.make_commitment(period=(TEN, TEN + timedelta(days=100))))
    left = [5, 15, 45, 71, 101]
    assert [ends_within(one, TEN + timedelta(days=day)) for day in left] == [None, 90, 60, 30, None]


def entered(**given: Any) -> CommitmentFact:
    """A commitment of one node for 100 hours at 40 an hour, as somebody thinks of entering it."""
    values = {
        "name": "thought of",
        "kind": "reserved",
        "currency": "USD",
        "starts_at": TEN,
        "ends_at": TEN + 100 * HOUR,
        "provider": "aws",
        "instance_type": "p5.48xlarge",
        "units": 1,
        "hourly": Decimal(40),
    } | given
    return as_bought(EnteredCommitment(**values))


def test_a_preview_says_what_entering_then_moves_exactly() -> None:
    pool_id = make.make_pool("h100")
    scene.make_priced_node("gpu-01", pool_id=pool_id, started_at=TEN + timedelta(minutes=30))
    settle(hours=2)
    told = if_entered(entered(), TEN + 2 * HOUR)
    assert (told.hours, told.closed_hours, told.utilisation) == (2, 0, Fraction(3, 4))
    assert (told.cost, told.on_demand) == (80_000_000, 98_320_000 * 3 // 2)
    before = total_cost()
    scene.make_commitment()
    settle(hours=2)
    assert total_cost() - before == told.difference


def test_a_preview_takes_the_dearest_use_first_and_leaves_what_is_covered() -> None:
    dear, cheap = make.make_pool("dear"), make.make_pool("cheap")
    scene.make_priced_node("gpu-01", pool_id=dear)
    make.make_node("gpu-02", pool_id=cheap, started_at=TEN, at=scene.LATER, units=8)
    scene.make_rate(cheap, Decimal(10))
    settle()
    assert if_entered(entered(), TEN + HOUR).on_demand == 98_320_000
    scene.make_commitment()
    settle()
    assert if_entered(entered(), TEN + HOUR).on_demand == 10_000_000


def test_a_preview_of_what_has_no_price_says_so() -> None:
    make.make_node("gpu-01", started_at=TEN, at=scene.LATER, units=8)
    settle()
    told = if_entered(entered(), TEN + HOUR)
    assert (told.utilisation, told.on_demand, told.difference) == (1, None, None)
    assert if_entered(entered(currency="EUR"), TEN + HOUR).cost is None


def test_a_preview_of_what_is_to_come_moves_nothing() -> None:
    told = if_entered(entered(), TEN)
    assert (told.hours, told.cost, told.on_demand, told.utilisation) == (0, 0, 0, None)


def test_hours_of_closed_months_are_told_apart_and_moved_by_nothing() -> None:
    scene.make_priced_node("gpu-01")
    april = datetime(2026, 4, 5, 9, tzinfo=UTC)
    scene.settle_all(april)
    everything = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved")
    close.close_month(request=close.CloseRequest(date(2026, 3, 1), None, everything), at=april)
    told = if_entered(entered(), april)
    assert (told.hours, told.closed_hours, told.used) == (0, 100, 0)


def test_a_preview_of_an_end_says_what_ending_then_moves() -> None:
    scene.make_priced_node("gpu-01")
    one = scene.make_commitment()
    settle(hours=3)
    told = if_ended(one, TEN + HOUR, TEN + 3 * HOUR)
    assert (told.hours, told.cost, told.on_demand) == (2, 80_000_000, 2 * 98_320_000)
    before = total_cost()
    end_commitment(commitment_id=one, ended_at=TEN + HOUR, at=TEN + 3 * HOUR)
    settle(hours=3)
    assert before - total_cost() == told.difference
    assert if_ended(one, TEN + 5 * HOUR, TEN + 3 * HOUR).hours == 0


def test_the_command_tells_each_commitment_and_all_together() -> None:
    scene.make_priced_node("gpu-01")
    one = scene.make_commitment(units=2, hourly=Decimal(70), name="two nodes")
    settle()
    out = StringIO()
    call_command("commitments", month="2026-03", json=True, stdout=out)
    told = json.loads(out.getvalue())
    (figures,) = told["commitments"]
    assert (figures["id"], figures["utilisation"], figures["unused"]) == (one, 0.5, "35.000000")
    assert (told["all"]["cost"], told["all"]["coverage"]) == ("70.000000", 1.0)
    call_command("commitments", month="2026-02", stdout=out)
    assert "all: savings rate " in out.getvalue()
    with pytest.raises(CommandError, match="window"):
        call_command("commitments", month="the ides", stdout=out)


def total_cost() -> int:
    return int(Charge.objects.aggregate(n=Sum("effective_micros"))["n"])


def test_owned_hardware_is_no_use_that_a_commitment_could_cover() -> None:
    scene.make_priced_node("gpu-01")
    scene.make_priced_node("gpu-02")
    one = scene.make_commitment()
    settle()
    assert figures(one).coverage == Fraction(1, 2)
    Charge.objects.filter(kind="node_hour", part=ChargePart.PRICED).update(owned_plan_id=1)
    assert figures(one).coverage == 1
    assert if_entered(entered(), TEN + HOUR).used == 0


def test_a_bill_keeps_which_commitment_covered_and_tells_what_was_not_used(
    tmp_path: Path,
) -> None:
    scene.make_priced_node("gpu-01", provider_id="i-01")
    one = scene.make_commitment(
        units=2, hourly=Decimal(70), external_id="ri-1", period=(TEN, TEN + HOUR)
    )
    settle()
    named = {"CommitmentDiscountId": "ri-1", "CommitmentDiscountStatus": "Used"}
    used = hour_row("36", **IN_MARCH, **named, ResourceId="i-01", ContractedCost="98.32")
    unused = hour_row("33", **IN_MARCH, **named | {"CommitmentDiscountStatus": "Unused"})
    deliver(tmp_path, used, unused | {"ResourceId": ""})
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=scene.LATER)
    scene.settle(ends_at=TEN + HOUR)
    # What bills say of less than a day is charged by the day.
    midnight = TEN - 10 * HOUR
    found = commitment_use((midnight, midnight + 24 * HOUR), scene.LATER).figures(one)
    assert (found.covered_cost, found.unused_cost) == (36_000_000, 33_000_000)
    assert (found.utilisation, found.on_demand) == (Fraction(1, 2), 98_320_000)


def test_a_bill_says_how_much_of_a_plan_was_used_and_what_that_cost(tmp_path: Path) -> None:
    """We would have used all of it; the bill has half of the hour under it, half on demand."""
    scene.make_priced_node("gpu-01", provider_id="i-01")
    one = scene.make_commitment(
        kind="savings_plan", units=0, spend=Decimal(80), hourly=Decimal(80), external_id="sp-1",
        prices={"p5.48xlarge": "80"}, period=(TEN, TEN + HOUR),
    )  # fmt: skip
    settle()
    assert figures(one).utilisation == 1
    named = {"CommitmentDiscountId": "sp-1", "CommitmentDiscountStatus": "Used"}
    used = hour_row("40", **IN_MARCH, **named, ResourceId="i-01", ContractedCost="49.16")
    rest = hour_row("60", **IN_MARCH, ResourceId="i-01", ContractedCost="60")
    unused = hour_row("40", **IN_MARCH, **named | {"CommitmentDiscountStatus": "Unused"})
    deliver(tmp_path, used, rest, unused | {"ResourceId": "", "BilledCost": "0", "Tags": ""})
    reconcile_all()
    midnight = TEN.replace(hour=0)
    found = commitment_use((midnight, midnight + 24 * HOUR), scene.LATER).figures(one)
    assert (found.utilisation, found.coverage) == (Fraction(1, 2), Fraction(1, 2))
    assert (found.cost, found.unused_cost, found.on_demand) == (80_000_000, 40_000_000, 49_160_000)
    assert total_cost() == 140_000_000


@pytest.mark.parametrize(("entered_first", "status"), [(True, "reconciled"), (False, "restated")])
def test_a_commitments_owner_keeps_what_nobody_used_when_the_bill_comes(
    tmp_path: Path, entered_first: bool, status: str
) -> None:
    team_id = make.make_team("research")
    scene.make_priced_node("gpu-01", provider_id="i-01")
    bought = EnteredCommitment(
        name="two nodes", kind="reserved", currency="USD", provider="aws", gpu_model="NVIDIA H100 80GB HBM3",
        starts_at=TEN, ends_at=TEN + HOUR, units=2, hourly=Decimal(70), owner_id=team_id,
        external_id="ri-1",
    )  # fmt: skip
    if entered_first:
        add_commitment(commitment=bought, at=scene.LATER)
        scene.settle()
        assert owners_of("commitment_unused") == {team_id: 35_000_000}
    named = {"CommitmentDiscountId": "ri-1", "CommitmentDiscountStatus": "Used"}
    used = hour_row("36", **IN_MARCH, **named, ResourceId="i-01", ContractedCost="98.32")
    unused = hour_row("34", **IN_MARCH, **named | {"CommitmentDiscountStatus": "Unused"})
    deliver(tmp_path, used, unused | {"ResourceId": "", "BilledCost": "0", "Tags": ""})
    reconcile_all()
    if not entered_first:
        assert owners_of("commitment_unused") == {scene.platform(): 34_000_000}
        add_commitment(commitment=bought, at=scene.LATER)
        scene.settle()
    assert owners_of("commitment_unused") == {team_id: 34_000_000}
    one = Commitment.objects.get()
    unused_charge = Charge.objects.get(kind="commitment_unused")
    told = unreconciled_sums(Bill.objects.get().id)
    assert [each.team_name for each in told if each.charge_kind == "commitment_unused"] == [
        "research"
    ]
    assert (unused_charge.commitment_id, unused_charge.status) == (one.id, status)
    # Undone, the estimate is back, and still its owner's.
    undo_delivery(import_id=BillImport.objects.get().id, at=scene.LATER)
    reconcile_all()
    assert owners_of("commitment_unused") == {team_id: 35_000_000}


def test_a_report_of_amazons_tells_a_fee_as_a_purchase_and_what_of_it_nobody_used(
    tmp_path: Path,
) -> None:
    team_id = make.make_team("research")
    pool_id = make.make_pool("h100", instance_type="p5.48xlarge")
    scene.make_priced_node("gpu-01", pool_id=pool_id, provider_id="i-01")
    plan = "arn:aws:savingsplans::1234:savingsplan/sp-1"
    one = scene.make_commitment(
        kind="savings_plan", units=0, spend=Decimal(60), hourly=Decimal(60),
        prices={"p5.48xlarge": "36"}, external_id=plan, owner_id=team_id,
        period=(TEN, TEN + HOUR),
    )  # fmt: skip
    usage = LEGACY | {
        "bill/BillingPeriodStartDate": "2026-03-01T00:00:00Z",
        "bill/BillingPeriodEndDate": "2026-04-01T00:00:00Z",
        "lineItem/UsageStartDate": "2026-03-02T10:00:00Z",
        "lineItem/UsageEndDate": "2026-03-02T11:00:00Z",
        "savingsPlan/SavingsPlanARN": plan,
        "savingsPlan/SavingsPlanEffectiveCost": "",
        "savingsPlan/TotalCommitmentToDate": "",
        "savingsPlan/UsedCommitment": "",
    }
    covered = {
        "lineItem/LineItemType": "SavingsPlanCoveredUsage",
        "savingsPlan/SavingsPlanEffectiveCost": "36",
    }
    negation = {"lineItem/LineItemType": "SavingsPlanNegation", "lineItem/UnblendedCost": "-98.32"}
    fee = {
        "lineItem/LineItemType": "SavingsPlanRecurringFee", "lineItem/UnblendedCost": "60",
        "lineItem/ResourceId": "", "savingsPlan/TotalCommitmentToDate": "60",
        "savingsPlan/UsedCommitment": "36",
    }  # fmt: skip
    taken = deliver(tmp_path, usage | covered, usage | negation, usage | fee)
    assert taken.rejected == 0
    reconcile_all()
    unused, purchase = (Charge.objects.get(kind=kind) for kind in ("commitment_unused", "purchase"))
    assert [(c.effective_micros, c.billed_micros) for c in (unused, purchase)] == [
        (24_000_000, 0),
        (0, 60_000_000),
    ]
    assert {unused.commitment_id, purchase.commitment_id} == {one}
    assert owners_of("commitment_unused") == {team_id: 24_000_000}
    midnight = TEN - 10 * HOUR
    found = commitment_use((midnight, midnight + 24 * HOUR), scene.LATER).figures(one)
    assert (found.cost, found.utilisation) == (60_000_000, Fraction(36, 60))
    # The negation says the covered hour once more: no machine ran twice.
    assert BilledHour.objects.get().billed_milliseconds == HOUR_MS


def owners_of(kind: str) -> dict[int, int]:
    """What lines of charges of a kind sum to, by team."""
    found = Line.objects.filter(charge__kind=kind).values_list("team_id")
    return {
        team_id: micros for team_id, micros in found.annotate(Sum("effective_micros")) if micros
    }


def reconcile_all() -> None:
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=scene.LATER)
    scene.settle()


def test_hours_that_a_bill_does_not_reach_yet_keep_their_own_unused_part(tmp_path: Path) -> None:
    scene.make_priced_node("gpu-01", provider_id="i-01")
    one = scene.make_commitment(
        units=2, hourly=Decimal(70), external_id="ri-1", period=(TEN, TEN + 2 * HOUR)
    )
    mark_span(pass_=Pass.CHARGE, units=[0], starts_at=TEN, ends_at=TEN + 2 * HOUR)
    scene.settle(ends_at=TEN + 2 * HOUR)
    # The first hour's use, and that nobody used the rest of it; the second was not billed yet.
    named = {"CommitmentDiscountId": "ri-1", "CommitmentDiscountStatus": "Unused"}
    taken = deliver(tmp_path, hour_row("33", **IN_MARCH, **named, ResourceId=""))
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=scene.LATER)
    scene.settle(ends_at=TEN + 2 * HOUR)
    own = Charge.objects.filter(
        kind="commitment_unused", commitment_id=one, billed_charge_id__isnull=True
    )
    assert list(own.values_list("hour", flat=True)) == [TEN + HOUR]
    undo_delivery(import_id=taken.import_id, at=scene.LATER)
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=scene.LATER)
    scene.settle(ends_at=TEN + 2 * HOUR)
    assert list(own.order_by("hour").values_list("hour", flat=True)) == [TEN, TEN + HOUR]
    assert Charge.objects.filter(kind="commitment_unused").count() == 2


def test_a_file_that_is_held_tells_nothing_of_a_commitment_nor_of_an_invoice(
    tmp_path: Path,
) -> None:
    scene.make_priced_node("gpu-01", provider_id="i-01")
    one = scene.make_commitment(
        units=2, hourly=Decimal(70), external_id="ri-1", period=(TEN, TEN + 2 * HOUR)
    )
    settle(2)
    deliver(tmp_path, hour_row("36", **IN_MARCH, ResourceId="i-01"))
    reconcile_all()
    before = total_cost()
    named = {"CommitmentDiscountId": "ri-1", "CommitmentDiscountStatus": "Unused"}
    eleven = {
        "ChargePeriodStart": "2026-03-02T11:00:00Z",
        "ChargePeriodEnd": "2026-03-02T12:00:00Z",
    }
    told = hour_row("33", **IN_MARCH | eleven, **named, ResourceId="", InvoiceId="INV-1")
    assert deliver(tmp_path, told, hour_row("oops", **IN_MARCH, InvoiceId="")).is_held

    settle(2)

    own = Charge.objects.filter(kind="commitment_unused", commitment_id=one)
    assert list(own.order_by("hour").values_list("hour", flat=True)) == [TEN, TEN + HOUR]
    assert total_cost() == before
    assert billed_spans({"starts_at": TEN, "ends_at": TEN + 2 * HOUR}) == {}
    assert hours_billed_differently(TEN, TEN + 2 * HOUR) == []
    assert billed_by(TEN.date().replace(day=1)).invoices == {}


def test_what_does_not_ride_on_gpus_is_covered_money_and_no_time_of_its_own() -> None:
    pool_id = make.make_pool("h100")
    scene.make_priced_node("gpu-01", pool_id=pool_id)
    one = scene.make_commitment(units=2, hourly=Decimal(70))
    set_gpu_share(pool_id=pool_id, gpu_share=Decimal("0.8"), starts_at=TEN, note="", at=scene.LATER)
    settle()
    assert Charge.objects.filter(part=ChargePart.HOST).count() == 1
    found = figures(one)
    assert (found.coverage, found.utilisation) == (1, Fraction(1, 2))
    assert (found.on_demand, found.covered_cost) == (98_320_000, 35_000_000)
    assert found.covered_ms == 8 * HOUR_MS


def test_what_a_bill_tells_of_a_commitment_nobody_entered_is_told_apart(tmp_path: Path) -> None:
    scene.make_commitment()
    told = {"CommitmentDiscountId": "ri-9", "CommitmentDiscountStatus": "Unused", "ResourceId": ""}
    deliver(tmp_path, hour_row("33", **IN_MARCH, **told))
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=scene.LATER)
    scene.settle_all()
    midnight = TEN - 10 * HOUR
    use = commitment_use((midnight, midnight + 24 * HOUR), scene.LATER)
    assert (use.nameless_unused, use.all.unused_cost) == (33_000_000, 0)


@pytest.mark.parametrize("is_known_node", [True, False])
def test_of_a_reservation_of_any_size_a_bill_tells_how_much_was_used_by_the_sizes_that_it_covered(
    tmp_path: Path, is_known_node: bool
) -> None:
    """A p3.16xlarge counts 128, a p3.8xlarge 64: we would have used all of it, the bill half."""
    pool_id = make.make_pool("v100", instance_type="p3.8xlarge", region="us-east-1")
    scene.make_priced_node("gpu-01", pool_id=pool_id, provider_id="i-01" * is_known_node)
    make.make_node("gpu-02", pool_id=pool_id, started_at=TEN, at=scene.LATER, units=4)
    one = scene.make_commitment(
        provider="aws", instance_type="p3.16xlarge", region="us-east-1", units=1,
        hourly=Decimal(80), external_id="ri-1", period=(TEN, TEN + HOUR),
    )  # fmt: skip
    settle()
    assert figures(one).utilisation == 1
    named = {"CommitmentDiscountId": "ri-1", "CommitmentDiscountStatus": "Used"}
    used = hour_row(
        "40", **IN_MARCH, **named, ResourceId="i-01", ContractedCost="49.16",
        SkuMeter="BoxUsage:p3.8xlarge",
    )  # fmt: skip
    unused = hour_row("40", **IN_MARCH, **named | {"CommitmentDiscountStatus": "Unused"})
    deliver(tmp_path, used, unused | {"ResourceId": "", "BilledCost": "0", "Tags": ""})
    reconcile_all()
    midnight = TEN.replace(hour=0)
    found = commitment_use((midnight, midnight + 24 * HOUR), scene.LATER).figures(one)
    assert (found.utilisation, found.coverage) == (Fraction(1, 2), Fraction(1, 2))
    assert (found.cost, found.unused_cost, found.on_demand) == (80_000_000, 40_000_000, 49_160_000)
