"""A bill comes in once, whole or not at all; a corrected one replaces it; any can be taken back."""

import csv
import gzip
import io
import json
import zipfile
from collections import Counter
from datetime import date
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.core.management import CommandError, call_command
from pyarrow import parquet

from apps.economics.focus.columns import NotABill
from apps.economics.focus.rows import BillKey
from apps.files.limits import UNPACKED, BodyKind
from apps.ledger.actions import bills
from apps.ledger.actions.bill_staging import rows_to_stage, stage_rows
from apps.ledger.models import Bill, BillImport, BillRow, RejectedBillRow
from apps.ledger.providers.bill_file import BillBreaksOff, open_bill
from tests import make
from tests.apps.ledger.bill_files import deliver, hour_row, take, text_of, write

pytestmark = pytest.mark.django_db
GOOGLES = (
    b"billing_account_id,service.id,service.description,sku.id,usage_start_time,usage_end_time,"
    b"project.id,export_time,cost,currency,currency_conversion_rate,cost_type,invoice.month\n"
)
AZURES = (
    b"invoiceId,billingAccountId,subscriptionId,date,meterCategory,meterId,quantity,"
    b"effectivePrice,costInBillingCurrency,billingCurrency,chargeType\n"
)
PUBLIC = Path(__file__).resolve().parents[4] / "shared" / "data"
SAMPLE = PUBLIC / "focus" / "focus_sample_1000.csv.gz"


@pytest.fixture(autouse=True)
def organisation() -> None:
    make.make_organisation()


def costs_in_force() -> Counter[str]:
    found = BillRow.objects.filter(replaced_by=None, batch__state="done")
    return Counter(f"{cost.normalize():f}" for cost in found.values_list("billed_cost", flat=True))


def told(taken: bills.Taken) -> tuple[int, int, int, int]:
    return taken.imported, taken.unchanged, taken.replaced, taken.rejected


def test_the_same_file_again_changes_nothing(tmp_path: Path) -> None:
    first = deliver(tmp_path, hour_row("1"), hour_row("2"))
    again = deliver(tmp_path, hour_row("1"), hour_row("2"))

    assert told(first) == (2, 0, 0, 0)
    assert told(again) == (0, 2, 0, 0)
    assert again.import_id == first.import_id
    assert BillRow.objects.count() == 2


def test_a_corrected_delivery_replaces_its_period_and_keeps_what_is_the_same(
    tmp_path: Path,
) -> None:
    august = {"BillingPeriodStart": "2026-08-01", "BillingPeriodEnd": "2026-09-01"}
    deliver(tmp_path, hour_row("1"), hour_row("1"), hour_row("2"), hour_row("9", **august))
    kept = set(BillRow.objects.filter(billed_cost=1).values_list("id", flat=True))

    corrected = deliver(tmp_path, hour_row("1"), hour_row("1"), hour_row("3"))

    assert told(corrected) == (1, 2, 1, 0)
    assert costs_in_force() == {"1": 2, "3": 1, "9": 1}
    assert set(BillRow.objects.filter(billed_cost=1).values_list("id", flat=True)) == kept


def test_rows_that_are_alike_are_counted_not_merged(tmp_path: Path) -> None:
    deliver(tmp_path, hour_row("1"))

    more = deliver(tmp_path, hour_row("1"), hour_row("1"), hour_row("1"))
    fewer = deliver(tmp_path, hour_row("1"), hour_row("1"))

    assert (told(more), told(fewer)) == ((2, 1, 0, 0), (0, 2, 1, 0))
    assert costs_in_force() == {"1": 2}


def test_one_of_several_files_replaces_nothing_and_counts_once(tmp_path: Path) -> None:
    deliver(tmp_path, hour_row("1"))
    added = deliver(tmp_path, hour_row("1"), is_addition=True)
    other = deliver(tmp_path, hour_row("2"), hour_row("1"), is_addition=True)
    again = deliver(tmp_path, hour_row("2"), hour_row("1"), is_addition=True)

    assert told(added) == (0, 1, 0, 0)  # the very file that is in force
    assert told(other) == (2, 0, 0, 0)
    assert told(again) == (0, 2, 0, 0)
    assert costs_in_force() == {"1": 2, "2": 1}


def test_undoing_a_delivery_brings_back_what_it_replaced(tmp_path: Path) -> None:
    deliver(tmp_path, hour_row("1"), hour_row("2"))
    corrected = deliver(tmp_path, hour_row("1"), hour_row("3"))
    Bill.objects.update(reconciled_at=make.NOON)

    bills.undo_delivery(import_id=corrected.import_id, at=make.NOON)

    assert costs_in_force() == {"1": 1, "2": 1}
    assert Bill.objects.get().reconciled_at is None
    assert told(deliver(tmp_path, hour_row("1"), hour_row("3"))) == (1, 1, 1, 0)


def test_what_was_undone_can_be_delivered_again(tmp_path: Path) -> None:
    first = deliver(tmp_path, hour_row("1"))
    bills.undo_delivery(import_id=first.import_id, at=make.NOON)

    assert costs_in_force() == {}
    assert told(deliver(tmp_path, hour_row("1"))) == (1, 0, 0, 0)


def test_only_the_newest_delivery_is_undone_and_only_once(tmp_path: Path) -> None:
    first = deliver(tmp_path, hour_row("1"))
    second = deliver(tmp_path, hour_row("2"))

    with pytest.raises(bills.DeliveryNotNewest):
        bills.undo_delivery(import_id=first.import_id, at=make.NOON)
    bills.undo_delivery(import_id=second.import_id, at=make.NOON)
    with pytest.raises(bills.DeliveryNotUndoable, match="undone"):
        bills.undo_delivery(import_id=second.import_id, at=make.NOON)


def test_what_comes_for_a_closed_month_is_taken_in_and_says_that_it_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver(tmp_path, hour_row("1"))
    monkeypatch.setattr(
        "apps.ledger.actions.bill_exchange.closed_months", lambda: {date(2026, 7, 1)}
    )

    late = deliver(tmp_path, hour_row("2"))
    assert costs_in_force() == {"2": 1}
    assert late.flags == [
        "2026-07 is closed: what this changes there waits until its corrections are posted, "
        "or the month is opened again"
    ]
    bills.undo_delivery(import_id=late.import_id, at=make.NOON)
    assert costs_in_force() == {"1": 1}


def test_a_row_that_cannot_be_read_is_listed_and_the_others_come_in(tmp_path: Path) -> None:
    good, late = hour_row("1", ResourceName="two\nlines"), hour_row("2")
    text = text_of([good, hour_row("x"), hour_row("3", BillingCurrency="dollars"), late])
    cut = ",".join(["A Cloud"] * 5)
    path = tmp_path / "bill.csv"
    path.write_text(f"{text}{cut}\r\n\r\n")

    taken = take(path)

    assert told(taken) == (2, 0, 0, 3)
    assert taken.totals == {
        "USD": {"billed": "3", "effective": "3", "list": "196.64", "contracted": "181.0"}
    }
    rejected = RejectedBillRow.objects.order_by("line").values_list("line", "field", "reason")
    assert list(rejected) == [
        (4, "BilledCost", "'x' is no number"),
        (5, "BillingCurrency", "'dollars' is no currency of ISO 4217"),
        (7, "row", "has 5 cells where there should be 25"),
    ]
    assert sorted(BillRow.objects.values_list("line", flat=True)) == [2, 6]


def test_a_file_that_leaves_out_the_last_empty_cells_of_every_row_is_read(tmp_path: Path) -> None:
    header, row, _ = text_of([hour_row("1")]).split("\r\n")
    path = tmp_path / "bill.csv"
    path.write_text(f"{header},x_Note\r\n{row}\r\n{row}\r\n")

    assert told(take(path)) == (2, 0, 0, 0)


def test_a_first_row_that_is_cut_costs_itself_alone(tmp_path: Path) -> None:
    header, row, _ = text_of([hour_row("1")]).split("\r\n")
    path = tmp_path / "bill.csv"
    path.write_text("\r\n".join([header, row[:40], *[row] * 190]))

    assert told(take(path)) == (190, 0, 0, 1)


def packed(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            out.writestr(name, data)
    return path


def test_a_file_is_read_however_a_spreadsheet_or_a_person_saved_it(tmp_path: Path) -> None:
    rows = [hour_row("1.5", ResourceName="naïve; tab\t|"), hour_row("2")]
    text = text_of(rows)
    plain = [row._replace(digest=b"") for row in rows_of(write(tmp_path / "bill.csv", rows))]

    def delimited(delimiter: str) -> str:
        out = io.StringIO()
        cells = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
        cells.writeheader()
        cells.writerows(rows)
        return out.getvalue()

    saved = {
        "semicolon": delimited(";").encode(),
        "tab": delimited("\t").encode("utf-8-sig"),
        "pipe": delimited("|").encode(),
        "utf-16": text.encode("utf-16"),
        "utf-16 without a mark": delimited("\t").encode("utf-16-le"),
        "utf-16, the other way round": text.encode("utf-16-be"),
    }
    for how, data in saved.items():
        path = tmp_path / "saved"
        path.write_bytes(data)
        assert [row._replace(digest=b"") for row in rows_of(path)] == plain, how
    extra = {"__MACOSX/._bill.csv": b"x"}
    path = packed(tmp_path / "bill.zip", **{"july/bill.csv": text.encode()}, **extra)
    assert [row._replace(digest=b"") for row in rows_of(path)] == plain


def rows_of(path: Path) -> list[Any]:
    with open_bill(path) as file:
        return [row for _, row in file.rows]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.csv": b"1", "b.csv": b"2"}, "the zip holds 2 files: send each by itself"),
        ({"xl/workbook.xml": b"", "docProps/app.xml": b""}, "an Excel workbook: save its sheet"),
        ({"a.csv.gz": gzip.compress(b"1")}, "packed itself"),
    ],
)
def test_a_zip_that_is_no_one_file_says_what_to_send(
    tmp_path: Path, files: dict[str, bytes], reason: str
) -> None:
    with pytest.raises(NotABill, match=reason):
        take(packed(tmp_path / "bill.zip", **files))


def test_a_small_file_that_unpacks_to_too_much_is_not_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = text_of([hour_row("1", x_Note="x" * 1000) for _ in range(5_000)]).encode()
    monkeypatch.setitem(UNPACKED, BodyKind.BILL, 2 << 20)
    for path in (packed(tmp_path / "b.zip", bill=text), tmp_path / "b.gz"):
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text))
        with pytest.raises(BillBreaksOff, match="unpacks to more than"):
            take(path)
    assert not BillRow.objects.exists()


def test_rows_that_repeat_others_are_counted_and_remarked(tmp_path: Path) -> None:
    free = [hour_row("0", EffectiveCost="0")] * 3
    taken = deliver(tmp_path, *[hour_row("1")] * 10, hour_row("2"), *free)

    assert (taken.imported, taken.totals["USD"]["billed"]) == (14, "12")
    assert len(taken.flags) == 1
    assert taken.flags[0].startswith("9 rows say in every cell what another row of the file says")


def test_of_a_file_that_breaks_off_nothing_stays(tmp_path: Path) -> None:
    deliver(tmp_path, hour_row("1"))
    whole = gzip.compress(text_of([hour_row(str(cost)) for cost in range(20_000)]).encode())
    path = tmp_path / "half.csv.gz"
    path.write_bytes(whole[: len(whole) * 9 // 10])

    with pytest.raises(BillBreaksOff, match="breaks off after row"):
        take(path)

    assert costs_in_force() == {"1": 1}
    assert BillRow.objects.count() == 1
    broken = BillImport.objects.get(name="half.csv.gz")
    assert (broken.state, broken.failure[:20]) == ("failed", "the file breaks off ")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"a,b\n1,2\n", "the header has no BilledCost"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b"\x1f\x8bno gzip", "cannot be read"),
        (b"PAR1 no table", "no Parquet"),
        (b"PK\x03\x04 no zip", "cannot be read"),
        ("Kosten;Währung\n".encode("latin-1"), "neither UTF-8 nor UTF-16; save it as"),
        (GOOGLES, "Google Cloud's own export: switch its FOCUS usage cost export"),
        (AZURES, "Azure's own cost details: create an export of the type"),
    ],
)
def test_a_file_that_is_no_bill_says_so(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "bill"
    path.write_bytes(data)

    with pytest.raises(NotABill, match=reason):
        take(path)


def test_csv_gzip_and_parquet_read_the_same(tmp_path: Path) -> None:
    rows = [hour_row(str(cost), Tags=f'{{"team": "t{cost}"}}') for cost in range(30)]
    table = pa.Table.from_pylist(
        [
            row
            | {
                "BilledCost": Decimal(row["BilledCost"]),
                "Tags": list(json.loads(row["Tags"]).items()),
            }
            for row in rows
        ],
        schema=pa.schema(
            [
                (name, {"BilledCost": pa.decimal128(38, 14),
                        "Tags": pa.map_(pa.string(), pa.string())}.get(name, pa.string()))
                for name in rows[0]
            ]
        ),
    )  # fmt: skip
    parquet.write_table(table, tmp_path / "bill.parquet")

    def said(path: Path) -> list[object]:
        with open_bill(path) as file:
            return [row._replace(digest=b"") for _, row in file.rows]

    plain = said(write(tmp_path / "bill.csv", rows))
    assert said(write(tmp_path / "bill.csv.gz", rows)) == plain
    assert said(tmp_path / "bill.parquet") == plain


def test_text_of_any_kind_is_kept_as_it_is(tmp_path: Path) -> None:
    odd = 'tab\there \\N back\\slash\r\n"quoted", é, 日本'
    deliver(tmp_path, hour_row("1", ResourceId=odd, ChargeDescription="nul\0nul", x_Odd=odd))

    row = BillRow.objects.get()

    assert (row.resource_id, row.more["x_Odd"]) == (odd, odd)
    assert row.description == "nul\N{REPLACEMENT CHARACTER}nul"


def test_an_effective_cost_that_was_rounded_upstream_is_flagged_until_it_is_corrected(
    tmp_path: Path,
) -> None:
    lines = [{"x_Line": str(number)} for number in range(3)]
    rounded = [hour_row("1.25", EffectiveCost="1", **line) for line in lines]
    flagged = deliver(tmp_path, *rounded)
    assert flagged.flags == [
        "A Cloud: EffectiveCost was rounded to whole USD upstream; "
        "our own estimate stands on that basis"
    ]
    assert Bill.objects.get().is_rounded_upstream

    corrected = deliver(tmp_path, *[hour_row("1.25", **line) for line in lines])
    assert corrected.flags == []
    assert not Bill.objects.get().is_rounded_upstream

    bills.undo_delivery(import_id=corrected.import_id, at=make.NOON)
    assert Bill.objects.get().is_rounded_upstream


def test_rows_without_an_effective_cost_are_counted_in_words(tmp_path: Path) -> None:
    taken = deliver(tmp_path, hour_row("1", EffectiveCost="NULL"), hour_row("2"))

    assert taken.flags == ["1 rows have no EffectiveCost"]


def test_two_that_deliver_the_same_file_at_once_bring_it_in_once(tmp_path: Path) -> None:
    path = write(tmp_path / "bill.csv", [hour_row("1"), hour_row("2")])
    with open_bill(path) as file:
        delivery = bills.Delivery("bill.csv", file.digest, file.layout, is_addition=True)
        read = list(file.rows)
    ids = [bills.begin_delivery(delivery=delivery, at=make.NOON) for _ in range(2)]
    found: dict[BillKey, int] = {}
    for import_id in ids:
        stage_rows(import_id=import_id, rows=rows_to_stage(read), bills=found, at=make.NOON)

    ends = [
        bills.finish_delivery(
            import_id=each, bill_ids=found.values(), totals={}, flags=[], at=make.NOON
        )
        for each in ids
    ]

    assert [told(end) for end in ends] == [(2, 0, 0, 0), (0, 2, 0, 0)]
    assert costs_in_force() == {"1": 1, "2": 1}


def test_a_bill_in_two_currencies_is_two_bills(tmp_path: Path) -> None:
    taken = deliver(tmp_path, hour_row("1"), hour_row("2", BillingCurrency="EUR"))

    assert {currency: sums["billed"] for currency, sums in taken.totals.items()} == {
        "USD": "1", "EUR": "2"
    }  # fmt: skip
    assert sorted(Bill.objects.values_list("currency", flat=True)) == ["EUR", "USD"]


def test_the_command_prints_what_came_of_it_and_refuses_in_words(tmp_path: Path, capsys) -> None:
    path = write(tmp_path / "bill.csv", [hour_row("1.5"), hour_row("2")])

    call_command("import_focus", str(path), "--json")
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])

    assert (figures["rows"], figures["imported"], figures["billed"]) == (2, 2, "3.5")
    call_command("import_focus", str(path), stdout=StringIO())
    assert "unchanged    2" in capsys.readouterr().out
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_focus", str(tmp_path / "missing.csv"))


@pytest.mark.skipif(not SAMPLE.exists(), reason="public bills are not beside the checkout")
def test_the_public_sample_sums_to_its_own_totals() -> None:
    taken = take(SAMPLE)

    assert told(taken) == (1000, 0, 0, 0)
    assert taken.totals["USD"]["billed"] == "20.52022672899"
    assert taken.totals["USD"]["list"] == "20.39090575119"


@pytest.mark.skipif(not SAMPLE.exists(), reason="public bills are not beside the checkout")
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("koku_test_cur.csv", 19),
        ("koku_aws_2022-07-01-alt-columns.csv", 2),
        ("koku_aws_2023-06-01.csv", 3),
    ],
)
def test_public_reports_of_a_cloud_come_in_whole(name: str, rows: int) -> None:
    assert told(take(PUBLIC / "billing" / name)) == (rows, 0, 0, 0)
