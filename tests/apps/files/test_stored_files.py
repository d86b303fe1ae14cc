"""Stored files, in a folder and in a bucket alike: seen whole or not at all, listed, deleted."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fsspec
import pytest

from apps.files import (
    BadFileName,
    PlaceUnreachable,
    begin_file,
    delete_file,
    forget_drafts,
    is_stored,
    list_files,
    local_copy,
    open_file,
    stored,
    write_file,
)
from apps.files.marks import MARK, NOTE
from tests.buckets import new_bucket, served_buckets

MEGABYTE = 1 << 20
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def buckets() -> Iterator[dict[str, str]]:
    with served_buckets() as served:
        yield served


@pytest.fixture
def bucket(buckets, monkeypatch) -> str:
    for name, value in buckets.items():
        monkeypatch.setenv(name, value)
    return new_bucket(buckets)


@pytest.fixture(params=["home", "folder", "bucket"])
def place(request, settings, tmp_path) -> str:
    """Each kind of place that a setting may name."""
    settings.HOME = tmp_path / "home"
    settings.FILES = ""
    if request.param == "folder":
        settings.FILES = str(tmp_path / "mounted")
    if request.param == "bucket":
        settings.FILES = f"s3://{request.getfixturevalue('bucket')}/some/prefix"
    return request.param


def written(name: str, content: bytes) -> None:
    with write_file(name) as draft:
        draft.write(content)


def write_and_fail(name: str, content: bytes, *, is_published: bool) -> None:
    with write_file(name) as draft:
        draft.write(content)
        if is_published:
            draft.publish()
        raise ZeroDivisionError


def content_of(name: str) -> bytes:
    with open_file(name) as source:
        return source.read()


def test_what_was_written_is_read_listed_and_deleted(place: str) -> None:
    before = datetime.now(UTC) - timedelta(seconds=5)
    written("exports/1.csv.gz", b"one")
    written("exports/deeper/2.csv.gz", b"")
    written("uploads/3.bill", b"three")
    assert content_of("exports/1.csv.gz") == b"one"
    assert content_of("exports/deeper/2.csv.gz") == b""
    entries = list_files("exports")
    assert [(entry.name, entry.size_bytes) for entry in entries] == [
        ("exports/1.csv.gz", 3),
        ("exports/deeper/2.csv.gz", 0),
    ]
    assert all(
        before < entry.modified_at < datetime.now(UTC) + timedelta(seconds=5) for entry in entries
    )
    written("exports/1.csv.gz", b"another")
    assert content_of("exports/1.csv.gz") == b"another"
    delete_file("exports/1.csv.gz")
    delete_file("exports/1.csv.gz")
    assert not is_stored("exports/1.csv.gz")
    assert is_stored("exports/deeper/2.csv.gz")
    with pytest.raises(FileNotFoundError):
        open_file("exports/1.csv.gz")
    with pytest.raises(FileNotFoundError), local_copy("exports/1.csv.gz"):
        pass


def test_a_file_is_not_seen_before_it_is_whole(place: str) -> None:
    with write_file("backups/a.zst") as draft:
        for _ in range(40):
            draft.write(b"x" * MEGABYTE)
        assert not is_stored("backups/a.zst")
        assert list_files("backups") == []
        draft.publish()
        assert is_stored("backups/a.zst")
    assert list_files("backups")[0].size_bytes == 40 * MEGABYTE


@pytest.mark.parametrize("blocks", [1, 40])
def test_a_file_whose_writer_fails_is_never_seen(place: str, blocks: int) -> None:
    written("backups/a.zst", b"the one before")
    with pytest.raises(ZeroDivisionError):
        write_and_fail("backups/a.zst", b"x" * blocks * MEGABYTE, is_published=False)
    assert content_of("backups/a.zst") == b"the one before"
    assert forget_drafts("backups", datetime.now(UTC) + timedelta(hours=1)) == 0


def test_what_fails_after_it_was_published_takes_nothing_back(place: str) -> None:
    with pytest.raises(ZeroDivisionError):
        write_and_fail("backups/a.zst", b"whole", is_published=True)
    assert content_of("backups/a.zst") == b"whole"


def test_a_draft_whose_writer_died_is_forgotten_and_a_young_one_is_not(place: str) -> None:
    draft = begin_file("uploads/1.upload")
    draft.write(b"x" * 20 * MEGABYTE)
    # moto dates every upload to November 2010.
    young = datetime(2010, 11, 1, tzinfo=UTC) if place == "bucket" else datetime.now(UTC)
    assert forget_drafts("uploads", young - timedelta(days=1)) == 0
    assert forget_drafts("uploads", datetime.now(UTC) + timedelta(days=1)) == 1
    assert forget_drafts("uploads", datetime.now(UTC) + timedelta(days=1)) == 0
    assert list_files("uploads") == []
    draft.discard()


def test_a_tool_gets_a_path_for_as_long_as_it_needs_one(place: str, settings) -> None:
    written("uploads/1.csv", b"a,b\n")
    with local_copy("uploads/1.csv") as path:
        assert path.read_bytes() == b"a,b\n"
        assert path.name == "1.csv"
    assert is_stored("uploads/1.csv")
    assert not any((settings.HOME / "temporary").glob("*"))


def test_what_lay_at_home_before_the_setting_is_found_there(place: str, settings) -> None:
    where, settings.FILES = settings.FILES, ""
    written("uploads/old.csv", b"old")
    settings.FILES = where
    assert content_of("uploads/old.csv") == b"old"
    written("uploads/new.csv", b"new")
    assert [entry.name for entry in list_files("uploads")] == ["uploads/new.csv", "uploads/old.csv"]
    with local_copy("uploads/old.csv") as path:
        assert path.read_bytes() == b"old"
    delete_file("uploads/old.csv")
    assert not is_stored("uploads/old.csv")


@pytest.mark.parametrize(
    "name", ["../secret_key", "uploads/../secret_key", "/etc/passwd", "", "a//b", ".x", "a.part"]
)
def test_no_name_leads_out_of_the_place(name: str, settings, tmp_path) -> None:
    settings.HOME = tmp_path
    for act in (open_file, delete_file, is_stored, begin_file, list_files):
        with pytest.raises(BadFileName):
            act(name)


def test_a_bucket_whose_mark_is_gone_is_not_taken_for_one_without_the_file(
    place: str, settings
) -> None:
    if place == "home":
        return
    written("exports/1.csv.gz", b"one")
    mark = settings.FILES.removesuffix("/") + "/.runrate-files"
    if place == "bucket":
        fsspec.filesystem("s3").rm_file(mark)
    else:
        Path(mark).unlink()
    with pytest.raises(PlaceUnreachable, match="is missing"):
        open_file("exports/2.csv.gz")


def test_of_several_marks_the_first_stays(place: str, settings, tmp_path) -> None:
    if place == "home":
        return
    written("exports/1.csv.gz", b"one")
    marked = stored._places()[0]
    before = marked._mark()
    marked.place.begin_mark(MARK, "f" * 32)
    assert marked._mark() == before
    settings.HOME = tmp_path / "another"
    written("exports/2.csv.gz", b"two")
    assert (tmp_path / "another" / NOTE).read_text() == (tmp_path / "home" / NOTE).read_text()


def test_a_folder_and_its_files_are_shut_to_others(settings, tmp_path) -> None:
    settings.HOME, settings.FILES = tmp_path / "home", str(tmp_path / "mounted")
    written("exports/1.csv", b"one")
    assert (tmp_path / "mounted" / "exports").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "mounted" / "exports" / "1.csv").stat().st_mode & 0o777 == 0o600


def test_a_bucket_that_is_not_there_or_does_not_answer_is_said(
    bucket: str, settings, tmp_path, monkeypatch
) -> None:
    settings.HOME, settings.FILES = tmp_path, f"s3://{bucket}-of-another"
    with pytest.raises(PlaceUnreachable, match="bucket"):
        written("exports/1.csv", b"one")
    # Nothing listens on the first port; fsspec makes a client for each endpoint.
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    fsspec.filesystem("s3").clear_instance_cache()
    with pytest.raises(PlaceUnreachable, match="connect"):
        written("exports/1.csv", b"one")
    fsspec.filesystem("s3").clear_instance_cache()


@pytest.mark.proof
def test_memory_stays_as_it_is_while_a_large_file_goes_through_a_bucket(
    buckets, bucket: str, tmp_path
) -> None:
    script = """
import django; django.setup()
from apps.files import open_file, write_file, local_copy
def most(): return int(next(x for x in open("/proc/self/status") if "VmHWM" in x).split()[1]) // 1024
with write_file("backups/small") as draft: draft.write(b"x")
with open_file("backups/small") as source: source.read()
before = most()
with write_file("backups/large") as draft:
    for _ in range(160): draft.write(b"x" * (1 << 20))
with local_copy("backups/large") as path: assert path.stat().st_size == 160 << 20
print(most() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={
            **os.environ,
            **buckets,
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "RUNRATE_HOME": str(tmp_path),
            "RUNRATE_FILES": f"s3://{bucket}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 110


def test_who_keeps_files_in_a_folder_loads_no_driver(tmp_path) -> None:
    script = (
        "import sys, django; django.setup()\n"
        "from apps.files import write_file, open_file, list_files\n"
        "with write_file('exports/1') as draft: draft.write(b'x')\n"
        "open_file('exports/1').close(); list_files('exports')\n"
        "print([name for name in ('fsspec', 's3fs', 'aiobotocore', 'boto3') if name in sys.modules])"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "controlplane.settings", "RUNRATE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
