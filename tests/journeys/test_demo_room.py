"""The demo touches its own database alone: never one in use, never another application's tables."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth import authenticate
from django.db import connection

from apps.accounts.queries import Role, names_of_role, organisation
from apps.ledger.models import BillImport
from controlplane.demo.database import BILL, MANAGES, SIGN_IN, DatabaseInUse, make_room
from controlplane.management.commands.demo import add_people
from tests import make

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


def rows_of(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT count(*) FROM "{table}"')  # noqa: S608  # our own names
        return cursor.fetchone()[0]


@pytest.mark.parametrize(
    "use",
    [
        make.make_person,
        make.make_token,
        make.make_team,
        make.make_pool,
        make.make_cluster,
        lambda: BillImport.objects.create(name="own.csv", digest="0" * 64, started_at=AT),
    ],
    ids=["person", "token", "team", "pool", "cluster", "bill"],
)
def test_a_database_that_holds_anything_of_somebodys_own_is_left_alone(use) -> None:
    from apps.accounts.actions import bootstrap_with_defaults

    bootstrap_with_defaults(at=AT)
    use()
    with pytest.raises(DatabaseInUse, match="RUNRATE_HOME="):
        make_room(AT)
    assert organisation().name == "My organisation"


def test_somebody_of_the_demo_manages_it_and_the_next_demo_makes_room() -> None:
    make_room(AT)
    password = add_people()
    assert names_of_role(Role.PLATFORM) == ["Petra (platform)"]
    assert authenticate(email=MANAGES, password=password)
    make_room(AT)
    assert names_of_role(Role.PLATFORM) == []


def test_a_chosen_organisation_is_somebodys_own() -> None:
    make.make_organisation()
    with pytest.raises(DatabaseInUse, match="your own organisation"):
        make_room(AT)


def test_a_new_database_and_the_last_demo_make_room_and_nobody_elses_table_is_touched() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE somebody_else (id int); INSERT INTO somebody_else VALUES (1)")
    make_room(AT)
    make.make_person(SIGN_IN)
    make.make_node()
    BillImport.objects.create(name=f"{BILL}.csv", digest="0" * 64, started_at=AT)
    make_room(AT)
    assert organisation().is_demo
    assert (rows_of("accounts_user"), rows_of("fleet_node"), rows_of("ledger_billimport")) == (
        0,
        0,
        0,
    )
    assert rows_of("somebody_else") == 1
    assert rows_of("telemetry_holderkey") == 1


@pytest.mark.parametrize("what", ["people", "bills"])
def test_people_and_bills_that_were_brought_into_a_demo_are_kept(what: str) -> None:
    make_room(AT)
    if what == "people":
        make.make_person("petra@example.org")
    else:
        BillImport.objects.create(name="own.csv", digest="0" * 64, started_at=AT)
    with pytest.raises(DatabaseInUse, match=what):
        make_room(AT)
