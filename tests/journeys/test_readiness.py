"""A process whose tables are of another version says that it is not ready, and why."""

import pytest
from django.core.cache import caches
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from controlplane import schema_state
from controlplane.schema_state import read_schema_state
from tests import make

pytestmark = pytest.mark.django_db


def forget_a_migration() -> None:
    MigrationRecorder(connection).record_unapplied("sessions", "0001_initial")


def test_migrations_that_wait_are_counted() -> None:
    make.make_organisation()
    assert Client().get("/readyz").json() == {"ready": True}
    caches["process"].clear()
    forget_a_migration()
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {
        "ready": False, "reason": "1 migration waits", "pending_migrations": 1,
    }  # fmt: skip


def test_a_process_whose_tables_fit_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    make.make_organisation()
    assert Client().get("/readyz").status_code == 200
    monkeypatch.setattr(schema_state, "MigrationExecutor", None)
    assert Client().get("/readyz").status_code == 200


def test_tables_of_a_later_version_are_known_as_such() -> None:
    assert read_schema_state().unknown == ()
    MigrationRecorder(connection).record_applied("review", "9999_of_a_later_version")
    state = read_schema_state()
    assert (state.pending, state.unknown) == ((), ("review.9999_of_a_later_version",))


def test_without_an_organisation_it_is_not_ready() -> None:
    assert Client().get("/readyz").json() == {"ready": False, "reason": "no organisation yet"}


def test_a_missing_column_is_an_upgrade_where_migrations_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tests.journeys import test_database_refuses as refused

    refused.ASKED["statement"] = "SELECT no_such FROM accounts_team"
    forget_a_migration()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.conf.settings.ROOT_URLCONF", refused.__name__)
        answer = Client(raise_request_exception=False).get("/api/v1/refused")
    assert (answer.status_code, answer.json()["title"]) == (503, "Database not upgraded yet")
