"""Charges as rows of FOCUS: prices multiply to costs, parts sum to their charge, nothing is made up."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from apps.economics.bases import BilledCosts
from apps.economics.focus.cells import COST_STEP, cost_of
from apps.economics.focus.identities import ONE, hours_of, machine_hours, money, parts_of, priced
from apps.economics.focus.making import (
    BilledBy,
    ChargeFacts,
    FocusRow,
    PartFacts,
    rows_of,
)
from apps.economics.focus.names import spellings

JULY = BilledBy(
    "Acme", datetime(2026, 7, 1, tzinfo=UTC), datetime(2026, 8, 1, tzinfo=UTC), {7: "INV-1"}
)
NODE_HOUR = ChargeFacts(
    id=1,
    kind="node_hour",
    status="estimated",
    currency="USD",
    starts_at=datetime(2026, 7, 3, 10, tzinfo=UTC),
    ends_at=datetime(2026, 7, 3, 11, tzinfo=UTC),
    corrects_month="",
    reason="",
    lived_ms=3_600_000,
    commitment_id="",
    commitment="",
    commitment_kind="",
    node_id="i-01",
    node="gpu-01",
    pool="h100",
    unit="gpu",
    provider="aws",
    region="us-east-1",
    instance_type="p5.48xlarge",
    gpu_model="NVIDIA H100",
    purchase_option="on_demand",
    billed_kind="",
    label="",
    method="",
    bill_id=0,
    issuer="",
    bill_provider="",
    account="",
)
PART = PartFacts(
    costs=BilledCosts(98_320_000, 90_000_000, 55_000_000, None),
    unit_ms=28_800_000,
    team_id=4,
    team="Research",
    cost_centre="CC-1",
    workload="llm",
    workload_kind="training",
    job_id="11",
    job="4711",
    holder="",
    state=1,
    policy_version="2",
)
BESIDE = replace(
    NODE_HOUR,
    kind="service",
    lived_ms=0,
    node_id="",
    node="",
    pool="",
    unit="",
    provider="",
    region="",
    instance_type="",
    gpu_model="",
    purchase_option="",
    billed_kind="disk",
    label="Disks",
    bill_id=7,
    issuer="A Cloud",
    bill_provider="A Cloud",
    account="1234",
)
PLAIN = replace(
    PART, unit_ms=0, cost_centre="", workload="", workload_kind="", job_id="", job="", state=0
)
PLAIN = replace(PLAIN, policy_version="")
amounts = st.integers(0, 10**11 - 1)
parts = st.lists(
    st.builds(
        lambda listed, contracted, effective, billed, unit_ms: replace(
            PART, costs=BilledCosts(listed, contracted, effective, billed), unit_ms=unit_ms
        ),
        *[st.none() | st.integers(-(10**12), 10**12)] * 4,
        st.integers(0, 28_800_000),
    ),
    min_size=2,
    max_size=9,
)


def only(charge: ChargeFacts, part: PartFacts = PART) -> FocusRow:
    (row,) = rows_of(charge, [part], JULY)
    return row


def number(row: FocusRow, name: str) -> Decimal:
    found = row[name]
    assert isinstance(found, Decimal)
    return found


@given(micros=amounts, lived_ms=st.integers(2, 3_600_000))
def test_a_price_times_its_quantity_is_the_cost(micros: int, lived_ms: int) -> None:
    costs = BilledCosts(micros, micros, micros, None)
    row = only(replace(NODE_HOUR, lived_ms=lived_ms), replace(PART, costs=costs))
    quantity = number(row, "PricingQuantity")
    for basis in ("List", "Contracted"):
        cost = number(row, f"{basis}Cost")
        assert number(row, f"{basis}UnitPrice") * quantity == cost
        assert cost >= number(row, "EffectiveCost")
        assert cost_of("cost", str(cost), step=COST_STEP) == money(micros)


@given(parts=parts, lived_ms=st.integers(2, 3_600_000))
def test_parts_sum_to_their_charge(parts: list[PartFacts], lived_ms: int) -> None:
    rows = list(rows_of(replace(NODE_HOUR, lived_ms=lived_ms), parts, JULY))
    assert sum(number(row, "PricingQuantity") for row in rows) == machine_hours(lived_ms)
    units = sum(part.unit_ms for part in parts)
    assert sum(number(row, "ConsumedQuantity") for row in rows) == hours_of(units)
    for name, column in (("listed", "ListCost"), ("billed", "BilledCost")):
        known = sum(getattr(part.costs, name) or 0 for part in parts)
        assert sum(number(row, column) for row in rows) == money(known)
    of_parts = {"x_TeamId", "x_UnknownCosts", "AllocatedMethodDetails"}
    varying = {name for name in rows[0] if len({row[name] for row in rows}) > 1} - of_parts
    assert all("Cost" in name or "Quantity" in name for name in varying)
    assert not any(row.get("ListUnitPrice") or row.get("ContractedUnitPrice") for row in rows)


@given(quantity=st.integers(0, 10**12), weights=st.lists(st.integers(0, 10**9), min_size=1))
def test_a_quantity_is_divided_to_its_last_digit(quantity: int, weights: list[int]) -> None:
    whole = Decimal(quantity).scaleb(-12)
    assert sum(parts_of(whole, weights)) == whole


def test_nothing_known_has_no_price() -> None:
    assert priced(None, ONE) == (None, Decimal(0))
    assert priced(-5, ONE) == (None, Decimal("-0.000005"))
    assert priced(5, None) == (None, Decimal("0.000005"))
    assert only(NODE_HOUR)["x_UnknownCosts"] == "BilledCost"
    assert only(replace(NODE_HOUR, lived_ms=1))["PricingQuantity"] is None


def test_a_node_hour_says_what_ran_where_and_whose_it_is() -> None:
    row = only(NODE_HOUR)
    assert (row["ChargeCategory"], row["ChargeClass"]) == ("Usage", None)
    assert (row["PricingQuantity"], row["PricingUnit"]) == (1, "Hours")
    assert (row["ConsumedQuantity"], row["ConsumedUnit"]) == (8, "GPU Hours")
    assert row["SkuPriceId"] == "p5.48xlarge/us-east-1/on_demand"
    assert (row["InvoiceIssuerName"], row["InvoiceId"]) == ("AWS", None)
    assert (row["x_GpuState"], row["x_TeamName"], row["x_JobId"]) == ("Active", "Research", "4711")
    assert "AllocatedMethodId" not in row


def test_owned_machines_are_charged_by_the_organisation() -> None:
    owned = replace(NODE_HOUR, purchase_option="owned", provider="", instance_type="", gpu_model="")
    row = only(owned)
    assert (row["InvoiceIssuerName"], row["PricingCategory"]) == ("Acme", "Other")
    assert (row["SkuId"], row["SkuPriceDetails"]) == ("h100", None)


def test_what_a_bill_asks_for_beside_machines_is_one_of_its_kind() -> None:
    row = only(BESIDE, PLAIN)
    assert (row["ServiceCategory"], row["ChargeDescription"]) == ("Storage", "Disks")
    assert (row["InvoiceId"], row["BillingAccountId"]) == ("INV-1", "1234")
    assert (row["PricingQuantity"], row["ConsumedUnit"], row["ListUnitPrice"]) == (
        1,
        "Unit",
        Decimal("98.32"),
    )
    assert (row["ResourceId"], row["Tags"], row["x_GpuState"]) == (None, None, None)


def test_taxes_and_credits_have_neither_price_nor_quantity() -> None:
    back = replace(PLAIN, costs=BilledCosts(-5, -5, -5, -5))
    for kind, category in (("tax", "Tax"), ("credit", "Credit")):
        row = only(replace(BESIDE, kind=kind, billed_kind=kind), back)
        assert row["ChargeCategory"] == category
        assert row["ListCost"] == Decimal("-0.000005")
        assert {row["PricingQuantity"], row["ListUnitPrice"], row["ConsumedQuantity"]} == {None}
    assert "SkuId" not in only(replace(BESIDE, kind="tax"), back)


def test_what_is_given_back_on_a_charge_has_no_quantity() -> None:
    row = only(replace(BESIDE, kind="unmatched"), replace(PLAIN, costs=BilledCosts(1, -1, 1, 1)))
    assert (row["PricingQuantity"], row["ListUnitPrice"], row["ContractedUnitPrice"]) == (None,) * 3


def test_commitments_are_used_unused_or_bought() -> None:
    used = only(replace(NODE_HOUR, commitment_id="c-1"))
    unused = only(replace(BESIDE, kind="commitment_unused", commitment_id="c-1"), PLAIN)
    bought = only(replace(BESIDE, kind="purchase", commitment_id="c-1"), PLAIN)
    said = [
        (row["CommitmentDiscountStatus"], row["PricingCategory"], row["ConsumedQuantity"])
        for row in (used, unused, bought)
    ]
    assert said == [("Used", "Committed", 8), ("Unused", "Committed", None), (None, "Other", None)]
    assert (bought["ChargeCategory"], bought["ChargeFrequency"]) == ("Purchase", "One-Time")
    assert used["CommitmentDiscountQuantity"] == 1


def test_a_correction_of_an_earlier_month_says_so() -> None:
    row = only(replace(NODE_HOUR, corrects_month="2026-06", reason="came late"))
    assert (row["ChargeClass"], row["x_CorrectsMonth"]) == ("Correction", "2026-06")
    assert (row["PricingQuantity"], row["ConsumedQuantity"]) == (None, None)
    assert row["ChargeDescription"] == "gpu-01: came late"


def test_a_divided_charge_names_who_receives_each_part_and_how() -> None:
    idle = replace(PLAIN, unit_ms=7_200_000, state=6, policy_version="2")
    process = replace(PART, unit_ms=7_200_000, job="", job_id="", holder="python:77")
    rows = list(rows_of(NODE_HOUR, [replace(PART, unit_ms=14_400_000), idle, process], JULY))
    assert [row["AllocatedResourceId"] for row in rows] == [
        "job/11",
        "team/4/Unallocated",
        "process/python:77",
    ]
    assert {row["AllocatedMethodId"] for row in rows} == {"device-time/policy-2"}
    details = json.loads(str(rows[0]["AllocatedMethodDetails"]))["Elements"]
    assert details == [{"AllocatedRatio": 0.5, "UsageUnit": "GPU Hours", "UsageQuantity": 4.0}]


def test_a_provider_has_one_name_and_who_invoices_has_sold_it() -> None:
    by = replace(JULY, spelt=spellings(["lambda", "Lambda", "A Reseller"]))

    def told(**given: str) -> tuple[object, ...]:
        (row,) = rows_of(replace(NODE_HOUR, **given), [PART], by)
        assert row["ProviderName"] == row["ServiceProviderName"]
        assert row["PublisherName"] == row["HostProviderName"]
        return row["InvoiceIssuerName"], row["ProviderName"], row["PublisherName"]

    assert told() == ("AWS", "AWS", "AWS")
    ireland = "Amazon Web Services EMEA SARL"
    assert told(issuer=ireland, bill_provider="Amazon Web Services") == ("AWS", "AWS", "AWS")
    assert told(provider="lambda") == ("Lambda", "Lambda", "Lambda")
    resold = told(issuer="a reseller", bill_provider="AWS")
    assert resold == ("A Reseller", "A Reseller", "AWS")
    assert told(provider="onprem", purchase_option="owned") == ("Acme", "Acme", "onprem")


def test_a_shared_cost_is_divided_by_its_own_method() -> None:
    shared = replace(
        BESIDE, kind="shared", billed_kind="", issuer="", bill_provider="", method="even"
    )
    rows = list(rows_of(shared, [PLAIN, PLAIN], JULY))
    assert {row["AllocatedMethodId"] for row in rows} == {"shared-cost/even"}
    assert {row["AllocatedResourceId"] for row in rows} == {"team/4"}
    assert [row["PricingQuantity"] for row in rows] == [Decimal("0.5")] * 2
    assert {row["InvoiceIssuerName"] for row in rows} == {"Acme"}
    credit = list(rows_of(replace(BESIDE, kind="credit"), [PLAIN, PLAIN], JULY))
    assert {row["AllocatedMethodId"] for row in credit} == {"device-time"}
    assert {row["PricingQuantity"] for row in credit} == {None}
