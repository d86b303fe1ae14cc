"""A bill or a rate of exchange of a closed month is taken in at every door, and waits for corrections."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db.models import Sum
from moto import mock_aws

from apps.fleet import actions as fleet
from apps.fleet.actions import clouds
from apps.fleet.queries.clouds import cloud_account_named
from apps.ledger.actions import close
from apps.ledger.models import BillImport, Line
from apps.ledger.queries.closes.months import late_facts
from apps.ledger.tasks import take_bills
from apps.ledger.tasks.cloud_bills import sync_bills
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.console.people import client_of
from tests.apps.ledger import bill_files, scene
from tests.browser.fleet import make_people
from tests.rest import with_token

pytestmark = pytest.mark.django_db
JULY = date(2026, 7, 1)
HOUR = datetime(2026, 7, 20, 10, tzinfo=UTC)
LATER = datetime(2026, 8, 5, tzinfo=UTC)
ACCEPTED = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved", "uninvoiced")
Rows = list[dict[str, str]]


@pytest.fixture(autouse=True)
def _closed_july(settings: Any, tmp_path: Path) -> None:
    """An hour of a node at 10, an euro worth a dollar since June; closed."""
    cache.clear()
    settings.HOME = tmp_path
    make.make_organisation()
    make_people()
    pool_id = make.make_pool("late", provider="azure", instance_type="Standard_ND96")
    node = fleet.NewNode(
        name="gpu-late", pool_id=pool_id, units=8, started_at=HOUR,
        ended_at=HOUR + timedelta(hours=1), end_reason="given back",
    )  # fmt: skip
    fleet.add_node(node=node, at=LATER)
    scene.make_rate(pool_id, Decimal(10))
    call_command("add_exchange_rate", "EUR", "1", "--month", "2026-06")
    close_july()


def close_july() -> None:
    scene.settle_all(LATER)
    asked = close.CloseRequest(month=JULY, person_id=None, accepted=ACCEPTED)
    close.close_month(request=asked, at=LATER)


def late_rows(cost: str, **given: str) -> Rows:
    ends_at = HOUR + timedelta(hours=1)
    told = {
        "ResourceId": "gpu-late",
        "ChargePeriodStart": HOUR.isoformat(),
        "ChargePeriodEnd": ends_at.isoformat(),
        "Tags": "{}",
    }
    return [bill_files.hour_row(cost, **told | given)]


def by_page(folder: Path, rows: Rows) -> None:
    file = SimpleUploadedFile("july.csv", bill_files.text_of(rows).encode())
    assert client_of().post("/bills/upload", {"file": file}).status_code == 302
    take_bills()


def by_rest(folder: Path, rows: Rows) -> None:
    file = SimpleUploadedFile("july.csv", bill_files.text_of(rows).encode())
    caller = with_token("manage")
    sent = caller.client.post("/api/v1/bills/imports", {"file": file}, headers=caller.headers)
    assert sent.status_code == 202
    take_bills()
    told = caller.client.get(sent.headers["Location"], headers=caller.headers).json()
    assert (told["state"], told["imported"]) == ("done", 1)


def by_command(folder: Path, rows: Rows) -> None:
    call_command("import_focus", str(bill_files.write(folder / "july.csv", rows)))


def by_cloud(folder: Path, rows: Rows) -> None:
    """A folder that a cloud fills."""
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="bills")
        data = "focus/data/BILLING_PERIOD=2026-07/a.csv.gz"
        told = json.dumps({"dataFiles": [f"s3://bills/{data}"]})
        found = gzip.compress(bill_files.text_of(rows).encode())
        s3.put_object(Bucket="bills", Key=data, Body=found)
        manifest = "focus/metadata/BILLING_PERIOD=2026-07/focus-Manifest.json"
        s3.put_object(Bucket="bills", Key=manifest, Body=told)
        account = clouds.NewCloudAccount(
            name="payer", provider="aws", account="123456789012", syncs=("bills",),
            export_uri="s3://bills/focus", export_region="us-east-1",
        )  # fmt: skip
        clouds.add_cloud_account(account=account, at=LATER)
        sync_bills(cloud_account_named("payer"), "bills", lambda: LATER)


def effective(**given: Any) -> Decimal:
    found = Line.objects.filter(**given).aggregate(all=Sum("effective_micros"))["all"]
    return Decimal(found or 0) / 10**6


def settled(at: datetime) -> tuple[Decimal, Decimal]:
    """What July's books and all of them come to once nothing more settles, with a clean audit."""
    scene.settle_all(at)
    assert audit_here().places == ()
    return effective(posting_month=JULY), effective()


@pytest.mark.parametrize("door", [by_page, by_rest, by_command, by_cloud])
def test_a_bill_of_a_closed_month_is_taken_in_and_waits(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    aws_models: None,
    door: Callable[[Path, Rows], None],
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    door(tmp_path, late_rows("24"))

    (taken,) = BillImport.objects.all()
    assert (taken.state, taken.imported) == ("done", 1)
    assert [flag for flag in taken.flags if flag.startswith("2026-07 is closed")]
    assert settled(LATER) == (10, 10)
    assert late_facts(JULY).hours == 1
    posted = close.post_corrections(month=JULY, at=LATER)
    assert posted.effective_micros == 14_000_000
    assert settled(LATER) == (10, 24)
    assert late_facts(JULY).hours == 0


def test_a_rate_of_exchange_of_a_closed_month_is_taken_in_and_waits(tmp_path: Path) -> None:
    by_command(tmp_path, late_rows("24", BillingCurrency="EUR"))
    settled(LATER)
    close.post_corrections(month=JULY, at=LATER)
    assert settled(LATER) == (10, 24)

    call_command("add_exchange_rate", "EUR", "1.25", "--month", "2026-07")

    assert settled(LATER) == (10, 24)
    assert late_facts(JULY).hours == 1
    close.post_corrections(month=JULY, at=LATER)
    assert settled(LATER) == (10, 30)
