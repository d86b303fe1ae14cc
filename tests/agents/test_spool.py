"""The spool: first in, first out, on disk, bounded; a broken disk costs as little as can be."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

from runrate_agent.spool import BATCH, DAY_MS, Spool

NOW = 1_795_168_800_000
FILL = """
import sys; from pathlib import Path; from runrate_agent.spool import Spool
spool = Spool(Path(sys.argv[1]), most_bytes=1 << 20, most_days=1)
for number in range(10_000):
    spool.put("batch", b"%d" % number, at_ms=1795168800000, windows=1)
    print(number, flush=True)
"""
FULL = """
import os, resource, signal, sys; from pathlib import Path; from runrate_agent.spool import Spool
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
spool = Spool(Path(sys.argv[1]), most_bytes=1 << 24, most_days=1)
spool.put("batch", b"before", at_ms=1795168800000, windows=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
problems = set()
for number in range(40):
    spool.put("batch", os.urandom(4_000).hex().encode(), at_ms=1795168800000, windows=1)
    problems.add(spool.problem)
kept, spared, bodies = spool.depth().items, 0, set()
while (item := spool.first()) is not None:
    spared += item.is_spare
    assert item.body not in bodies, "sent twice"
    bodies.add(item.body)
    spool.remove(item)
print(any(problems), spared > 0, kept, len(bodies), spool.depth().items)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "spool.sqlite3"


def opened(path, most_bytes=1 << 20, most_days=1.0) -> Spool:
    return Spool(path, most_bytes=most_bytes, most_days=most_days)


def bodies(spool: Spool) -> list[bytes]:
    found = []
    while (item := spool.first()) is not None:
        found.append(item.body)
        spool.remove(item)
    return found


def test_what_was_put_first_comes_first_also_after_a_restart(path):
    spool = opened(path)
    for number in range(5):
        spool.put(BATCH, b"%d" % number, at_ms=NOW)
    spool.remove(spool.first())
    spool.close()

    again = opened(path)

    assert bodies(again) == [b"1", b"2", b"3", b"4"]
    again.close()


def test_a_killed_agent_loses_nothing_that_was_put(path):
    writer = subprocess.Popen([sys.executable, "-c", FILL, str(path)], stdout=subprocess.PIPE)
    said = [int(writer.stdout.readline()) for _ in range(50)]
    os.kill(writer.pid, signal.SIGKILL)
    said += [int(line) for line in writer.stdout.read().split()]
    writer.wait()
    writer.stdout.close()

    spool = opened(path)

    found = [int(body) for body in bodies(spool)]
    assert found[: len(said)] == said
    assert found == list(range(len(found)))
    assert spool.problem == ""
    spool.close()


def test_the_oldest_go_where_there_is_no_room_and_are_counted(path):
    spool = opened(path, most_bytes=20_000)
    for _ in range(10):
        spool.put(BATCH, os.urandom(4_000), at_ms=NOW, windows=8)

    depth = spool.depth()
    assert depth.size_bytes <= 20_000
    assert depth.dropped_windows == (10 - depth.items) * 8 > 0
    spool.close()
    assert opened(path).depth().dropped_windows == depth.dropped_windows


def test_what_is_too_old_goes_and_is_counted(path):
    spool = opened(path)
    spool.put(BATCH, b"old", at_ms=NOW - 2 * DAY_MS, windows=3)

    spool.put(BATCH, b"new", at_ms=NOW, windows=1)

    assert spool.depth().dropped_windows == 3
    assert bodies(spool) == [b"new"]
    spool.close()


@pytest.mark.parametrize("damage", [b"this is no database", b"SQLite format 3\0" + b"\xff" * 8_000])
def test_a_file_that_is_no_database_is_set_aside(path, damage):
    path.write_bytes(damage)

    spool = opened(path)
    spool.put(BATCH, b"one", at_ms=NOW)

    assert bodies(spool) == [b"one"]
    assert path.with_suffix(".corrupt").read_bytes() == damage
    assert spool.problem == ""
    spool.close()


def test_on_a_full_disk_memory_stands_in_and_nothing_is_sent_twice(path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True
    )

    is_said, is_spared, kept, sent, left = done.stdout.split()
    assert (is_said, is_spared) == ("True", "True")
    assert (kept, sent, left) == ("41", "41", "0")


def test_where_there_is_no_folder_memory_stands_in_until_there_is_one(tmp_path):
    (tmp_path / "var").write_text("in the way")
    spool = opened(tmp_path / "var" / "spool.sqlite3")
    spool.put(BATCH, b"one", at_ms=NOW)
    assert "cannot be opened" in spool.problem
    assert spool.first().is_spare

    (tmp_path / "var").unlink()
    spool.put(BATCH, b"two", at_ms=NOW)

    assert spool.problem == ""
    assert sorted(bodies(spool)) == [b"one", b"two"]
    spool.close()


def test_a_boot_is_new_also_where_the_clock_went_back(path):
    spool = opened(path)
    first = spool.next_boot(NOW)
    spool.close()

    again = opened(path)

    assert again.next_boot(NOW - DAY_MS) > first
    again.close()


def test_a_copy_put_back_sends_what_it_holds_again_and_goes_on(path, tmp_path):
    spool = opened(path)
    spool.put(BATCH, b"one", at_ms=NOW)
    with sqlite3.connect(tmp_path / "copy") as copy, sqlite3.connect(path) as live:
        live.backup(copy)
    copy.close()
    live.close()
    bodies(spool)
    spool.close()
    for tail in ("-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
    (tmp_path / "copy").replace(path)

    restored = opened(path)
    restored.put(BATCH, b"two", at_ms=NOW)

    assert bodies(restored) == [b"one", b"two"]
    restored.close()


def test_two_threads_put_while_a_third_sends(path):
    spool, found = opened(path), []
    writers = [
        threading.Thread(
            target=lambda n=n: [spool.put(BATCH, b"%d-%d" % (n, i), at_ms=NOW) for i in range(100)]
        )
        for n in range(2)
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        found += bodies(spool)
    found += bodies(spool)

    assert sorted(found) == sorted(b"%d-%d" % (n, i) for n in range(2) for i in range(100))
    spool.close()


def test_what_is_set_aside_outlives_the_process_within_a_bound_and_is_counted_beyond(tmp_path):
    def opened() -> Spool:
        return Spool(tmp_path / "aside.sqlite3", most_bytes=40_000, most_days=1)

    spool = opened()
    for number in range(5):
        body = b'{"sequence":%d,"x":"%s"}' % (number, os.urandom(2_000).hex().encode())
        spool.put(BATCH, body, at_ms=1_000, windows=2)
        spool.set_aside(spool.first())
    spool.close()

    spool = opened()
    depth = spool.depth()
    assert depth.items == 0
    # A quarter of the room is for four of these.
    assert (depth.aside_items, depth.aside_windows, depth.dropped_windows) == (4, 8, 2)
    spool.bring_back()
    assert (spool.depth().items, spool.depth().aside_items) == (4, 0)
    assert spool.first().body.startswith(b'{"sequence":1,')
    spool.close()
