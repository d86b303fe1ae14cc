"""Published prices in files: Azure's and Google's as their APIs answer them, and a plain CSV."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from django.core.management import CommandError, call_command

from apps.pricing.management.published_prices import COLUMNS, read_published_prices
from apps.pricing.models import Rate
from tests.economics.test_gpu_machines import REAL_NAMES
from tests.make import make_organisation

pytestmark = pytest.mark.django_db

Load: TypeAlias = Callable[..., dict[str, Any]]

READ_ON = date(2026, 8, 20)
ND = {
    "currencyCode": "USD",
    "tierMinimumUnits": 0.0,
    "retailPrice": 98.32,
    "armRegionName": "eastus",
    "effectiveStartDate": "2023-11-01T00:00:00Z",
    "meterId": "m-1",
    "productName": "Virtual Machines NDsrH100v5 Series",
    "skuName": "ND96isrH100v5",
    "serviceName": "Virtual Machines",
    "unitOfMeasure": "1 Hour",
    "type": "Consumption",
    "armSkuName": "Standard_ND96isr_H100_v5",
}


def sku(
    number: int, description: str, group: str, nanos: int, **given: object
) -> dict[str, object]:
    usage = "Preemptible" if "pot" in description else "OnDemand"
    return {
        "skuId": f"SKU-{number}",
        "description": description,
        "category": {"resourceGroup": group, "usageType": usage, "resourceFamily": "Compute"},
        "serviceRegions": ["us-central1"],
        "pricingInfo": [
            {
                "effectiveTime": "2026-08-01T00:00:00Z",
                "pricingExpression": {
                    "usageUnit": "GiBy.h" if group == "RAM" else "h",
                    "tieredRates": [
                        {"unitPrice": {"currencyCode": "USD", "units": "0", "nanos": nanos}}
                    ],
                },
            }
        ],
    } | given


A3 = [
    sku(1, "A3 Instance Core running in Iowa", "CPU", 29_343_530),
    sku(2, "A3 Instance Ram running in Iowa", "RAM", 2_550_000),
    sku(3, "Nvidia H100 80GB GPU running in Iowa", "GPU", 979_655_057),
    sku(4, "Storage PD Capacity", "SSD", 1),
]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    make_organisation()

    def _load(told: object, **given: object) -> dict[str, Any]:
        path = tmp_path / "prices"
        path.write_text(told if isinstance(told, str) else json.dumps(told))
        out = StringIO()
        call_command("import_prices", path, json=True, stdout=out, stderr=StringIO(), **given)
        figures: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
        return figures

    return _load


def test_azures_retail_prices_become_prices_of_machines_with_gpus(load: Load) -> None:
    items = [
        ND,
        ND | {"skuName": "ND96isrH100v5 Spot", "retailPrice": 40.12345678949, "meterId": "m-2"},
        ND | {"productName": "Virtual Machines NDsrH100v5 Series Windows"},
        ND | {"type": "Reservation", "reservationTerm": "1 Year", "retailPrice": 500000},
        ND | {"armSkuName": "Standard_D4s_v5"},
        ND | {"armRegionName": "westus", "unitOfMeasure": "1 Month"},
        ND | {"armRegionName": "westus", "retailPrice": 0.0},
        ND | {"armRegionName": ""},
    ]
    told = load({"Items": items, "Count": 8, "NextPageLink": None}, read_on=READ_ON)
    rows = {each.purchase_option: each for each in Rate.objects.all()}
    assert told["imported"] == len(rows) == 2
    assert (rows["on_demand"].amount, rows["spot"].amount) == (
        Decimal("98.32"),
        Decimal("40.123456789"),
    )
    assert (
        rows["spot"].source
        == "Azure Retail Prices API, meter m-2; quoted with 11 decimals, kept to 9"
    )
    assert {each.source_date for each in rows.values()} == {READ_ON}
    assert rows["on_demand"].period.lower == datetime(2023, 11, 1, tzinfo=UTC)
    assert {row["line"]: row["reason"].split(":")[0] for row in told["rejected"]} == {
        6: "unitOfMeasure",
        7: "retailPrice",
        8: "armRegionName",
    }


def test_googles_catalogue_is_summed_to_machines_and_a_part_without_a_single_price_prices_none(
    load: Load, tmp_path: Path
) -> None:
    err = StringIO()
    told = load({"skus": [*A3, {"skuId": "broken"}]}, read_on=READ_ON)
    # 208 cores, 1,872 GiB and 8 GPUs.
    eight = (
        Decimal(208) * Decimal("0.02934353")
        + 1872 * Decimal("0.00255")
        + 8 * Decimal("0.979655057")
    )
    row = Rate.objects.get(instance_type="a3-highgpu-8g")
    assert (row.provider, row.region, row.amount) == ("gcp", "us-central1", eight)
    assert row.source == "Google Cloud SKUs SKU-1, SKU-2, SKU-3; without local SSD"
    assert told["imported"] == Rate.objects.count() == 4
    assert [each["line"] for each in told["rejected"]] == [5]
    Rate.objects.all().delete()
    path = tmp_path / "without_ram.json"
    path.write_text(json.dumps([{"skus": [A3[0], A3[2]]}]))
    call_command("import_prices", path, stdout=StringIO(), stderr=err)
    assert not Rate.objects.exists()
    assert (
        "gcp us-central1 a3-highgpu-8g OnDemand: 0 SKUs are 'A3 Instance Ram' in us-central1"
        in err.getvalue()
    )


def csv_of(*rows: dict[str, str]) -> str:
    plain = {
        "provider": "Nebius",
        "region": "eu-north1",
        "machine": "gpu-h100-sxm_8gpu-128vcpu-1600gb",
        "purchase_option": "On-Demand",
        "price": "23.60",
        "currency": "usd",
        "unit": "node",
        "source": "their price page",
        "date": "2026-08-01",
    }
    lines = [
        ",".join(COLUMNS),
        *(",".join((plain | row)[name] for name in COLUMNS) for row in rows),
    ]
    return "\n".join(lines) + "\n"


def test_a_plain_csv_names_each_row_that_it_does_not_take(load: Load) -> None:
    told = load(
        csv_of(
            {},
            {"machine": "H200", "unit": "gpu", "purchase_option": "preemptible", "price": "1.45"},
            {"purchase_option": "lease"},
            {"unit": "rack"},
            {"price": "cheap"},
            {"price": "0.0000000001", "region": "eu-west1"},
            {"source": ""},
            {"date": "soon"},
            {"region": "a,b"},
            {"price": "0", "region": "eu-west2"},
            {"price": "0.00", "region": "eu-west2", "machine": "H200", "unit": "gpu"},
        )
    )
    assert told["imported"] == 2
    node, gpu = Rate.objects.order_by("id")
    assert (node.provider, node.instance_type, node.currency) == (
        "nebius",
        "gpu-h100-sxm_8gpu-128vcpu-1600gb",
        "USD",
    )
    assert (gpu.gpu_model, gpu.unit, gpu.purchase_option) == ("NVIDIA H200", "gpu", "spot")
    reasons = {row["line"]: row["reason"] for row in told["rejected"]}
    assert sorted(reasons) == [4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert reasons[4].startswith("purchase_option: 'lease' is none of")
    assert reasons[5].startswith("unit: 'rack' is none of")
    assert "0 is free" in reasons[7]
    assert reasons[11] == reasons[12]
    assert reasons[11].startswith("price: nobody sells a machine for 0")
    assert reasons[10] == "the row does not have as many fields as the header"


def test_machines_are_told_from_gpus_and_come_in_under_one_name_of_their_cloud(load: Load) -> None:
    machines = [
        {"provider": cloud, "machine": name, "region": f"r-{number}"}
        for number, (cloud, name, _) in enumerate(REAL_NAMES)
    ]
    spelt = {"provider": "Google Cloud", "machine": "a3-ultragpu-8g", "unit": "gpu"}
    told = load(
        csv_of(
            *machines,
            spelt,
            {"machine": "H100", "unit": "gpu"},
            {"machine": "H100"},
            {"machine": "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "unit": "gpu"},
        )
    )
    kept = {(rate.provider, rate.instance_type, rate.gpu_model) for rate in Rate.objects.all()}
    wanted = {(cloud, name, "") for cloud, name, _ in REAL_NAMES}
    assert kept == wanted | {("gcp", "a3-ultragpu-8g", "")}
    assert [row["reason"] for row in told["rejected"]] == [
        "machine: 'H100' may be any of NVIDIA H100 80GB HBM3, NVIDIA H100 NVL, NVIDIA H100 PCIe: say which",
        "machine: 'H100' is a GPU: its price is one for a gpu",
        "machine: 'NVIDIA H100 80GB HBM3 MIG 1g.10gb' is a part of a GPU; prices are of whole ones",
    ]


def test_what_ended_before_it_was_read_and_what_is_to_be_read_one_day_are_no_prices() -> None:
    items = [
        ND | {"effectiveEndDate": "2026-08-19T00:00:00Z"},
        ND | {"effectiveEndDate": "2026-08-20T00:00:00Z", "meterId": "m-2"},
    ]
    told = read_published_prices(
        BytesIO(json.dumps({"Items": items}).encode()), read_on=READ_ON, today=READ_ON
    )
    assert [line for line, _ in told.rows] == [2]
    assert told.rejected[0].reason == "effectiveEndDate: the price ended on 2026-08-19"
    text = csv_of({"date": "2026-08-20"}, {"date": "2026-08-22"}, {"date": "2026-08-21"})
    told = read_published_prices(BytesIO(text.encode()), read_on=READ_ON, today=READ_ON)
    assert [line for line, _ in told.rows] == [2, 4]
    assert told.rejected[0].reason.startswith("date: 2026-08-22 is to come")


def test_a_machine_is_one_whatever_the_case_of_its_name(load: Load) -> None:
    machines = [("aws", "P5.48XLARGE"), ("azure", "standard_nd96isr_h100_v5")]
    load(csv_of(*({"provider": cloud, "machine": name} for cloud, name in machines)))
    assert set(Rate.objects.values_list("provider", "instance_type")) == {
        ("aws", "p5.48xlarge"), ("azure", "Standard_ND96isr_H100_v5"),
    }  # fmt: skip


def test_a_packed_file_is_read_within_bounds(tmp_path: Path) -> None:
    make_organisation()
    path = tmp_path / "prices.csv.gz"
    path.write_bytes(gzip.compress(csv_of({}).encode()))
    call_command("import_prices", path, stdout=StringIO(), stderr=StringIO())
    assert Rate.objects.get().provider == "nebius"
    path.write_bytes(gzip.compress(csv_of({}).encode())[:-9])
    with pytest.raises(CommandError, match="cannot be unpacked further"):
        call_command("import_prices", path, stdout=StringIO(), stderr=StringIO())


def test_the_same_prices_again_are_young_again_and_another_holds_since_it_was_read(
    load: Load,
) -> None:
    load({"Items": [ND]}, read_on=READ_ON)
    again = load({"Items": [ND]}, read_on=READ_ON + timedelta(days=30))
    assert (again["imported"], again["unchanged"]) == (0, 1)
    assert Rate.objects.get().source_date == READ_ON + timedelta(days=30)
    # Azure dates a changed price as before: who was charged what is not rewritten.
    moved = load({"Items": [ND | {"retailPrice": 90.0}]}, read_on=READ_ON + timedelta(days=60))
    assert moved["imported"] == 1
    old, new = Rate.objects.order_by("period")
    day = datetime(2026, 10, 19, tzinfo=UTC)
    assert (old.amount, old.period.upper) == (Decimal("98.32"), day)
    assert (new.amount, new.period.lower) == (Decimal(90), day)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it is no JSON"),
        ("[" * 100_000, "it is no JSON"),
        ("{}", "neither `Items`"),
        ("[]", "neither `Items`"),
        ("a,b\n1,2\n", "its header lacks provider"),
        ("", "its header lacks provider"),
        ("\udcff", "it is no CSV"),
        (",".join(COLUMNS) + "\n" + "x" * (1 << 20), "longer than a megabyte"),
    ],
)
def test_a_file_of_none_of_the_kinds_is_refused_in_words(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "prices"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CommandError, match=words):
        call_command("import_prices", path)


def test_what_is_of_no_machine_with_gpus_is_counted() -> None:
    told = read_published_prices(
        BytesIO(json.dumps({"Items": [ND, {}, 7, ND | {"serviceName": "Storage"}]}).encode()),
        read_on=READ_ON,
        today=READ_ON,
    )
    assert (len(told.rows), told.rejected, told.others) == (1, (), 3)
