"""The demo touches its own database alone: never one in use, never another application's tables."""

import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth import authenticate
from django.db import connection

from apps.accounts.actions.audit import changes_by
from apps.accounts.queries import Role, names_of_role, organisation
from apps.ledger.models import BillImport
from controlplane.demo.database import (
    BILL,
    DEMO,
    MANAGES,
    SIGN_IN,
    DatabaseInUse,
    gained_facts,
    make_room,
    person_of_demo,
)
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


def test_a_demo_knows_what_people_added_from_what_it_filled_itself() -> None:
    assert gained_facts() == [], "no demo is here"
    with changes_by(command=DEMO, os_user="ines"):
        make_room(AT)
        add_people()
        gateway = make.make_token(name="gateway of the demo")
    with person_of_demo(1):
        make.make_cluster("atlas")
    with changes_by(token=gateway.id):
        make.make_pool()
    assert gained_facts() == []

    with changes_by(person=1):
        make.make_pool("of my own")
    (said,) = gained_facts()
    count = int(re.match(r"(\d+) changes? in the audit trail, the last of ", said)[1])
    assert count
    with changes_by(command="load_price_table", os_user="ines"):
        make.make_rate("4.00")
    with changes_by(token=make.make_token(name="terraform").id):
        make.make_cluster("harbor")
    assert int(gained_facts()[0].split()[0]) > count


def test_people_and_bills_of_ones_own_are_named_and_only_a_fresh_demo_empties_them() -> None:
    make_room(AT)
    make.make_person("petra@example.org")
    BillImport.objects.create(name="own.csv", digest="0" * 64, started_at=AT)
    assert gained_facts() == [
        "people of your own (petra@example.org)",
        "bills of your own (own.csv)",
    ]
    make_room(AT, is_fresh=True)
    assert (gained_facts(), rows_of("accounts_user"), rows_of("ledger_billimport")) == ([], 0, 0)


def test_a_fresh_demo_empties_nobodys_own_installation() -> None:
    make.make_organisation()
    with pytest.raises(DatabaseInUse, match="your own organisation"):
        make_room(AT, is_fresh=True)
