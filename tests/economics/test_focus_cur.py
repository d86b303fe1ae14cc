"""AWS's own reports, legacy and 2.0: every type of line, and sums that are the invoice's."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from apps.economics.focus.cells import BadCell
from apps.economics.focus.columns import NotABill
from apps.economics.focus.cur import CurReader, is_cur

PLAN = "arn:aws:savingsplans::1234:savingsplan/sp-1"
RESERVED = "arn:aws:ec2:us-east-1:1234:reserved-instances/ri-1"
LEGACY = {
    "bill/PayerAccountId": "1234",
    "bill/BillingPeriodStartDate": "2026-07-01T00:00:00Z",
    "bill/BillingPeriodEndDate": "2026-08-01T00:00:00Z",
    "bill/InvoiceId": "INV-7",
    "lineItem/UsageAccountId": "5678",
    "lineItem/LineItemType": "Usage",
    "lineItem/UsageStartDate": "2026-07-03 10:00:00",
    "lineItem/UsageEndDate": "2026-07-03 11:00:00",
    "lineItem/ProductCode": "AmazonEC2",
    "lineItem/UsageType": "BoxUsage:p5.48xlarge",
    "lineItem/ResourceId": "i-01",
    "lineItem/UsageAmount": "1",
    "lineItem/CurrencyCode": "USD",
    "lineItem/UnblendedCost": "98.32",
    "product/ProductName": "Amazon Elastic Compute Cloud",
    "product/region": "us-east-1",
    "pricing/publicOnDemandCost": "98.32",
    "pricing/publicOnDemandRate": "98.32",
    "pricing/unit": "Hrs",
    "reservation/SubscriptionId": "9243462038",
    "resourceTags/user:team": "research",
    "resourceTags/aws:createdBy": "",
}


def read(**given):
    cells = LEGACY | {name.replace("__", "/"): cell for name, cell in given.items()}
    return CurReader(list(cells)).read(list(cells.values()))


def costs(row):
    return tuple(None if cost is None else str(cost) for cost in row.costs)


def test_usage_on_demand_costs_what_it_says_on_every_basis():
    row = read()

    assert costs(row) == ("98.32", "98.32", "98.32", "98.32")
    assert row.frame.bill[:3] == ("Amazon Web Services", "Amazon Web Services", "1234")
    assert (row.frame.kind, row.frame.category, row.frame.pricing_category) == (
        "compute",
        "Usage",
        "Standard",
    )
    assert (row.frame.sub_account, row.frame.invoice_id, row.frame.commitment_id) == (
        "5678",
        "INV-7",
        "",
    )
    assert json.loads(row.frame.tags) == {"team": "research"}
    assert json.loads(row.frame.more)["lineItem/LineItemType"] == "Usage"


def test_a_report_of_the_second_kind_reads_as_the_first():
    second = {
        "bill_payer_account_id": "1234",
        "bill_billing_period_start_date": "2026-07-01 00:00:00.000",
        "bill_billing_period_end_date": "2026-08-01 00:00:00.000",
        "bill_invoice_id": "INV-7",
        "line_item_usage_account_id": "5678",
        "line_item_line_item_type": "Usage",
        "line_item_usage_start_date": "2026-07-03 10:00:00.000",
        "line_item_usage_end_date": "2026-07-03 11:00:00.000",
        "line_item_product_code": "AmazonEC2",
        "line_item_usage_type": "BoxUsage:p5.48xlarge",
        "line_item_resource_id": "i-01",
        "line_item_usage_amount": 1.0,
        "line_item_currency_code": "USD",
        "line_item_unblended_cost": 98.32,
        "product_product_name": "Amazon Elastic Compute Cloud",
        "product_region_code": "us-east-1",
        "pricing_public_on_demand_cost": 98.32,
        "pricing_public_on_demand_rate": "98.32",
        "pricing_unit": "Hrs",
        "resource_tags": [("user_team", "research")],
    }

    row = CurReader(list(second)).read(list(second.values()))

    said, other = (
        each._replace(digest=b"", frame=replace(each.frame, more="")) for each in (row, read())
    )
    assert said == other


def test_a_savings_plan_sums_to_its_fee_when_billed_and_to_what_it_costs_when_effective():
    covered = read(
        lineItem__LineItemType="SavingsPlanCoveredUsage",
        savingsPlan__SavingsPlanARN=PLAN,
        savingsPlan__SavingsPlanEffectiveCost="55.04",
    )
    negation = read(lineItem__LineItemType="SavingsPlanNegation", lineItem__UnblendedCost="-98.32")
    fee = read(
        lineItem__LineItemType="SavingsPlanRecurringFee",
        lineItem__UnblendedCost="60",
        savingsPlan__SavingsPlanARN=PLAN,
        savingsPlan__TotalCommitmentToDate="60",
        savingsPlan__UsedCommitment="55.04",
    )

    assert costs(covered) == ("98.32", "98.32", "55.04", "0")
    assert (covered.frame.commitment_id, covered.frame.commitment_status) == (PLAN, "Used")
    assert (covered.frame.pricing_category, covered.frame.kind) == ("Committed", "compute")
    assert (fee.frame.category, fee.frame.kind) == ("Purchase", "commitment")
    # What of the fee nobody used is its effective cost: a row of both.
    assert (fee.frame.commitment_id, fee.frame.commitment_status) == (PLAN, "Unused")
    assert negation.frame.category == "Adjustment"
    rows = (covered, negation, fee)
    invoiced = Decimal("98.32") - Decimal("98.32") + 60
    assert sum(row.costs.billed for row in rows) == invoiced
    assert sum(row.costs.effective for row in rows) == Decimal(60)


def test_a_plan_paid_in_full_costs_nothing_in_itself():
    upfront = read(
        lineItem__LineItemType="SavingsPlanUpfrontFee", lineItem__UnblendedCost="5000",
        savingsPlan__SavingsPlanARN=PLAN,
    )  # fmt: skip

    assert costs(upfront) == ("0", "0", "0", "5000")


def test_a_reservation_is_billed_by_its_fees_and_effective_where_it_was_used():
    used = read(
        lineItem__LineItemType="DiscountedUsage", lineItem__UnblendedCost="0",
        reservation__ReservationARN=RESERVED, reservation__EffectiveCost="40",
    )  # fmt: skip
    fee = read(
        lineItem__LineItemType="RIFee", lineItem__UnblendedCost="100",
        reservation__ReservationARN=RESERVED,
        reservation__UnusedAmortizedUpfrontFeeForBillingPeriod="5",
        reservation__UnusedRecurringFee="20",
    )  # fmt: skip
    bought = read(
        lineItem__LineItemType="Fee", lineItem__UnblendedCost="900",
        reservation__ReservationARN=RESERVED,
    )  # fmt: skip

    assert costs(used) == ("98.32", "98.32", "40", "0")
    assert (used.frame.pricing_category, used.frame.commitment_id) == ("Committed", RESERVED)
    assert costs(fee) == ("0", "0", "25", "100")
    assert costs(bought) == ("0", "0", "0", "900")
    assert (bought.frame.category, bought.frame.kind) == ("Purchase", "commitment")
    assert (fee.frame.commitment_status, bought.frame.commitment_status) == ("Unused", "")


def test_a_fee_of_no_commitment_costs_what_it_says():
    fee = read(
        lineItem__LineItemType="Fee", lineItem__UnblendedCost="12",
        lineItem__ProductCode="AWSSupportEnterprise", lineItem__UsageType="Support",
    )  # fmt: skip

    assert (fee.frame.category, costs(fee)) == ("Purchase", ("98.32", "12", "12", "12"))
    assert fee.frame.kind == "other"


@pytest.mark.parametrize(
    "said", ["RIFee", "SavingsPlanRecurringFee", "SavingsPlanUpfrontFee", "Fee"]
)
def test_a_fee_of_a_commitment_is_no_machines_time_where_the_report_lacks_its_arn(said):
    """Its usage type names the machine, its unit is hours: it would be spread over the pool."""
    fee = read(lineItem__LineItemType=said, lineItem__UnblendedCost="720", lineItem__ResourceId="")

    assert (fee.frame.category, fee.frame.kind) == ("Purchase", "commitment")
    assert fee.costs.billed == 720


def test_a_discount_of_a_contract_is_in_what_is_paid_not_in_what_is_listed():
    row = read(lineItem__NetUnblendedCost="80")

    assert costs(row) == ("98.32", "98.32", "80", "80")


def test_with_net_columns_every_line_is_net_and_they_sum_to_the_invoice():
    """On demand 100, a plan's hour of 20 of which 15 are used, a reservation's fee of 20, 6 % off."""
    usage = read(lineItem__UnblendedCost="100", lineItem__NetUnblendedCost="94")
    covered = read(
        lineItem__LineItemType="SavingsPlanCoveredUsage", lineItem__UnblendedCost="30",
        lineItem__NetUnblendedCost="28.2", savingsPlan__SavingsPlanARN=PLAN,
        savingsPlan__SavingsPlanEffectiveCost="15",
        savingsPlan__NetSavingsPlanEffectiveCost="14.1",
    )  # fmt: skip
    negation = read(
        lineItem__LineItemType="SavingsPlanNegation", lineItem__UnblendedCost="-30",
        lineItem__NetUnblendedCost="-28.2",
    )  # fmt: skip
    plan = read(
        lineItem__LineItemType="SavingsPlanRecurringFee", lineItem__UnblendedCost="20",
        lineItem__NetUnblendedCost="18.8", savingsPlan__SavingsPlanARN=PLAN,
        savingsPlan__TotalCommitmentToDate="20", savingsPlan__UsedCommitment="15",
        savingsPlan__RecurringCommitmentForBillingPeriod="20",
        savingsPlan__NetRecurringCommitmentForBillingPeriod="18.8",
    )  # fmt: skip
    used = read(
        lineItem__LineItemType="DiscountedUsage", lineItem__UnblendedCost="0",
        lineItem__NetUnblendedCost="0", reservation__ReservationARN=RESERVED,
        reservation__EffectiveCost="15", reservation__NetEffectiveCost="14.1",
    )  # fmt: skip
    reserved = read(
        lineItem__LineItemType="RIFee", lineItem__UnblendedCost="20",
        lineItem__NetUnblendedCost="18.8", reservation__ReservationARN=RESERVED,
        reservation__UnusedRecurringFee="5", reservation__NetUnusedRecurringFee="4.7",
    )  # fmt: skip
    discount = read(
        lineItem__LineItemType="EdpDiscount", lineItem__UnblendedCost="-8.4",
        lineItem__NetUnblendedCost="",
    )  # fmt: skip
    rows = (usage, covered, negation, plan, used, reserved, discount)

    invoiced = Decimal(100) + 20 + 20 - Decimal("8.4")
    assert sum(row.costs.billed for row in rows) == invoiced == Decimal("131.60")
    assert sum(row.costs.effective for row in rows) == invoiced
    assert costs(plan) == ("0", "0", "4.70000000000000", "18.8")
    assert costs(discount) == ("0", "0", "0", "0")


def test_a_plan_paid_in_full_loses_of_its_unused_part_what_the_discount_took():
    fee = read(
        lineItem__LineItemType="SavingsPlanRecurringFee", lineItem__UnblendedCost="0",
        lineItem__NetUnblendedCost="0", savingsPlan__SavingsPlanARN=PLAN,
        savingsPlan__TotalCommitmentToDate="20", savingsPlan__UsedCommitment="15",
        savingsPlan__AmortizedUpfrontCommitmentForBillingPeriod="20",
        savingsPlan__NetAmortizedUpfrontCommitmentForBillingPeriod="18",
    )  # fmt: skip

    assert fee.costs.effective == Decimal("4.5")


def test_without_net_columns_a_discount_is_a_line_of_its_own():
    row = read(lineItem__LineItemType="EdpDiscount", lineItem__UnblendedCost="-8.4")

    assert (row.costs.billed, row.costs.effective) == (Decimal("-8.4"), Decimal("-8.4"))


@pytest.mark.parametrize(
    ("said", "category", "kind"),
    [
        ("Tax", "Tax", "tax"),
        ("Credit", "Credit", "credit"),
        ("Refund", "Credit", "credit"),
        ("EdpDiscount", "Adjustment", "compute"),
        ("BundledDiscount", "Adjustment", "compute"),
    ],
)
def test_other_lines_are_what_their_type_says(said, category, kind):
    row = read(
        lineItem__LineItemType=said, lineItem__UnblendedCost="-3", pricing__publicOnDemandCost=""
    )

    assert (row.frame.category, row.frame.kind, costs(row)) == (
        category,
        kind,
        ("-3", "-3", "-3", "-3"),
    )


@pytest.mark.parametrize(
    ("family", "code", "kind"),
    [
        ("Storage Snapshot", "AmazonEC2", "disk"),
        ("Data Transfer", "AmazonEC2", "network"),
        ("Compute Instance", "AmazonEC2", "compute"),
        ("", "AmazonRDS", "other"),
    ],
)
def test_the_family_of_a_product_tells_machines_from_what_is_attached(family, code, kind):
    row = read(product__productFamily=family, lineItem__ProductCode=code)

    assert row.frame.kind == kind


def test_spot_use_is_priced_by_the_market():
    row = read(lineItem__UsageType="SpotUsage:p5.48xlarge")

    assert row.frame.pricing_category == "Dynamic"


def test_a_report_that_does_not_say_its_currency_is_refused():
    with pytest.raises(BadCell, match="is empty") as refused:
        read(lineItem__CurrencyCode="")
    assert refused.value.field == "lineItem/CurrencyCode"
    with pytest.raises(NotABill, match="lineitemcurrencycode"):
        CurReader([name for name in LEGACY if name != "lineItem/CurrencyCode"])


def test_cells_that_were_left_out_at_the_end_are_empty():
    names = [*LEGACY, "resourceTags/user:late", "resource_tags", "pricing/term", "x/More"]

    row = CurReader([*names, "lineItem/NetUnblendedCost"]).read(list(LEGACY.values()))

    assert json.loads(row.frame.tags) == {"team": "research"}
    assert row.costs.billed == Decimal("98.32")


def test_only_a_report_is_one():
    assert is_cur(list(LEGACY))
    assert not is_cur(["BilledCost", "ChargeCategory"])
    with pytest.raises(NotABill, match="billpayeraccountid"):
        CurReader([name for name in LEGACY if name != "bill/PayerAccountId"])


def test_a_row_that_cannot_be_read_still_says_of_which_period_it_is():
    reader, cells = CurReader(list(LEGACY)), dict(LEGACY)
    cells["lineItem/UnblendedCost"] = "a lot"
    begins, ends = reader.period_of(list(cells.values()))

    assert (begins.isoformat(), ends.isoformat()) == (
        "2026-07-01T00:00:00+00:00", "2026-08-01T00:00:00+00:00"
    )  # fmt: skip
    assert reader.period_of([]) is None
