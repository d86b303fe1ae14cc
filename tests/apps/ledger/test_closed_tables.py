"""One unit changed in any column of any row that a closed month holds is found, by a digest of its table."""

from secrets import randbelow

import pgtrigger
import pytest
from django.db import DataError, IntegrityError, ProgrammingError, connection, transaction
from psycopg import sql

from apps.ledger.actions import close
from apps.ledger.actions.close.digesting import digest_earlier_closes
from apps.ledger.models import Close, LedgerUserDay, MonthDigest
from apps.ledger.queries.audit import TABLES
from apps.ledger.queries.closes.month_digests import KEPT, rows_kept
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.corrected_world import (
    APRIL,
    AT,
    MARCH,
    bill_march,
    close_march,
    cut_the_price,
    make_corrected_world,
)
from tests.apps.ledger.scene import HOUR
from tests.apps.ledger.tampering import Column, columns_of, tables_of, tamper
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
    places = audit_here().places
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


def one_of(table: str, which: str, seed: int) -> str:
    """A condition that is true of one row, which chance picks."""
    query = sql.SQL("SELECT tableoid, ctid::text FROM {} WHERE {} ORDER BY md5(ctid::text || {})")
    with connection.cursor() as cursor:
        cursor.execute(query.format(sql.Identifier(table), sql.SQL(which), sql.Literal(str(seed))))
        oid, ctid = cursor.fetchone()
    return f"tableoid = {oid} AND ctid = '{ctid}'"


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
    row = one_of(table, rows_kept(the_close(), table), seed)

    columns = [column for column in columns_of(table) if str(column) not in OPENS]
    missed = [str(column) for column in columns if not is_found(column, row)]

    assert not missed, f"seed {seed}, {row}"


@pytest.mark.parametrize("table", TABLES_TRIED)
def test_a_row_that_is_gone_is_found(table: str) -> None:
    row = one_of(table, rows_kept(the_close(), table), 7)
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
    asked = close.CloseAsked(
        month=APRIL,
        person_id=None,
        accepted=("unpriced", "unbilled", "unmatched", "unowned", "unobserved", "uninvoiced"),
    )
    close.close_month(asked=asked, at=AT.replace(month=5))
    assert audit_here().places == ()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ledger_runday SET billed_micros = 1 WHERE ctid = (SELECT ctid FROM"
            " ledger_runday WHERE posting_month = '2026-04-01' AND day < '2026-04-01' LIMIT 1)"
        )

    assert "ledger_runday" in moved_tables()
