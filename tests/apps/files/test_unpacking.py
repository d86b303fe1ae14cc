"""A file that is packed is read through one unpacker, within bounds, by whoever reads files."""

import ast
import gzip
import io
import random
import struct
import zipfile
from pathlib import Path

import pytest

from apps.economics.refusal import Refusal
from apps.files import unpacking
from apps.files.limits import MEBIBYTE
from apps.files.lines import FileUnreadable
from apps.files.unpacking import UnpackRefused, open_text, open_unpacked, read_small_text
from apps.placement.providers.spot_trace_file import read_spot_trace
from apps.planning.providers.series_file import column_names
from apps.workloads.providers.job_file import open_jobs

NOISE = random.Random(1).randbytes(5_000)  # noqa: S311
ROOT = Path(__file__).parents[3]
TEXT = "time,value\n2026-03-02 10:00,1\n"


def zipped(**files: bytes) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return whole.getvalue()


def unpacked(content: bytes, most_bytes: int = 64 * MEBIBYTE) -> bytes:
    with open_unpacked(io.BytesIO(content), most_bytes) as plain:
        return plain.read()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda text: zipped(table=text)])
def test_every_packing_in_every_encoding_is_the_same_text(pack, encoding: str) -> None:
    source = io.BufferedReader(io.BytesIO(pack(TEXT.encode(encoding))))
    with open_text(source, most_bytes=MEBIBYTE) as text:
        assert text.read() == TEXT


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (zipped(a=b"1", b=b"2"), "the zip holds 2 files"),
        (zipped(), "the zip holds 0 files"),
        (zipped(**{f"a{number}": b"1" for number in range(101)}), "more than 100 files"),
        (zipped(**{"xl/workbook.xml": b"1"}), "Excel workbook"),
        (zipped(a=gzip.compress(b"1")), "the zip holds a file that is packed itself"),
        (zipped(a=zipped(a=b"1")), "the zip holds a file that is packed itself"),
        (gzip.compress(gzip.compress(b"1")), "the gzip holds a file that is packed itself"),
        (gzip.compress(b"PAR1"), "the gzip holds a file that is packed itself"),
        (gzip.compress(NOISE)[:-2_000], "cannot be unpacked further"),
        (b"\x1f\x8bno gzip at all", "cannot be unpacked"),
        (b"PK\x03\x04no zip at all", "ends before its list of files"),
        (zipped(a=b"1" * 1_000)[:-30], "the zip"),
        (gzip.compress(b"x" * 3 * MEBIBYTE), "more than 2 MiB"),
        (zipped(a=b"x" * 3 * MEBIBYTE), "more than 2 MiB"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_unpacked_says_why(content: bytes, reason: str) -> None:
    with pytest.raises(UnpackRefused, match=reason):
        unpacked(content, 2 * MEBIBYTE)


def test_what_unpacks_to_hundreds_of_times_its_size_ends(monkeypatch) -> None:
    monkeypatch.setattr(unpacking, "RATIO_FROM", MEBIBYTE)
    zeros = bytes(8 * MEBIBYTE)
    for content in (gzip.compress(zeros), zipped(a=zeros)):
        with pytest.raises(UnpackRefused, match="more than 400 times its size"):
            unpacked(content)
    table = b"".join(b"node-%06d,2026-03-02,1.5\n" % number for number in range(200_000))
    assert unpacked(gzip.compress(table)) == table


def test_a_zip_whose_list_of_files_is_long_is_refused_before_it_is_read(monkeypatch) -> None:
    content = zipped(**{f"a{number}": b"" for number in range(2_000)})

    def opened(*_: object) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr(zipfile, "ZipFile", opened)
    with pytest.raises(UnpackRefused, match="more than 100 files"):
        unpacked(content)


def test_a_zip_that_has_its_list_of_files_elsewhere_is_refused_before_it_is_read(
    monkeypatch,
) -> None:
    """Zip64: the end says one file, and a record before it how many there are."""
    content = zipped(table=b"a,b")
    end = content.rindex(b"PK\x05\x06")
    wide = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 300_000, 300_000, 1 << 24, 0)
    place = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    monkeypatch.delattr(zipfile, "ZipFile")
    with pytest.raises(UnpackRefused, match="Zip64"):
        unpacked(content[:end] + wide + place + content[end:])


def test_a_file_that_is_read_whole_has_a_bound_and_says_what_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_bytes(b"x" * 2_048)
    with pytest.raises(FileUnreadable, match="more than 1 KiB"):
        read_small_text(path, 1_024)
    path.write_bytes(gzip.compress(b"x" * 2_048))
    with pytest.raises(FileUnreadable, match="more than 1 KiB"):
        read_small_text(path, 1_024)
    path.write_bytes(b"a,\xff\xfe\n")
    with pytest.raises(FileUnreadable, match="UTF-8"):
        read_small_text(path)


def test_all_readers_take_a_zip_and_refuse_one_of_two_files_in_the_same_words(
    tmp_path: Path,
) -> None:
    good, bad = tmp_path / "good.zip", tmp_path / "bad.zip"
    good.write_bytes(zipped(table=TEXT.encode()))
    bad.write_bytes(zipped(a=TEXT.encode(), b=TEXT.encode()))
    assert column_names(good) == ["time", "value"]
    with open_jobs(str(good)) as file:
        assert list(file.lines()) == TEXT.splitlines(keepends=True)
    with pytest.raises(Refusal, match="the zip holds 2 files"):
        column_names(bad)
    with pytest.raises(FileUnreadable, match="the zip holds 2 files"), open_jobs(str(bad)):
        pass
    with pytest.raises(Refusal, match="the zip holds 2 files"):
        read_spot_trace(bad)


OPENS = frozenset({"open", "read_text", "read_bytes"})
OWN_WAY = {
    "controlplane/management/commands/restore.py": "a copy is a stream of its own format with digests",
    "apps/placement/management/commands/skypilot_catalog.py": "standard input alone",
}


def test_no_command_and_no_reader_opens_a_file_past_the_unpacker() -> None:
    """Commands take files of any size from anybody who may run them; readers those that were sent."""
    found = set()
    places = [
        *ROOT.glob("apps/*/management/**/*.py"),
        *ROOT.glob("controlplane/management/**/*.py"),
        *ROOT.glob("apps/*/providers/**/*.py"),
    ]
    for path in places:
        text = path.read_text()
        tree = ast.parse(text)
        for node in ast.walk(tree):
            name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""  # fmt: skip
            if name in OPENS and "wb" not in ast.unparse(node) and "os." not in ast.unparse(node):
                found.add(path.relative_to(ROOT).as_posix())
    assert found - OWN_WAY.keys() <= {
        # What they open they hand to the unpacker, or only hash.
        "apps/ledger/providers/bill_file.py",
        "apps/planning/providers/series_file.py",
        "apps/workloads/providers/job_file.py",
    }, found
