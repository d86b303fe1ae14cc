"""A month as a FOCUS file: it sums to the ledger, its prices multiply, and it can be read again."""

import csv
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Sum

from apps.economics.focus.exported import COLUMNS, FocusLevel, FocusType
from apps.economics.focus.rows import BilledRow
from apps.fleet.models import Pool
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.ledger.models import Line
from apps.ledger.providers.bill_file import open_bill
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.bill_files import take_file
from tests.apps.ledger.scene import LATER, TEN

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
EVERYTHING = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved")
COSTS = {
    "billed": "BilledCost",
    "effective": "EffectiveCost",
    "list": "ListCost",
    "contracted": "ContractedCost",
}
BILL = """BilledCost,EffectiveCost,ContractedCost,ListCost,BillingAccountId,BillingCurrency,\
BillingPeriodStart,BillingPeriodEnd,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,\
InvoiceIssuerName,ServiceProviderName,ServiceCategory,ServiceName,ResourceId,PricingUnit
61.123456789,61.123456789,70,98,1234,USD,2026-03-01,2026-04-01,Usage,2026-03-02T10:00:00Z,\
2026-03-02T11:00:00Z,A Cloud,A Cloud,Compute,Machines,i-01,Hours
3.5,3.5,3.5,3.5,1234,USD,2026-03-01,2026-04-01,Usage,2026-03-02T10:00:00Z,\
2026-03-02T11:00:00Z,A Cloud,A Cloud,Compute,Machines,i-unknown,Hours
1.25,1.25,1.25,1.25,1234,USD,2026-03-01,2026-04-01,Usage,2026-03-02T10:00:00Z,\
2026-03-03T10:00:00Z,A Cloud,A Cloud,Storage,Disks,,GB-Months
-2,-2,-2,-2,1234,USD,2026-03-01,2026-04-01,Credit,2026-03-02T10:00:00Z,\
2026-03-02T11:00:00Z,A Cloud,A Cloud,Other,Discounts,,
9.99,9.99,9.99,9.99,1234,USD,2026-03-01,2026-04-01,Tax,2026-03-02T10:00:00Z,\
2026-03-02T11:00:00Z,A Cloud,A Cloud,Other,Tax,,
4.44,4.44,4.44,4.44,1234,USD,2026-03-01,2026-04-01,Usage,2026-03-02T10:00:00Z,\
2026-03-02T11:00:00Z,A Reseller,amazon web services,Compute,Machines,i-resold,Hours
"""


@pytest.fixture(scope="module")
def march(of_module: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A billed machine half of which is held, one held whole, one that came late, and a bill."""
    make.make_organisation()
    half = scene.make_priced_node("gpu-01", provider_id="i-01")
    gpus = scene.make_gpus(half)
    scene.make_job("1", half, gpus=3, uuids=gpus[:3])
    scene.make_job("2", half, gpus=1, uuids=gpus[3:4])
    whole = scene.make_priced_node("gpu-02")
    scene.make_job("3", whole, uuids=scene.make_gpus(whole))
    late = scene.make_priced_node("gpu-03", started_at=TEN + timedelta(minutes=23, seconds=7))
    scene.make_gpus(late, seen_from=TEN + timedelta(minutes=23, seconds=7))
    unpriced = make.make_node(
        "gpu-04", pool_id=make.make_pool("no price"), started_at=TEN, at=LATER, units=8
    )
    scene.make_gpus(unpriced)
    covered = scene.make_priced_node("gpu-05")
    scene.make_job("5", covered, uuids=scene.make_gpus(covered)[:2], gpus=2)
    pool_id = Pool.objects.get(name="pool of gpu-05").id
    scene.make_commitment(name="half of it", pool_id=pool_id, units=4, unit="gpu")
    scene.make_commitment(
        name="a whole one",
        pool_id=pool_id,
        hourly=Decimal(60),
        kind="savings_plan",
        units=0,
        spend=Decimal(60),
        prices={"p5.48xlarge": "60"},
        external_id="sp-1",
    )
    scene.settle_all()
    path = tmp_path_factory.mktemp("bill") / "bill.csv"
    path.write_text(BILL)
    take_file(path, clock=lambda: LATER)
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=LATER)
    scene.settle_all()


def export(
    path: Path, capsys: pytest.CaptureFixture[str], version: str = "1.4", month: str = "2026-03"
) -> dict[str, str]:
    """Write the month; what the command says of it."""
    asked = ("--month", month, "--version", version, "--out", str(path), "--json")
    call_command("export_focus", *asked)
    figures: dict[str, str] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return figures


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as text:
        return list(csv.DictReader(text))


def in_the_ledger() -> dict[str, Decimal]:
    """What the lines sum to on each basis."""
    sums = Line.objects.aggregate(**{name: Sum(f"{name}_micros") for name in COSTS})
    return {name: Decimal(sums[name]) / 10**6 for name in COSTS}


def divided(rows: Sequence[Mapping[str, str]], column: str) -> dict[str, list[Mapping[str, str]]]:
    """The rows of every divided charge."""
    found = defaultdict(list)
    for row in rows:
        if row[column]:
            found[row["x_ChargeId"]].append(row)
    return found


@pytest.mark.parametrize(
    ("version", "ending"),
    [("1.0", "csv"), ("1.2", "csv.gz"), ("1.2", "parquet"), ("1.4", "csv"), ("1.4", "parquet")],
)
def test_a_file_says_what_the_ledger_does_and_can_be_read_again(
    march: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    version: str,
    ending: str,
) -> None:
    path = tmp_path / f"march.{ending}"
    figures = export(path, capsys, version)
    assert {name: Decimal(figures[name]) for name in COSTS} == in_the_ledger()
    with open_bill(path) as file:
        rows = [row for _, row in file.rows]
        layout = file.layout
    assert layout == f"focus {version}"
    assert len(rows) == int(figures["rows"]) == Line.objects.count()
    good = [row.costs for row in rows if isinstance(row, BilledRow)]
    again = {
        "billed": sum(costs.billed for costs in good),
        "effective": sum(costs.effective or 0 for costs in good),
        "list": sum(costs.listed or 0 for costs in good),
        "contracted": sum(costs.contracted or 0 for costs in good),
    }
    assert again == in_the_ledger()


def test_a_charge_of_its_own_is_price_times_quantity(
    march: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "march.csv"
    export(path, capsys)
    rows = [row for row in read(path) if row["ListUnitPrice"]]
    assert {row["ResourceName"] for row in rows} >= {"gpu-02", "gpu-03", ""}
    for row in rows:
        quantity = Decimal(row["PricingQuantity"])
        assert Decimal(row["ListUnitPrice"]) * quantity == Decimal(row["ListCost"])
        assert Decimal(row["ContractedUnitPrice"]) * quantity == Decimal(row["ContractedCost"])
    first_hour = [row for row in rows if row["ChargePeriodStart"] == "2026-03-02T10:00:00Z"]
    (late,) = [row for row in first_hour if row["ResourceName"] == "gpu-03"]
    assert late["PricingQuantity"] == "0.614722"


def test_parts_of_a_divided_charge_sum_to_it(
    march: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "march.csv"
    export(path, capsys)
    found = divided(read(path), "AllocatedMethodId")
    assert found
    for parts in found.values():
        assert {part["ListUnitPrice"] + part["ContractedUnitPrice"] for part in parts} == {""}
        assert sum(Decimal(part["PricingQuantity"]) for part in parts) == 1
        ratios = [
            Decimal(
                str(json.loads(part["AllocatedMethodDetails"])["Elements"][0]["AllocatedRatio"])
            )
            for part in parts
        ]
        assert sum(ratios) == 1
    (billed,) = [
        parts
        for parts in found.values()
        if (parts[0]["ResourceId"], parts[0]["x_ReconciliationStatus"]) == ("i-01", "Reconciled")
    ]
    assert {part["AllocatedResourceName"] for part in billed} >= {"1", "2"}
    sums = [sum(Decimal(part[name]) for part in billed) for name in COSTS.values()]
    assert sums == [Decimal("61.123457"), Decimal("61.123457"), 98, 70]


def test_what_is_not_known_is_said_not_to_be(
    march: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "march.csv"
    export(path, capsys)
    unpriced = [row for row in read(path) if row["ResourceName"] == "gpu-04"]
    assert {(row["EffectiveCost"], row["x_UnknownCosts"]) for row in unpriced} == {
        ("0", "BilledCost EffectiveCost ContractedCost ListCost")
    }


@pytest.mark.parametrize("version", ["1.0", "1.2", "1.4"])
def test_every_cell_is_what_its_column_says(
    march: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], version: str
) -> None:
    path = tmp_path / "march.csv"
    export(path, capsys, version)
    rows = read(path)
    columns = COLUMNS[version]
    assert list(rows[0]) == [column.name for column in columns]
    for column in columns:
        cells = {row[column.name] for row in rows}
        assert column.may_be_null or "" not in cells, column.name
        assert not column.allowed or cells <= {"", *column.allowed}, column.name
        said = cells - {""}
        if column.type is FocusType.NUMBER:
            exponents = [Decimal(cell).as_tuple().exponent for cell in said]
            assert all(isinstance(at, int) and -at <= column.scale for at in exponents)
        elif column.type is FocusType.MOMENT:
            for cell in said:
                datetime.strptime(cell, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        elif column.type is FocusType.JSON:
            assert all(isinstance(json.loads(cell), dict) for cell in said)
        assert column.name.startswith("x_") == (column.level is FocusLevel.CUSTOM)


def test_what_was_billed_names_one_provider_as_its_seller_and_issuer(
    march: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "march.csv"
    export(path, capsys, "1.2")
    rows = read(path)
    assert {row["ProviderName"] for row in rows} >= {"A Cloud", "A Reseller", "AWS"}
    assert not {"aws", "amazon web services"} & {row["ProviderName"] for row in rows}
    assert [row for row in rows if row["ProviderName"] != row["InvoiceIssuerName"]] == []
    (resold,) = [row for row in rows if row["ProviderName"] == "A Reseller"]
    assert (resold["PublisherName"], resold["BilledCost"]) == ("AWS", "4.44")


def test_a_name_that_says_no_format_is_refused(tmp_path: Path) -> None:
    asked = ("--month", "2026-03", "--out", str(tmp_path / "march.xlsx"))
    with pytest.raises(CommandError, match=r"\.parquet"):
        call_command("export_focus", *asked)


VALIDATOR = Path(__file__).resolve().parents[3] / ".focus-validator"
SUPPORTED = (
    "ACCOUNT_NAMING_SUPPORTED,BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED,"
    "COMMITMENT_DISCOUNT_SUPPORTED,MULTIPLE_PRICING_CATEGORIES_SUPPORTED,"
    "NEGOTIATED_PRICING_SUPPORTED,PRICING_BILLING_CURRENCY_DIFFERENCES_SUPPORTED,"
    "PUBLIC_PRICE_LIST_SUPPORTED,REGION_SUPPORTED,RESOURCE_TYPE_ASSIGNMENT_SUPPORTED,"
    "TAGGING_SUPPORTED,UNIT_PRICING_SUPPORTED,USAGE_MEASUREMENT_SUPPORTED"
)
# Version 2.2.1's own rules: one asks for a status exactly where there is no commitment (its
# condition is the wrong way round), one for an invoice on every row, in contradiction of another.
WRONG_RULES = {
    "CommitmentDiscountStatus-C-000-C",
    "CommitmentDiscountStatus-C-002-C",
    "CommitmentDiscountStatus-C-004-C",
    "InvoiceId-C-005-C",
}


def test_the_official_validator_finds_nothing_wrong(
    march: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = VALIDATOR / "bin" / "focus-validator"
    if not command.exists():
        pytest.skip("the FOCUS validator is not installed")
    path = tmp_path / "march.csv"
    export(path, capsys, "1.2")
    (packages,) = VALIDATOR.glob("lib/python3*/site-packages")
    asked = ("--validate-version", "1.2", "--block-download", "--applicability-criteria", SUPPORTED)
    # It finds its rules by the folder that it runs in.
    done = subprocess.run(
        [command, "--data-file", path, *asked],
        cwd=packages,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    told = re.search(r"Pass: (\d+) \| Fail: (\d+)", done.stdout)
    assert told is not None, done.stdout + done.stderr
    failed = set(re.findall(r"^❌ (\S+): FAIL", done.stdout, re.MULTILINE))
    assert failed == WRONG_RULES
    assert (int(told[1]) > 300, int(told[2])) == (True, len(WRONG_RULES))
