"""A copy of an installation brings all of it back, or nothing is changed and it is said why."""

import io
import json
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import pytest_django
from django.db import connection, connections
from django.test import override_settings

from apps.files import open_file
from apps.ledger.models import BillImport
from apps.web.queries.table_digests import table_digests
from controlplane.copies.archive import CopyDamaged, pack, unpack
from controlplane.copies.installation import (
    SECRET_SETTINGS,
    secrets_to_keep,
    settings_to_keep,
)
from controlplane.copies.making import make_copy, say_nothing
from controlplane.copies.proving import prove_ledger
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.restoring import Restored, RestoreWanted, restore_copy
from controlplane.copies.standing import alone, served
from controlplane.env import Environment, environment
from controlplane.ledger_audit import audit
from tests.databases import kept_until_the_end, other_database
from tests.journeys.copied_world import (
    AT,
    WAITING_BILL,
    CopiedWorld,
    assert_it_works,
    installation,
    keep_upload,
    make_copied_world,
)

pytestmark = pytest.mark.django_db(transaction=True)
AS_IT_IS = RestoreWanted()


@pytest.fixture(scope="module")
def world(
    django_db_setup: None,
    django_db_blocker: pytest_django.DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CopiedWorld]:
    """An installation and its copy; tests read it, and change databases of their own."""
    with django_db_blocker.unblock(), kept_until_the_end():
        yield make_copied_world(tmp_path_factory.mktemp("copied"))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """The home of the installation that a copy is brought back to."""
    (tmp_path / "restored").mkdir()
    with override_settings(HOME=tmp_path / "restored"):
        yield tmp_path / "restored"


def restore(
    path: Path,
    home: Path,
    wanted: RestoreWanted = AS_IT_IS,
    prove: Callable[[], None] = prove_ledger,
) -> Restored:
    with path.open("rb") as source:
        return restore_copy(source, home, wanted, say_nothing, prove)


def members_of(path: Path) -> list[tuple[str, bytes]]:
    with tarfile.open(path) as opened:
        return [(each.name, opened.extractfile(each).read()) for each in opened]  # type: ignore[union-attr]


def written(path: Path, members: list[tuple[str, bytes]]) -> Path:
    """A file of these members, as they are."""
    with tarfile.open(path, "w") as out:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            out.addfile(info, io.BytesIO(content))
    return path


def with_manifest(path: Path, out: Path, **changed: Any) -> Path:
    """The copy with another manifest, as if it had been written so."""
    (name, manifest), *others, (last, digests) = members_of(path)
    content = json.dumps(json.loads(manifest) | changed).encode()
    told = json.loads(digests)
    told["members"][name] = sha256(content).hexdigest()
    return written(out, [(name, content), *others, (last, json.dumps(told).encode())])


def test_everything_comes_back_and_works(world: CopiedWorld, home: Path) -> None:
    with other_database():
        restored = restore(world.path, home)

        assert table_digests() == world.digests
        assert restored.rows == sum(digest.rows for digest in world.digests.values())
        proof = audit()
        assert proof.adds_up
        assert proof.closed_months
        waiting = BillImport.objects.get(stored_as=world.waiting)
        assert waiting.state == "waiting"
        with open_file(f"uploads/{waiting.stored_as}") as file:
            assert file.read() == WAITING_BILL
        assert_it_works(world)
        assert not list(home.glob("restoring-*"))


def test_a_copy_says_what_it_is_first_and_holds_no_secret(world: CopiedWorld) -> None:
    members = members_of(world.path)
    manifest = json.loads(members[0][1])

    assert members[0][0] == "manifest.json"
    assert members[-1][0] == "digests.json"
    assert manifest["format"] == 1
    assert ["ledger", "0001_squashed_0026_corrections_on_their_hour"][0] in dict(
        manifest["migrations"]
    )
    assert manifest["postgres"] >= 15
    assert manifest["runrate"]["version"]
    secret = installation(world.path.parent).secret_key.encode()
    for name, content in members:
        plain = unpack(name, content) if name.endswith(".zst") else content
        assert secret not in plain, name
    assert world.path.stat().st_mode & 0o777 == 0o600


def test_a_setting_that_holds_a_secret_is_in_the_file_of_secrets_alone() -> None:
    """Found by what settings are called: a new one must be decided on here."""
    sounds = re.compile("secret|password|url|_key$|_keys$|token$")
    harmless = {"site_url", "tag_keys"}
    named = {each.name for each in fields(Environment) if sounds.search(each.name)}
    assert named - harmless == SECRET_SETTINGS

    chosen = replace(
        environment({}),
        old_secret_keys=("older", "oldest"),
        mail_url="smtp://u:geheim@mail",
        site_url="https://runrate.example.org",
        tag_keys=("project", "phase"),
    )
    assert settings_to_keep(chosen) == {
        "RUNRATE_SITE_URL": "https://runrate.example.org",
        "RUNRATE_TAG_KEYS": "project,phase",
    }
    assert secrets_to_keep(chosen, "present") == {
        "RUNRATE_MAIL_URL": "smtp://u:geheim@mail",
        "RUNRATE_OLD_SECRET_KEYS": "older,oldest",
        "RUNRATE_SECRET_KEY": "present",
    }


def test_rows_go_on_counting_where_they_stood(world: CopiedWorld, home: Path) -> None:
    """A new row must not take the number of one that there was."""
    with other_database():
        restore(world.path, home)
        newest = BillImport.objects.order_by("-id")[0].id
        keep_upload(b"another")
        assert BillImport.objects.order_by("-id")[0].id == newest + 1


def test_what_is_there_stays_unless_it_is_to_be_replaced(world: CopiedWorld, home: Path) -> None:
    with other_database(connection.settings_dict["NAME"]):
        kept = keep_upload(b"written after the copy")
        before = table_digests()
        with pytest.raises(CopyRefused, match=r"the database is not empty: .* --replace"):
            restore(world.path, home)
        assert table_digests() == before
        assert (home / "uploads" / kept).read_bytes() == b"written after the copy"

        restore(world.path, home, RestoreWanted(replaces=True))
        assert table_digests() == world.digests
        assert [path.name for path in (home / "uploads").iterdir()] == [world.waiting]
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regnamespace('runrate_replaced')")
            assert cursor.fetchone() == (None,)


def test_a_restore_that_fails_at_its_end_leaves_the_old(world: CopiedWorld, home: Path) -> None:
    def fail() -> None:
        raise CopyRefused("the ledger does not add up in 1 places")

    with other_database(connection.settings_dict["NAME"]):
        kept = keep_upload(b"written after the copy")
        before = table_digests()
        with pytest.raises(CopyRefused, match="does not add up"):
            restore(world.path, home, RestoreWanted(replaces=True), fail)
        assert table_digests() == before
        assert [path.name for path in (home / "uploads").iterdir()] == [kept]
        assert not list(home.glob("restoring-*"))


def cut(path: Path, out: Path) -> str:
    content = path.read_bytes()
    out.write_bytes(content[: len(content) // 2])
    return "cut off|after tables/"


def flipped(path: Path, out: Path) -> str:
    """One bit of one part is another."""
    members = members_of(path)
    place = next(n for n, (name, _) in enumerate(members) if "ledger_charge/" in name)
    name, content = members[place]
    middle = len(content) // 2
    other = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    written(out, [*members[:place], (name, other), *members[place + 1 :]])
    return "tables/ledger_charge/000001.zst"


def rewritten(path: Path, out: Path) -> str:
    """A part is whole, and not the one that was written."""
    members = members_of(path)
    place = next(n for n, (name, _) in enumerate(members) if "accounts_team/" in name)
    name, content = members[place]
    other = pack(unpack(name, content).replace(b"Platform", b"Plotform"))
    written(out, [*members[:place], (name, other), *members[place + 1 :]])
    return "tables/accounts_team/000001.zst: it is not what was written"


def left_out(path: Path, out: Path) -> str:
    members = [member for member in members_of(path) if "accounts_team/" not in member[0]]
    written(out, members)
    return "tables/accounts_team/000001.zst: it is missing"


def something_else(path: Path, out: Path) -> str:
    out.write_bytes(b"PK\x03\x04" + bytes(2000))
    return "no copy that Runrate made"


@pytest.mark.parametrize("damage", [cut, flipped, rewritten, left_out, something_else])
def test_a_damaged_copy_is_refused_by_the_member(
    damage: Callable[[Path, Path], str], world: CopiedWorld, home: Path, tmp_path: Path
) -> None:
    words = damage(world.path, tmp_path / "damaged")
    with other_database():
        with pytest.raises(CopyDamaged, match=words):
            restore(tmp_path / "damaged", home)
        assert connection.introspection.table_names() == []
        assert not list(home.glob("restoring-*"))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"format": 2}, "the copy has format 2, and this Runrate reads 1"),
        (
            {"migrations": [["ledger", "9999_from_the_future"]]},
            r"of a newer Runrate .* does not know ledger.9999_from_the_future",
        ),
        ({"postgres": 99}, r"made of Postgres 99, and this server is \d+: restore into 99 or newer"),
        (
            {"database_bytes": 10**18},
            r"has [\d,]+ MB free, and the copy's database takes about 1,300,000,000,000 MB",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_before_anything_is_read(
    changed: dict[str, Any], words: str, world: CopiedWorld, home: Path, tmp_path: Path
) -> None:
    (home / "postgres").mkdir()
    other = with_manifest(world.path, tmp_path / "other", **changed)
    with other_database(), pytest.raises(CopyRefused, match=words):
        restore(other, home)


def test_nothing_is_restored_under_somebody_who_works(world: CopiedWorld, home: Path) -> None:
    """Whether by a connection, which has a name, or by services that are up."""
    with other_database():
        beside = connections["default"].copy()
        with beside.cursor() as cursor:
            cursor.execute("SELECT 1")
            with pytest.raises(CopyRefused, match=r"1 of runrate .*stop web, worker and beat"):
                restore(world.path, home)
        beside.close()
        with served(home), pytest.raises(CopyRefused, match="services run under"), alone(home):
            pass
        with alone(home), pytest.raises(CopyRefused, match="being restored"), served(home):
            pass


def test_a_copy_is_there_whole_or_not_at_all(world: CopiedWorld, home: Path) -> None:
    target = home / "copy.runrate"
    target.write_bytes(b"the one before")

    def break_off(words: str, share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_copy(installation(home), target, break_off, AT)
    assert target.read_bytes() == b"the one before"
    assert [path.name for path in home.iterdir()] == ["copy.runrate"]


def test_a_copy_needs_room(world: CopiedWorld, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(1, 1, 1_000_000)
    )
    with pytest.raises(CopyRefused, match=r"has 1 MB free, and the copy .* may take [\d,]+ MB"):
        make_copy(installation(home), home / "copy", say_nothing, AT)
