"""Bills that AWS delivers to S3 are taken in whole, by their manifest, and only when they changed."""

import gzip
import io
import json
from datetime import timedelta

import boto3
import pytest
from django.core.management import CommandError, call_command
from moto import mock_aws
from pyarrow import csv, parquet

from apps.fleet.actions import clouds
from apps.fleet.queries.clouds import cloud_account_named, sync_health
from apps.ledger import tasks
from apps.ledger.models import Bill, BillImport, BillRow
from apps.ledger.tasks.cloud_bills import sync_bills
from apps.providers.cloud import CloudRefused
from tests.apps.ledger.bill_files import hour_row, text_of
from tests.make import NOON, make_organisation

pytestmark = pytest.mark.django_db

EXPORT = "runrate/focus"


@pytest.fixture
def bucket(aws_models, monkeypatch, tmp_path, settings):
    """An empty bucket, and an account whose bills are delivered there."""
    settings.HOME = tmp_path
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with mock_aws():
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="bills")
        make_organisation()
        account = clouds.NewCloudAccount(
            name="payer",
            provider="aws",
            account="123456789012",
            syncs=("bills",),
            export_uri=f"s3://bills/{EXPORT}",
            export_region="us-east-1",
        )
        clouds.add_cloud_account(account=account, at=NOON)
        yield s3


def put(s3, key, body):
    s3.put_object(Bucket="bills", Key=key, Body=body)
    return f"s3://bills/{key}"


def chunk(s3, name, *rows, run=""):
    data = gzip.compress(text_of(rows).encode())
    return put(s3, f"{EXPORT}/data/BILLING_PERIOD=2026-07/{run}{name}.csv.gz", data)


def manifest(s3, *files, run="", period="2026-07"):
    key = f"{EXPORT}/metadata/BILLING_PERIOD={period}/{run}focus-Manifest.json"
    put(s3, key, json.dumps({"dataFiles": files}))


def sync(at=NOON):
    sync_bills(cloud_account_named("payer"), "bills", lambda: at)
    (health,) = sync_health()
    return health


def in_force():
    rows = BillRow.objects.filter(replaced_by=None).order_by("billed_cost")
    return [str(row.billed_cost.normalize()) for row in rows]


def test_the_files_of_a_manifest_are_one_import_and_others_beside_them_are_left(bucket):
    first = chunk(bucket, "focus-00001", hour_row("1.5"))
    second = chunk(bucket, "focus-00002", hour_row("2.5"), hour_row("3.5"))
    chunk(bucket, "focus-00003", hour_row("99.5"))
    manifest(bucket, first, second)
    health = sync()
    assert in_force() == ["1.5", "2.5", "3.5"]
    (delivery,) = BillImport.objects.all()
    assert (delivery.name, delivery.rows) == ("payer focus 2026-07", 3)
    assert (health.counts["periods"], health.counts["imported"], health.note) == (1, 3, "")


def test_a_delivery_that_did_not_change_is_not_fetched_again(bucket):
    manifest(bucket, chunk(bucket, "focus-00001", hour_row("1.5")))
    sync()
    bucket.delete_object(
        Bucket="bills", Key=f"{EXPORT}/data/BILLING_PERIOD=2026-07/focus-00001.csv.gz"
    )
    health = sync()
    assert health.counts["unchanged_periods"] == 1
    assert health.note == ""


def test_an_overwritten_delivery_replaces_its_period(bucket):
    manifest(bucket, chunk(bucket, "focus-00001", hour_row("1.5"), hour_row("2.5")))
    sync()
    chunk(bucket, "focus-00001", hour_row("1.5"), hour_row("7.5"))
    manifest(bucket, *[chunk(bucket, "focus-00002", hour_row("8.5"))])
    sync()
    assert in_force() == ["8.5"]


def test_of_deliveries_side_by_side_the_newest_counts(bucket):
    manifest(bucket, chunk(bucket, "focus-00001", hour_row("1.5"), run="run-b/"), run="run-b/")
    sync()
    manifest(bucket, chunk(bucket, "focus-00001", hour_row("4.5"), run="run-a/"), run="run-a/")
    bucket.copy_object(
        Bucket="bills",
        CopySource=f"bills/{EXPORT}/metadata/BILLING_PERIOD=2026-07/run-a/focus-Manifest.json",
        Key=f"{EXPORT}/metadata/BILLING_PERIOD=2026-07/run-z/focus-Manifest.json",
    )
    sync()
    assert in_force() == ["4.5"]


def test_a_manifest_whose_file_is_not_there_waits_and_the_other_periods_go_on(bucket):
    manifest(bucket, "s3://bills/runrate/focus/data/nowhere.csv.gz", period="2026-06")
    whole = chunk(bucket, "focus-00001", hour_row("1.5"))
    manifest(bucket, whole)
    health = sync()
    assert in_force() == ["1.5"]
    assert health.note.startswith("2026-06 waits: runrate/focus/data/nowhere.csv.gz is named")
    assert (health.state, health.counts["waiting"]) == ("done", 1)


def test_what_waited_is_taken_once_it_is_there(bucket):
    name = f"{EXPORT}/data/BILLING_PERIOD=2026-07/focus-00001.csv.gz"
    manifest(bucket, f"s3://bills/{name}")
    sync()
    assert in_force() == []
    chunk(bucket, "focus-00001", hour_row("1.5"))
    assert sync().note == ""
    assert in_force() == ["1.5"]


def test_parquet_deliveries_of_several_files_are_one_import(bucket):
    files = []
    for number, cost in enumerate(["1.5", "2.5"]):
        text = text_of([hour_row(cost)]).encode()
        names = text.decode().splitlines()[0].split(",")
        table = csv.read_csv(
            io.BytesIO(text),
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, "string")),
        )
        out = io.BytesIO()
        parquet.write_table(table, out)
        key = f"{EXPORT}/data/BILLING_PERIOD=2026-07/focus-{number}.snappy.parquet"
        files.append(put(bucket, key, out.getvalue()))
    manifest(bucket, *files)
    sync()
    assert in_force() == ["1.5", "2.5"]
    assert Bill.objects.count() == 1


def test_a_cost_and_usage_report_names_its_files_by_report_keys(bucket):
    file = chunk(bucket, "report-1", hour_row("1.5")).removeprefix("s3://bills/")
    key = f"{EXPORT}/20260701-20260801/focus-Manifest.json"
    put(bucket, key, json.dumps({"reportKeys": [file], "compression": "GZIP"}))
    sync()
    assert in_force() == ["1.5"]


def test_files_of_one_delivery_with_different_columns_are_refused(bucket):
    other = {name: cell for name, cell in hour_row("2.5").items() if name != "Tags"}
    manifest(
        bucket, chunk(bucket, "focus-00001", hour_row("1.5")), chunk(bucket, "focus-00002", other)
    )
    assert "different columns" in sync().note
    assert in_force() == []


def test_what_is_no_bill_is_noted_and_looked_at_again(bucket):
    manifest(bucket, chunk(bucket, "focus-00001", {"a": "1", "b": "2"}))
    health = sync()
    assert health.note.startswith("2026-07 is not taken:")
    assert sync().counts["refused"] == 1


def test_a_manifest_that_cannot_be_read_is_noted_and_keeps_no_other_period_waiting(bucket):
    put(bucket, f"{EXPORT}/metadata/BILLING_PERIOD=2026-06/focus-Manifest.json", "<xml/>")
    manifest(bucket, chunk(bucket, "focus-00001", hour_row("1.5")))
    assert "cannot be read" in sync().note
    assert in_force() == ["1.5"]


def test_a_bucket_that_is_not_there_is_told(bucket):
    bucket.delete_bucket(Bucket="bills")
    with pytest.raises(CloudRefused):
        sync()
    assert "NoSuchBucket" in sync_health()[0].error


def test_nothing_of_a_bill_is_left_on_the_disk(bucket, tmp_path):
    manifest(bucket, chunk(bucket, "focus-00001", hour_row("1.5")))
    sync()
    assert list((tmp_path / "cloud").iterdir()) == []


def test_the_sweep_fetches_what_is_due_and_then_rests(bucket):
    manifest(bucket, chunk(bucket, "focus-00001", hour_row("1.5")))
    tasks.sync_cloud_bills()
    assert in_force() == ["1.5"]
    (health,) = sync_health()
    assert health.due_at - health.ended_at == timedelta(hours=6)
    tasks.sync_cloud_bills()
    assert sync_health()[0].started_at == health.started_at


def test_the_command_reads_at_once_and_answers_in_json(bucket, capsys):
    manifest(bucket, chunk(bucket, "focus-00001", hour_row("1.5")))
    call_command("sync_cloud", "payer", "--json")
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["bills"]["state"] == "done"
    assert told["bills"]["counts"]["imported"] == 1


def test_the_command_fails_where_a_sync_broke_off(bucket, capsys):
    bucket.delete_bucket(Bucket="bills")
    with pytest.raises(CommandError, match="broke off"):
        call_command("sync_cloud", "payer", "--json")
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["bills"]["state"] == "failed"
    with pytest.raises(CommandError, match="no cloud account"):
        call_command("sync_cloud", "unknown")
    with pytest.raises(CommandError, match="not set to read"):
        call_command("sync_cloud", "payer", "--read", "spot_prices")
