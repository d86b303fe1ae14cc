"""The spool on a disk that fails: full, read-only, damaged, or put back from an old copy."""

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runrate_agent.spool import BATCH, Spool

NOW = 1_795_168_800_000
MOST = 1 << 22


def opened(path: Path) -> Spool:
    return Spool(path, most_bytes=MOST, most_days=1)


def bodies(spool: Spool) -> list[bytes]:
    found = []
    while (item := spool.first()) is not None:
        found.append(item.body)
        spool.remove(item)
    return found


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """A small file system of its own in memory; only root may make one."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")


@needs_root
def test_a_file_system_that_is_full_costs_nothing_while_memory_lasts(tmp_path):
    wanted = [os.urandom(8_000) for _ in range(60)]
    with mounted(tmp_path / "disk", "size=2m"):
        spool = opened(tmp_path / "disk" / "spool.sqlite3")
        ballast = tmp_path / "disk" / "of somebody else"
        ballast.write_bytes(b"x" * 1_800_000)
        for body in wanted:
            spool.put(BATCH, body, at_ms=NOW, windows=1)

        assert "full" in spool.problem
        assert spool.depth().items == len(wanted)
        assert sorted(bodies(spool)) == sorted(wanted)
        assert spool.depth().dropped_windows == 0

        ballast.unlink()
        spool.put(BATCH, b"there is room again", at_ms=NOW)
        assert not spool.first().is_spare
        assert (bodies(spool), spool.problem) == ([b"there is room again"], "")
        spool.close()


@needs_root
def test_on_a_read_only_file_system_memory_stands_in_until_it_can_be_written_again(tmp_path):
    disk = tmp_path / "disk"
    with mounted(disk, "size=1m"):
        spool = opened(disk / "spool.sqlite3")
        spool.put(BATCH, b"before", at_ms=NOW)
        spool.close()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        spool = opened(disk / "spool.sqlite3")

        boot = spool.next_boot(NOW)
        spool.put(BATCH, b"meanwhile", at_ms=NOW)
        assert "cannot be opened" in spool.problem
        assert (bodies(spool), boot) == ([b"meanwhile"], NOW)

        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        spool.put(BATCH, b"after", at_ms=NOW)
        assert (bodies(spool), spool.problem) == ([b"before", b"after"], "")
        spool.close()


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def header_overwritten(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\xff" * 100)


def middle_overwritten(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xa5" * 20_000)


def wal_is_garbage(path: Path) -> None:
    path.with_name(path.name + "-wal").write_bytes(b"\x5a" * 10_000)
    path.with_name(path.name + "-shm").write_bytes(b"\x5a" * 32_768)


@pytest.mark.parametrize(
    ("damage", "least"),
    [
        (truncated, 1),
        (emptied, 1),
        (header_overwritten, 1),
        (middle_overwritten, 20),
        (wal_is_garbage, 41),
    ],
)
def test_a_damaged_file_never_stops_the_agent_and_tells_what_can_be_read_of_it(
    tmp_path, damage: Callable[[Path], None], least: int
):
    path = tmp_path / "spool.sqlite3"
    spool, wanted = opened(path), [os.urandom(4_000) for _ in range(40)]
    for body in wanted:
        spool.put(BATCH, body, at_ms=NOW, windows=1)
    spool.close()
    damage(path)

    spool = opened(path)
    boot = spool.next_boot(NOW)
    spool.put(BATCH, b"new", at_ms=NOW, windows=1)
    found = bodies(spool)

    assert b"new" in found
    assert set(found) <= {*wanted, b"new"}
    assert len(found) == len(set(found)) >= least
    spool.put(BATCH, b"goes on", at_ms=NOW)
    assert not spool.first().is_spare
    assert (spool.problem, boot >= NOW) == ("", True)
    spool.close()


def test_a_write_ahead_log_that_is_gone_costs_what_it_held_and_nothing_else(tmp_path):
    path = tmp_path / "spool.sqlite3"
    spool = opened(path)
    spool.put(BATCH, b"in the file", at_ms=NOW)
    spool.close()
    spool = opened(path)
    spool.put(BATCH, b"in the log", at_ms=NOW)
    kept = path.read_bytes()
    spool.close()
    path.write_bytes(kept)

    spool = opened(path)
    spool.put(BATCH, b"after", at_ms=NOW)

    assert bodies(spool) == [b"in the file", b"after"]
    assert spool.problem == ""
    spool.close()
