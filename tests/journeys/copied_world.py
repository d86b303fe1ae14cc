"""An installation with something of everything, and a copy of it, for tests that bring it back."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, override_settings

from apps.accounts.actions import add_person
from apps.ledger.actions.bill_uploads import BillUpload, keep_bill
from apps.uploads.files import UploadDraft
from apps.web.queries.table_digests import TableDigest, table_digests
from controlplane.copies.making import Installation, MadeCopy, make_copy, say_nothing
from controlplane.copies.of_settings import this_installation
from tests import make
from tests.apps.ledger import audited_world

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
EMAIL, PASSWORD = "ada@example.org", "correct horse battery"
WAITING_BILL = b"BilledCost,ChargePeriodStart\n1.00,2026-03-01\n"


@dataclass(frozen=True, slots=True)
class CopiedWorld:
    """What was copied, what it held, and the secret of one of its tokens."""

    path: Path
    made: MadeCopy
    digests: dict[str, TableDigest]
    token: str
    waiting: str


def make_copied_world(folder: Path) -> CopiedWorld:
    """Make a world with a closed and corrected month, a person, a token and an upload that waits; copy it."""
    home = folder / "home"
    home.mkdir()
    with override_settings(HOME=home):
        audited_world.make_world(folder)
        add_person(email=EMAIL, name="Ada", role="finance", password=PASSWORD)
        token = make.make_token("read", name="reports").secret
        waiting = keep_upload(WAITING_BILL)
        of = installation(home)
        made = make_copy(of, folder / "copy.runrate", say_nothing, AT)
        return CopiedWorld(folder / "copy.runrate", made, table_digests(), token, waiting)


def keep_upload(content: bytes) -> str:
    """Send a bill that nobody has looked at yet; the name under which its file is kept."""
    draft = UploadDraft()
    draft.write(content)
    draft.publish()
    stored = draft.stored("march.csv")
    keep_bill(upload=BillUpload(**asdict(stored)), at=AT)
    return stored.stored_as


def installation(home: Path) -> Installation:
    """The tests' database, as of an installation with this home."""
    of = this_installation()
    return Installation(of.server, home, of.chosen, of.secret_key)


def assert_it_works(world: CopiedWorld) -> None:
    """Somebody signs in, a token reads, and a file that waits is what was sent."""
    client = Client()
    answer = client.post("/sign-in", {"login": EMAIL, "password": PASSWORD})
    assert answer.status_code == 302
    assert client.get("/").status_code == 200
    bearer = {"Authorization": f"Bearer {world.token}"}
    assert Client().get("/api/v1/teams", headers=bearer).status_code == 200


@contextmanager
def home_at(path: Path) -> Iterator[Path]:
    """Files lie under this home."""
    path.mkdir(exist_ok=True)
    with override_settings(HOME=path), pytest.MonkeyPatch.context():
        yield path


Json = dict[str, Any]
