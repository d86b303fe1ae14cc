"""Retention: every table of the database is listed with how long its rows stay."""

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client, override_settings

from apps.accounts.models import User
from apps.console.pages.retention.pages import retained_tables
from apps.console.pages.retention.rules import limited_rules
from tests.apps.console.people import csv_rows
from tests.make import make_organisation, make_person

pytestmark = pytest.mark.django_db


def signed_in(role: str) -> Client:
    make_organisation()
    client = Client()
    person = make_person(f"{role}@example.org", name=role, role=role)
    client.force_login(User.objects.get(pk=person))
    return client


def test_every_table_has_a_rule() -> None:
    assert [row.table.name for row in retained_tables() if row.rule is None] == []


def test_every_rule_is_of_a_table_that_there_is() -> None:
    labels = {model._meta.label_lower for model in apps.get_models()}
    assert set(limited_rules()) - labels == {"shared_cache"}


def test_no_table_of_the_database_is_left_out() -> None:
    with connection.cursor() as cursor:
        names = {
            info.name
            for info in connection.introspection.get_table_list(cursor)
            if info.type in {"t", "p"}
        }
    listed = {row.table.name for row in retained_tables()}
    parts = {name for name in names - listed if name.rpartition("_")[2].isdigit()}
    assert listed <= names
    assert names - parts == listed


def test_rows_are_estimated_and_sizes_sum_over_partitions() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_team")
        cursor.execute(
            "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('telemetry_window')"
        )
        (size,) = cursor.fetchone()
    rows = {row.table.name: row for row in retained_tables()}
    assert rows["accounts_team"].table.rows is not None
    assert rows["telemetry_window"].table.size == size
    assert not any(name.startswith("telemetry_window_") for name in rows)


def test_the_page_says_settings_as_they_are() -> None:
    client = signed_in("finance")
    with override_settings(KEEP_WINDOW_DAYS=21):
        text = client.get("/people/retention").content.decode()
        rows = {row["table"]: row for row in csv_rows(client.get("/people/retention.csv"))}
    assert "RUNRATE_KEEP_WINDOW_DAYS" in text
    assert rows["telemetry_window"]["kept"] == "21 d"
    assert rows["ledger_line"]["kept"] == "for good"
    assert rows["review_alertmessage"]["kept"] == "400 d"


@pytest.mark.parametrize("role", ["lead", "viewer"])
def test_others_do_not_see_it(role: str) -> None:
    client = signed_in(role)
    assert client.get("/people/retention").status_code == 403
    assert client.get("/people/retention.csv").status_code == 403
