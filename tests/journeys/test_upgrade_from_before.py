"""A database of the last version that had other migrations, made by its own code, is upgraded by today's.

Every later version passes this: what was closed, billed, kept and handed out then is what it was.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest
from django.db import connection
from django.test import RequestFactory

from apps.accounts.authentication import BearerToken
from apps.accounts.models import SavedView
from apps.ledger.models import Bill, Close
from apps.web.queries.table_digests import (
    TableDigest,
    table_columns,
    table_digest,
    table_digests,
    write_values_alike,
)
from controlplane.ledger_audit import audit, ledger_tables
from controlplane.migration_history import SQUASHED_FROM
from tests.databases import address, other_database
from tests.journeys.installations import CommandSaid
from tests.journeys.older_version import older_version
from tests.journeys.test_migrations import command_said

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.proof]

WORLD = dedent(
    """
    import json
    from datetime import UTC, datetime
    from pathlib import Path
    from apps.accounts.actions import add_person, make_token, save_view
    from apps.accounts.queries import viewer_of_user
    from tests.apps.ledger import audited_world

    at = datetime(2026, 6, 1, tzinfo=UTC)
    audited_world.make_world(Path("{folder}"))
    ada = add_person(email="ada@example.org", name="Ada", role="finance", password="correct horse battery")
    token = make_token(name="reports", scopes=["read"], expires_at=None, at=at)
    {view}
    print(json.dumps({{"token": token.secret, "ada": ada}}))
    """
)
REWRITTEN = {"django_migrations", "auth_permission", "django_content_type"}
"""What says which version it is, not what was charged, entered or handed out."""


MOVED = {"ledger_charge": {"hour", "through"}, "ledger_line": {"hour"}}
"""What a migration since moved of corrections in months that are open, by table: their hours alone."""
OF_NO_CORRECTION = {
    "ledger_charge": "corrects_id IS NULL",
    "ledger_line": "charge_id IN (SELECT id FROM ledger_charge WHERE corrects_id IS NULL)",
}


@dataclass(frozen=True, slots=True)
class OldWorld:
    """What the older version made: the digest of each table by the columns that it had, what of moved ones stays, and a token's secret."""

    digests: dict[str, TableDigest]
    unmoved: list[TableDigest]
    token: str


def make_old_world(folder: Path) -> OldWorld:
    """Fill the empty database that `connection` is of by the older version's own code."""
    before = older_version(SQUASHED_FROM)
    made = before.manage("migrate", database_url=address(), home=folder / "home")
    assert made.returncode == 0, made.stderr
    view = (
        "from apps.accounts.actions.saved_views import SavedViewEntry;"
        "save_view(owner_id=ada, address='/costs?group_by=team', entry=SavedViewEntry('By team'), at=at)"
    )
    script = WORLD.format(folder=folder, view=view)
    filled = before.manage("shell", "-c", script, database_url=address(), home=folder / "home")
    assert filled.returncode == 0, filled.stderr
    digests = table_digests()
    token = json.loads(filled.stdout.splitlines()[-1])["token"]
    return OldWorld(digests, unmoved_digests(digests), token)


def unmoved_digests(digests: dict[str, TableDigest]) -> list[TableDigest]:
    """The digests of what no migration may have moved, by the columns that there were: all but hours, and all of what is no correction."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        write_values_alike(cursor)
        unmoved = [
            digest
            for name, moved in MOVED.items()
            for digest in (
                table_digest(cursor, name, [*{*digests[name].columns} - moved]),
                table_digest(cursor, name, digests[name].columns, where=OF_NO_CORRECTION[name]),
            )
        ]
        cursor.execute("COMMIT")
        return unmoved


def digests_by_columns(digests: dict[str, TableDigest]) -> dict[str, TableDigest]:
    """The digests of these tables as they are now, by the columns that they had then."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        write_values_alike(cursor)
        present = table_columns(cursor)
        found = {
            name: table_digest(cursor, name, before.columns)
            for name, before in digests.items()
            if set(before.columns) <= set(present.get(name, ()))
        }
        cursor.execute("COMMIT")
        return found


def assert_nothing_was_lost(world: OldWorld) -> None:
    """Each table of the ledger is what it was; so is what people kept, and what they were given works."""
    kept = {
        name: digest
        for name, digest in world.digests.items()
        if name in ledger_tables() and name not in MOVED
    }
    assert digests_by_columns(kept) == kept
    assert unmoved_digests(world.digests) == world.unmoved
    assert min(digest.rows for digest in world.unmoved) > 10
    entered = {name: world.digests[name] for name in ("accounts_savedview", "accounts_accesstoken")}
    assert digests_by_columns(entered) == entered

    proof = audit()
    assert proof.places == ()
    assert proof.closed_months
    assert Close.objects.exists()
    assert Bill.objects.exists()
    assert SavedView.objects.get().address == "/costs?group_by=team"
    asked = RequestFactory().get("/", headers={"Authorization": f"Bearer {world.token}"})
    assert BearerToken().authenticate(asked) is not None  # type: ignore[arg-type]  # it reads headers


def test_a_database_from_before_is_upgraded_whole(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with other_database():
        world = make_old_world(tmp_path)

        done: CommandSaid = command_said("upgrade", home=tmp_path / "home")

        assert done.returncode == 0, done.stdout + done.stderr
        assert "The database is upgraded; the ledger adds up and is what it was." in done.stdout
        assert_nothing_was_lost(world)
        again = command_said("upgrade", home=tmp_path / "home")
        assert "Nothing to do" in again.stdout


def test_its_copy_is_brought_back_by_this_version(tmp_path: Path) -> None:
    """The copy of an older database is migrated in the restore, and proved."""
    (tmp_path / "home").mkdir()
    copy = tmp_path / "old.copy"
    with other_database():
        world = make_old_world(tmp_path)
        made = command_said("backup", str(copy), home=tmp_path / "home")
        assert made.returncode == 0, made.stderr
    with other_database():
        done = command_said("restore", str(copy), home=tmp_path / "home")
        assert done.returncode == 0, done.stdout + done.stderr
        assert_nothing_was_lost(world)
