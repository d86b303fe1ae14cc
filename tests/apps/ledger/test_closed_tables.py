"""One unit changed in any column of any row that a closed month holds is found, by a digest of its table."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from secrets import randbelow

import pgtrigger
import pytest
from django.db import DataError, IntegrityError, ProgrammingError, connection, transaction
from django.db.models import F
from psycopg import sql

from apps.ledger.actions import close
from apps.ledger.actions.bills import Taken, undo_delivery
from apps.ledger.actions.close.digesting import digest_earlier_closes
from apps.ledger.actions.month_digests import keep_digests
from apps.ledger.models import Bill, BillRow, Close, DigestOrigin, LedgerUserDay, MonthDigest
from apps.ledger.queries.audit import TABLES, audit_in_transaction
from apps.ledger.queries.closes.month_digests import (
    KEPT,
    OF_BILL,
    DigestFact,
    current_digests,
    digest_again,
    frozen_rows_condition,
)
from apps.marks.actions import Mark, mark
from apps.marks.queries import BillUnit, Pass
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import take_file
from tests.apps.ledger.corrected_world import (
    APRIL,
    AT,
    MARCH,
    OF_MARCH,
    bill_march,
    close_march,
    cut_the_price,
    make_corrected_world,
)
from tests.apps.ledger.scene import HOUR, TEN
from tests.apps.ledger.tampering import Column, columns_of, rows_of, tables_of, tamper
from tests.apps.ledger.test_audit_of_everything import NO_MONEY
from tests.make import take_names_out

pytestmark = pytest.mark.django_db

IN_THE_SUITE = frozenset({"ledger_charge", "ledger_line", "ledger_ledgerday"})
TABLES_TRIED = [
    table if table in IN_THE_SUITE else pytest.param(table, marks=pytest.mark.proof)
    for table in sorted(KEPT)
]
"""Each takes seconds: most of them are proofs."""
NOT_KEPT = {
    "ledger_apicost": "what calls cost: priced anew of closed months too, and held against calls",
    "ledger_apihour": "the same, by the hour",
    "ledger_apiitem": "what calls are of: names, no amounts",
    "ledger_vendorcost": "reports of vendors, which come when they come",
    "ledger_runfigures": "figures of all days of a run, held against these",
}
"""Tables of money that are held against other rows, in closed months too."""
OPENS = frozenset({"ledger_close.id", "ledger_close.reopened_at"})
"""What says that a month is closed, and which digests are its own: another is another close, or none."""


@pytest.fixture(scope="module")
def _closed(of_module: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    """March, billed, closed, and corrected in April."""
    world = make_corrected_world()
    make.make_person("finn@example.org", name="Finn")
    bill_march(tmp_path_factory.mktemp("bills"))
    close_march()
    cut_the_price(world)
    close.post_corrections(month=MARCH, at=AT + HOUR)
    scene.settle_all(AT + 2 * HOUR)


@pytest.fixture(autouse=True)
def _world(_closed: None, db: None) -> None:
    """What a test does to it is undone."""


def the_close() -> Close:
    return Close.objects.get(month=MARCH)


def moved_tables() -> set[str]:
    """By the part of the audit that is about closed months alone: it is asked often."""
    places = audit_in_transaction((), None, None).places
    return {str(place.node).split(",")[0] for place in places if place.check == TABLES}


def is_found(column: Column, where: str) -> bool:
    """Whether the audit names the table, or the database refuses the change to begin with."""
    undo = transaction.savepoint()
    try:
        assert tamper(column, where) == 1, f"{column} has no row"
        return column.table in moved_tables()
    except (IntegrityError, DataError):
        return True
    finally:
        transaction.savepoint_rollback(undo)


def test_nothing_of_a_closed_and_corrected_month_moved() -> None:
    found = audit_here()

    assert (found.places, found.undigested_months, found.closed_months) == ((), (), (MARCH,))
    assert set(MonthDigest.objects.values_list("origin", flat=True)) == {"close"}


def test_every_table_of_money_is_kept_or_says_why_not() -> None:
    tables = (tables_of("ledger") | tables_of("unit_economics")).keys()

    assert KEPT.keys() | NOT_KEPT.keys() == (tables - NO_MONEY.keys()) | {"ledger_meterday"}
    assert not KEPT.keys() & NOT_KEPT.keys()


@pytest.mark.parametrize("table", TABLES_TRIED)
def test_one_unit_in_a_random_row_of_a_closed_month_is_found_in_every_column(table: str) -> None:
    seed = randbelow(10**6)
    (row,) = rows_of(table, frozen_rows_condition(the_close(), table), seed)

    columns = [column for column in columns_of(table) if str(column) not in OPENS]
    missed = [str(column) for column in columns if not is_found(column, row)]

    assert not missed, f"seed {seed}, {row}"


@pytest.mark.parametrize("table", TABLES_TRIED)
def test_a_row_that_is_gone_is_found(table: str) -> None:
    (row,) = rows_of(table, frozen_rows_condition(the_close(), table), 7)
    undo = transaction.savepoint()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            cursor.execute(
                sql.SQL("DELETE FROM {} WHERE {}").format(sql.Identifier(table), sql.SQL(row))
            )
            cursor.execute("SET session_replication_role = origin")
        gone = table == "ledger_close" or table in moved_tables()
    finally:
        transaction.savepoint_rollback(undo)

    assert gone


def bill_of_another_account(folder: Path) -> Taken:
    """A bill of March that comes after the close: another hour of storage."""
    told = {"ResourceId": "", "ServiceCategory": "Storage", "BillingAccountId": "late"}
    row = bill_files.hour_row("5", **told, **OF_MARCH)
    return take_file(bill_files.write(folder / "late.csv", [row]), clock=lambda: AT + 3 * HOUR)


def read_bills_anew() -> None:
    """Every bill of the closed month is woken and reconciled again."""
    mark([Mark(Pass.BILLS, BillUnit.NAMES, TEN)])
    scene.settle_all(AT + 4 * HOUR)


def cells_of_bills(columns: int) -> list[tuple[Column, str]]:
    """Columns that chance picks of a row of each table of each bill of the closed month."""
    return [
        (column, row)
        for bill_id in Bill.objects.values_list("id", flat=True)
        for table, which in OF_BILL.items()
        for row in rows_of(table, which.format(bill=bill_id), bill_id)
        for column in by_chance(columns_of(table))[:columns]
    ]


def by_chance(columns: Iterable[Column]) -> list[Column]:
    return sorted(columns, key=lambda _: randbelow(10**6))


@pytest.mark.parametrize("columns", [2, pytest.param(50, marks=pytest.mark.proof)])
def test_what_is_changed_in_a_bill_is_found_after_another_came_late_and_all_were_read_anew(
    tmp_path: Path, columns: int
) -> None:
    bill_of_another_account(tmp_path)
    scene.settle_all(AT + 4 * HOUR)
    read_bills_anew()
    assert moved_tables() == set()
    cells = cells_of_bills(columns)
    assert {row_of.table for row_of, _ in cells} == OF_BILL.keys()

    assert [f"{column}: {row}" for column, row in cells if not is_found(column, row)] == []

    origins = MonthDigest.objects.exclude(bill_id=None).values_list("origin", flat=True)
    assert set(origins) == {"close", "bill"}


def test_each_step_of_a_late_bill_leaves_a_closed_month_as_its_digests_say(tmp_path: Path) -> None:
    for _ in range(2):
        late = bill_of_another_account(tmp_path)
        assert moved_tables() == set()
        read_bills_anew()
        assert moved_tables() == set()
        close.post_corrections(month=MARCH, at=AT + 4 * HOUR)
        assert moved_tables() == set()
        undo_delivery(import_id=late.import_id, at=AT + 5 * HOUR)
        assert moved_tables() == set()
        scene.settle_all(AT + 5 * HOUR)
        assert moved_tables() == set()


def test_what_was_changed_before_a_bill_came_late_is_found_after_it(tmp_path: Path) -> None:
    BillRow.objects.update(billed_cost=F("billed_cost") + 1)
    assert moved_tables() == {"ledger_billrow"}
    path = bill_files.write(tmp_path / "again.csv", [bill_files.hour_row("71", **OF_MARCH)])
    take_file(path, clock=lambda: AT + 3 * HOUR)
    bill_of_another_account(tmp_path)
    read_bills_anew()

    assert "ledger_billrow" in moved_tables()


def test_a_bill_that_nobody_took_in_is_found() -> None:
    old = BillRow.objects.first()
    assert old is not None
    bill = Bill.objects.get(pk=old.bill_id)
    bill.pk, bill.account = None, "planted"
    bill.save()
    old.pk, old.bill = None, bill
    old.save()

    assert moved_tables() == {"ledger_bill"}


def put_together() -> None:
    """The digests as an earlier version made them: of all bills together."""
    this = the_close()
    columns: dict[tuple[str, bool], tuple[str, ...]] = {}
    for each in current_digests(this.pk):
        if each.bill_id is not None:
            columns[each.table, each.is_personal] = each.columns
    together = [
        digest_again(this, DigestFact(table, is_personal, names, 0, ""))
        for (table, is_personal), names in columns.items()
    ]
    with pgtrigger.ignore("ledger.MonthDigest:month_digest_is_frozen"):
        MonthDigest.objects.exclude(bill_id=None).delete()
    keep_digests(this, together, DigestOrigin.CLOSE)


def test_bills_that_an_earlier_version_digested_together_are_found_changed_before_and_after_a_late_one(
    tmp_path: Path,
) -> None:
    put_together()
    assert moved_tables() == set()
    undo = transaction.savepoint()
    BillRow.objects.update(billed_cost=F("billed_cost") + 1)
    assert moved_tables() == {"ledger_billrow"}
    bill_of_another_account(tmp_path)
    assert "ledger_billrow" in moved_tables()
    transaction.savepoint_rollback(undo)

    bill_of_another_account(tmp_path)
    read_bills_anew()

    assert moved_tables() == set()
    BillRow.objects.update(billed_cost=F("billed_cost") + 1)
    assert moved_tables() == {"ledger_billrow"}


def test_bills_that_came_late_before_bills_had_digests_get_theirs_from_the_sweep(
    tmp_path: Path,
) -> None:
    bill_of_another_account(tmp_path)
    read_bills_anew()
    put_together()
    assert audit_here().undigested_months == (MARCH,)
    assert moved_tables() == set()

    assert [digest_earlier_closes(at=AT + n * HOUR) for n in range(2)] == [1, 0]

    assert audit_here().undigested_months == ()
    assert moved_tables() == set()
    BillRow.objects.update(billed_cost=F("billed_cost") + 1)
    assert moved_tables() == {"ledger_billrow"}


@pytest.mark.parametrize("table", ["ledger_billrow", "ledger_ledgernodeday", "ledger_charge"])
def test_a_digest_that_somebody_took_away_is_missed(table: str) -> None:
    with pgtrigger.ignore("ledger.MonthDigest:month_digest_is_frozen"):
        MonthDigest.objects.filter(table=table).filter(is_personal=False).delete()

    assert table in moved_tables()
    assert audit_here().undigested_months == ()


def test_a_close_of_which_all_digests_were_taken_away_is_no_close_of_an_earlier_version() -> None:
    march = the_close()
    with pgtrigger.ignore("ledger.MonthDigest:month_digest_is_frozen"):
        MonthDigest.objects.all().delete()
    before = Close.objects.create(
        id=march.pk - 1, month=date(2026, 2, 1), version=1, closed_at=AT, cut_off=AT, lines=0
    )
    MonthDigest.objects.create(
        close=before, table="ledger_line", is_personal=False, columns=[], rows=0, digest="",
        origin="close", made_at=AT,
    )  # fmt: skip

    found = audit_here()

    assert "every table, close 1, without a digest" in {place.node for place in found.places}
    assert MARCH not in found.undigested_months
    digest_earlier_closes(at=AT)
    assert not march.digests.exists()


def test_names_that_change_places_are_found() -> None:
    ada, bob = (
        LedgerUserDay.objects.filter(posting_month=MARCH, user_name=name).first()
        for name in ("ada", "bob")
    )
    assert ada is not None
    assert bob is not None
    LedgerUserDay.objects.filter(pk=ada.pk).update(user_name="bob")
    LedgerUserDay.objects.filter(pk=bob.pk).update(user_name="ada")

    assert moved_tables() == {"ledger_ledgeruserday"}


def test_taking_a_name_out_renews_the_digests_of_what_named_it_and_says_so() -> None:
    before = MonthDigest.objects.count()

    take_names_out("ada", at=AT)

    assert not LedgerUserDay.objects.filter(user_name="ada").exists()
    assert audit_here().places == ()
    renewed = MonthDigest.objects.filter(origin="pseudonym")
    assert set(renewed.values_list("table", "is_personal")) == {("ledger_ledgeruserday", True)}
    assert MonthDigest.objects.count() == before + renewed.count()


def test_a_month_closed_by_an_earlier_version_gets_its_digests_once_and_marked() -> None:
    with pgtrigger.ignore("ledger.MonthDigest:month_digest_is_frozen"):
        MonthDigest.objects.all().delete()
    assert audit_here().undigested_months == (MARCH,)

    assert [digest_earlier_closes(at=AT + n * HOUR) for n in range(2)] == [1, 0]

    assert set(MonthDigest.objects.values_list("origin", "made_at")) == {("upgrade", AT)}
    found = audit_here()
    assert (found.places, found.undigested_months) == ((), ())
    LedgerUserDay.objects.filter(posting_month=MARCH).update(list_micros=1)
    assert moved_tables() == {"ledger_ledgeruserday"}


@pytest.mark.parametrize(
    "statement", ["UPDATE ledger_monthdigest SET rows = 0", "DELETE FROM ledger_monthdigest"]
)
def test_a_digest_is_neither_changed_nor_taken_away(statement: str) -> None:
    with pytest.raises(ProgrammingError, match="Cannot"), connection.cursor() as cursor:
        cursor.execute(statement)


def test_an_opened_month_is_held_against_facts_again_and_closed_anew_against_new_digests() -> None:
    close.reopen_month(month=MARCH, reason="to see", person_id=None, at=AT + 3 * HOUR)
    scene.settle_all(AT + 3 * HOUR)
    assert audit_here().places == ()
    close_march()

    assert audit_here().places == ()
    assert MonthDigest.objects.values("close").distinct().count() == 2


def test_what_april_posted_of_march_is_in_aprils_digests() -> None:
    asked = close.CloseRequest(
        month=APRIL,
        person_id=None,
        accepted=("unpriced", "unbilled", "unmatched", "unowned", "unobserved", "uninvoiced"),
    )
    close.close_month(request=asked, at=AT.replace(month=5))
    assert audit_here().places == ()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ledger_runday SET billed_micros = 1 WHERE ctid = (SELECT ctid FROM"
            " ledger_runday WHERE posting_month = '2026-04-01' AND day < '2026-04-01' LIMIT 1)"
        )

    assert "ledger_runday" in moved_tables()
