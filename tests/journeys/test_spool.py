"""Bodies on their way are counted, by caller and over all, and nothing of them stays."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from apps.web.rest.body_limits import BodySender
from controlplane.bodies import BodyReader, Refused
from controlplane.spool import Spool, SpoolFull

MEGABYTE = 1 << 20
ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys
from pathlib import Path
from controlplane import spool

spool.LEFT_FREE_BYTES, size_bytes, step = map(int, sys.argv[2:])
own = spool.Spool(Path(sys.argv[1]), most_bytes=size_bytes, most_bytes_of_caller=size_bytes)
holding = own.holding("token:1")
sys.stdin.readline()
try:
    for _ in range(size_bytes // step):
        holding.grow(step)
    print("held", flush=True)
except spool.SpoolFull:
    holding.close()
    print("refused", flush=True)
sys.stdin.readline()
"""
"""A process that makes room for a body when it is told, says whether there was any, and keeps it until it is told."""


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path, most_bytes=10 * MEGABYTE, most_bytes_of_caller=6 * MEGABYTE)


def test_what_is_held_is_bounded_by_caller_and_over_all(spool: Spool) -> None:
    first = spool.holding("token:1")
    first.grow(6 * MEGABYTE)
    with pytest.raises(SpoolFull, match="of yours"):
        spool.holding("token:1").grow(1)
    with pytest.raises(SpoolFull, match="more than 10 MiB"):
        spool.holding("token:2").grow(5 * MEGABYTE)
    second = spool.holding("token:2")
    second.grow(4 * MEGABYTE)
    assert spool.held_bytes == 10 * MEGABYTE
    first.close()
    first.close()
    assert spool.held_bytes == 4 * MEGABYTE
    second.body().close()
    assert spool.held_bytes == 0


def test_a_long_body_is_read_as_it_came_and_leaves_no_name(spool: Spool, tmp_path: Path) -> None:
    holding = spool.holding("token:1")
    parts = [bytes([number]) * MEGABYTE for number in range(3)]
    for part in parts:
        holding.grow(len(part))
        holding.write(part)
    assert list(tmp_path.iterdir()) == []
    with holding.body() as body:
        assert body.read() == b"".join(parts)
        assert body.seek(0) == 0
        assert body.read(2) == b"\x00\x00"
    assert spool.held_bytes == 0


def test_a_body_that_nobody_has_any_more_is_held_no_longer(spool: Spool) -> None:
    holding = spool.holding("token:1")
    holding.grow(MEGABYTE)
    body = holding.body()
    del holding, body
    assert spool.held_bytes == 0


def test_the_disk_keeps_room_for_the_database(spool: Spool, monkeypatch) -> None:
    monkeypatch.setattr("controlplane.spool.LEFT_FREE_BYTES", 1 << 60)
    with pytest.raises(SpoolFull, match="no room"):
        spool.holding("token:1").grow(2 * MEGABYTE)


@pytest.mark.parametrize("step", [512 * MEGABYTE, MEGABYTE], ids=["length said", "in chunks"])
def test_processes_together_leave_the_database_its_room(tmp_path: Path, step: int) -> None:
    """Of four bodies that each have room alone, and of which no two have, one is held at most."""
    size_bytes = 512 * MEGABYTE
    left_free = shutil.disk_usage(tmp_path).free - size_bytes - size_bytes // 2
    command = [
        sys.executable,
        "-c",
        HOLDER,
        str(tmp_path),
        *map(str, (left_free, size_bytes, step)),
    ]
    holders = [_holder(command) for _ in range(4)]
    try:
        for holder in holders:
            _tell(holder)
        said = [_line(holder) for holder in holders]
        assert set(said) <= {"held", "refused"}
        assert said.count("held") <= 1
        for holder in holders:
            _tell(holder)
            assert holder.wait(60) == 0
        # Nothing of them stays: there is room for one again.
        holders.append(_holder(command))
        _tell(holders[-1])
        assert _line(holders[-1]) == "held"
    finally:
        for holder in holders:
            holder.kill()
            holder.communicate()


def _holder(command: list[str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)


def _tell(holder: subprocess.Popen[str]) -> None:
    assert holder.stdin is not None
    holder.stdin.write("go\n")
    holder.stdin.flush()


def _line(holder: subprocess.Popen[str]) -> str:
    assert holder.stdout is not None
    return holder.stdout.readline().strip()


def test_room_that_is_reserved_is_none_of_the_body(tmp_path: Path) -> None:
    """A body in chunks has its room by several mebibytes; read, it is as long as it came."""
    spool = Spool(tmp_path, most_bytes=10 * MEGABYTE, most_bytes_of_caller=10 * MEGABYTE)
    holding = spool.holding("token:1")
    for part in (b"x" * MEGABYTE, b"y" * MEGABYTE, b"z"):
        holding.grow(len(part))
        holding.write(part)
    with holding.body() as body:
        assert body.seek(0, os.SEEK_END) == 2 * MEGABYTE + 1
        body.seek(-2, os.SEEK_END)
        assert body.read() == b"yz"


@pytest.fixture
def full_disk(spool: Spool, monkeypatch) -> Spool:
    """A disk that had room when it was asked, and has none when it is written to."""
    monkeypatch.setattr(spool, "open_file", lambda size_bytes: os.open("/dev/full", os.O_RDWR))
    return spool


def test_a_disk_that_becomes_full_is_said_at_any_step_and_nothing_stays_held(
    full_disk: Spool,
) -> None:
    holding = full_disk.holding("token:1")
    holding.grow(2 * MEGABYTE)
    with pytest.raises(SpoolFull, match="The disk has no room for it"):
        holding.write(b"x" * 2 * MEGABYTE)
    holding.close()
    # What is short waits in memory until the whole is read.
    short = full_disk.holding("token:1")
    short.grow(2 * MEGABYTE)
    short.write(b"x")
    with pytest.raises(SpoolFull, match="The disk has no room for it"):
        short.body()
    short.close()
    grown = full_disk.holding("token:1")
    grown.grow(MEGABYTE)
    grown.write(b"x" * MEGABYTE)
    with pytest.raises(SpoolFull, match="The disk has no room for it"):
        grown.grow(1)
    grown.close()
    assert full_disk.held_bytes == 0


@pytest.mark.parametrize("length", [2 * MEGABYTE, None])
def test_a_body_for_which_the_disk_has_no_room_is_answered_in_words(
    full_disk: Spool, length: int | None
) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(2):
            yield b"x" * MEGABYTE

    async def read() -> None:
        reader = BodyReader(ThreadPoolExecutor(1))
        reader.spool = full_disk
        async with asyncio.timeout(10) as limit:
            await reader._read(parts(), length, 4 * MEGABYTE, BodySender("token:1"), limit)

    # In a thread of its own: a browser of a test before may have left a loop running in this one.
    with ThreadPoolExecutor(1) as thread, pytest.raises(Refused) as refused:
        thread.submit(asyncio.run, read()).result()
    status, title, detail = refused.value.args
    assert (status, title) == (503, "No room for this body now")
    assert "The disk has no room for it" in detail
    assert full_disk.held_bytes == 0
