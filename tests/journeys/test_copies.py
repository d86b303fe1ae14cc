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
from controlplane.copies.archive import pack, unpack
from controlplane.copies.fitting import RestoreWanted
from controlplane.copies.installation import (
    OF_THE_MACHINE,
    SECRET_SETTINGS,
    secrets_to_keep,
    settings_to_keep,
)
from controlplane.copies.making import TablesChanged, make_copy, say_nothing, write_copy
from controlplane.copies.members import OF_DIGESTS, OF_MANIFEST, CopyDamaged
from controlplane.copies.proving import prove_ledger
from controlplane.copies.refusal import CopyRefused
from controlplane.copies.restoring import Restored, restore_copy
from controlplane.copies.standing import alone, served
from controlplane.env import Environment, environment
from controlplane.env_values import written
from controlplane.ledger_audit import audit
from tests.databases import connected_to, kept_until_the_end, new_database, other_database
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


@pytest.fixture(scope="module")
def empty_database(
    django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Iterator[str]:
    with django_db_blocker.unblock(), new_database() as name:
        yield name


@pytest.fixture
def refusing(empty_database: str) -> Iterator[None]:
    """An empty database of all tests whose copies are refused: it stays empty."""
    with connected_to(empty_database):
        yield
        assert connection.introspection.table_names() == []


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


def written_copy(path: Path, members: list[tuple[str, bytes]]) -> Path:
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
    return written_copy(out, [(name, content), *others, (last, json.dumps(told).encode())])


def test_everything_comes_back_works_and_goes_on_counting(world: CopiedWorld, home: Path) -> None:
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
        # A new row must not take the number of one that there was.
        newest = BillImport.objects.order_by("-id")[0].id
        keep_upload(b"another")
        assert BillImport.objects.order_by("-id")[0].id == newest + 1


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


def settings_as_written(folder: Path) -> dict[str, str]:
    """A text of each setting, as one would write it."""
    counts = dict.fromkeys(
        (each.name for each in fields(Environment) if isinstance(each.default, int)), "17"
    )
    return counts | {
        "home": "/srv/runrate", "database_url": "postgres://u:p@db/runrate", "broker_url": "redis://broker",
        "files": "s3://bucket/prefix", "largest_bodies": "bill=1024,series=128", "secret_key": "key",
        "old_secret_keys": "older,oldest", "debug": "yes", "allowed_hosts": "a.example.org,[::1]",
        "trusted_origins": "https://a.example.org,https://b.example.org", "https": "yes", "trusted_proxies": "2",
        "listen": "0.0.0.0:80", "log_level": "DEBUG", "log_format": "json", "oidc_issuer": "https://id.example.org",
        "oidc_client_id": "runrate", "oidc_client_secret": "secret", "oidc_name": "ID", "oidc_scopes": "openid,groups",
        "oidc_groups_claim": "roles", "oidc_groups": "cn=ops:all=platform,ml=lead:Language models,all=viewer",
        "oidc_require_group": "yes", "oidc_trust_addresses": "yes", "tag_keys": "project,phase", "publish_waste": "yes",
        "verdict_shares": "data_wait=0.15,lost=0.025", "review_without": "idle,alerts", "pdf_fonts": str(folder),
        "token_weights": "10,1,50", "spool_mib": "4096", "spool_caller_mib": "2048", "review_verdict_weeks": "8",
        "site_url": "https://runrate.example.org", "mail_url": "smtp://u:p@mail:587?starttls=yes", "mail_from": "r@example.org",
        "webhook_networks": "10.20.0.0/16,192.168.0.0/24", "keep_quote_days": "31",
        "gl_codes": "node_hour=6120,tax=2310", "aws_external_id": "runrate-7",
    }  # fmt: skip


def test_every_setting_is_kept_as_one_would_set_it(tmp_path: Path) -> None:
    """Read from the copy it can be put into the environment again."""
    texts = settings_as_written(tmp_path)
    assert set(texts) == {each.name for each in fields(Environment)}
    variables = {f"RUNRATE_{name.upper()}": text for name, text in texts.items()}
    chosen = environment(variables)
    kept = settings_to_keep(chosen) | secrets_to_keep(chosen, chosen.secret_key)
    of_the_machine = {f"RUNRATE_{name.upper()}" for name in OF_THE_MACHINE}
    assert kept == {name: text for name, text in variables.items() if name not in of_the_machine}
    assert {name: written(getattr(chosen, name)) for name in texts} == texts
    defaults = environment({})
    again = {each.name: written(getattr(defaults, each.name)) for each in fields(Environment)}
    given = {f"RUNRATE_{name.upper()}": text for name, text in again.items() if text}
    assert environment(given) == defaults


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
    written_copy(out, [*members[:place], (name, other), *members[place + 1 :]])
    return "tables/ledger_charge/000001.zst"


def rewritten(path: Path, out: Path) -> str:
    """A part is whole, and not the one that was written."""
    members = members_of(path)
    place = next(n for n, (name, _) in enumerate(members) if "accounts_team/" in name)
    name, content = members[place]
    other = pack(unpack(name, content).replace(b"Platform", b"Plotform"))
    written_copy(out, [*members[:place], (name, other), *members[place + 1 :]])
    return "tables/accounts_team/000001.zst: it is not what was written"


def left_out(path: Path, out: Path) -> str:
    members = [member for member in members_of(path) if "accounts_team/" not in member[0]]
    written_copy(out, members)
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


@pytest.mark.usefixtures("refusing")
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
    with pytest.raises(CopyRefused, match=words):
        restore(other, home)


def without_key(path: Path, out: Path, member: str, key: str) -> Path:
    """The copy without a key of one of its members that people can read."""
    members = dict(members_of(path))
    content = json.loads(members[member])
    del content[key]
    members[member] = json.dumps(content).encode()
    digests = json.loads(members["digests.json"])
    if member != "digests.json":
        digests["members"][member] = sha256(members[member]).hexdigest()
        members["digests.json"] = json.dumps(digests).encode()
    return written_copy(out, [*members.items()])


@pytest.mark.usefixtures("refusing")
@pytest.mark.parametrize(
    ("member", "key"),
    [*(("manifest.json", key) for key in OF_MANIFEST), *(("digests.json", key) for key in OF_DIGESTS)],
)  # fmt: skip
def test_a_copy_that_lacks_a_key_is_refused_by_it(
    member: str, key: str, world: CopiedWorld, home: Path, tmp_path: Path
) -> None:
    other = without_key(world.path, tmp_path / "other", member, key)
    with pytest.raises(CopyDamaged, match=f"{member}: it is damaged: {key} is missing"):
        restore(other, home)


@pytest.mark.usefixtures("refusing")
@pytest.mark.parametrize(
    "changed",
    [
        {"id": "../../elsewhere"},
        {"id": 7},
        {"postgres": "18"},
        {"postgres": True},
        {"database_bytes": -1},
        {"database_bytes": None},
        {"migrations": [["ledger"]]},
        {"migrations": {"ledger": "0001"}},
        {"tables": {"ledger_charge": "id"}},
        {"tables": []},
        {"runrate": "0.1"},
        {"secret_key_mark": None},
    ],
)
def test_a_key_that_is_not_of_its_kind_is_refused(
    changed: dict[str, Any], world: CopiedWorld, home: Path, tmp_path: Path
) -> None:
    """A name that leads out of the home too."""
    other = with_manifest(world.path, tmp_path / "other", **changed)
    words = f"manifest.json: it is damaged: {min(changed)} is not what a copy has there"
    with pytest.raises(CopyDamaged, match=words):
        restore(other, home)


@pytest.mark.usefixtures("refusing")
def test_sequences_that_say_nothing_are_refused(
    world: CopiedWorld, home: Path, tmp_path: Path
) -> None:
    members = dict(members_of(world.path))
    sequences = json.loads(members["sequences.json"])
    name = min(sequences)
    members["sequences.json"] = json.dumps(sequences | {name: [None, 1]}).encode()
    other = written_copy(tmp_path / "other", [*members.items()])
    with pytest.raises(CopyDamaged, match=f"sequences.json: it is damaged: {name}"):
        restore(other, home)


@pytest.mark.usefixtures("refusing")
@pytest.mark.parametrize(
    "name",
    [
        "uploads/a b",
        "uploads/..",
        "uploads/../../x",
        "uploads//etc/x",
        "uploads/a\nb",
        "uploads/.x",
        "uploads/x.part",
        "uploads/caf\u00e9",
        "uploads/" + "x" * 300,
        "uploads/x/y",
        "uploads",
        "backups/x",
    ],
)
def test_a_file_that_no_copy_of_ours_holds_is_refused_before_anything_is_changed(
    world: CopiedWorld, home: Path, tmp_path: Path, name: str
) -> None:
    manifest, *members, (last, digests) = members_of(world.path)
    member, content = f"files/{name}/000001.zst", pack(b"x")
    told = json.loads(digests)
    told["members"][member] = sha256(content).hexdigest()
    crafted = [manifest, (member, content), *members, (last, json.dumps(told).encode())]
    path = written_copy(tmp_path / "crafted", crafted)
    with pytest.raises(CopyDamaged, match=r"no file of Runrate (is called so|lies there)"):
        restore(path, home)
    assert list(home.rglob("*")) == []


def last_partition() -> str:
    """The name of a partition of windows that is read late; made."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE zz_last PARTITION OF telemetry_window"
            " FOR VALUES FROM ('2031-01-01') TO ('2031-01-02')"
        )
    return "zz_last"


def beside_the_first(statement: str) -> Callable[[str, float], None]:
    """Runs it on a connection of its own once a copy reads its first table."""
    ran: list[str] = []

    def tell(words: str, share: float) -> None:
        if not ran:
            ran.append(words)
            beside = connections["default"].copy()
            with beside.cursor() as cursor:
                cursor.execute(statement)
            beside.close()

    return tell


def test_a_partition_that_is_dropped_while_it_is_copied_is_not_in_the_copy(
    world: CopiedWorld, home: Path
) -> None:
    with other_database(connection.settings_dict["NAME"]):
        drop = beside_the_first(f"DROP TABLE {last_partition()}")
        made = make_copy(installation(home), home / "copy", drop, AT)
        assert made.digests == {name: each.digest for name, each in world.digests.items()}
    manifest = json.loads(dict(members_of(home / "copy"))["manifest.json"])
    assert "zz_last" not in manifest["tables"]


def test_a_partition_that_is_detached_while_it_is_copied_is_copied_anew(
    world: CopiedWorld, home: Path
) -> None:
    """Its rows were read, and the digest of its table may be with them or without."""
    with other_database(connection.settings_dict["NAME"]):
        detach = f"ALTER TABLE telemetry_window DETACH PARTITION {last_partition()}"
        with pytest.raises(TablesChanged, match="zz_last was dropped or detached"):
            write_copy(installation(home), io.BytesIO(), beside_the_first(detach), AT)
        made = make_copy(installation(home), home / "copy", say_nothing, AT)
        assert "zz_last" in made.digests


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
