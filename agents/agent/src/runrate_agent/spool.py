"""What is to be sent, on disk until the server has it: an SQLite file, bounded by size and age."""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runrate_agent.compat import SLOTS
from runrate_agent.salvage import salvage

BATCH, REPORT, JOBS, REQUESTS = "batch", "report", "jobs", "requests"
MEMORY = ":memory:"
MOST_IN_MEMORY = 4 << 20
DAY_MS = 86_400_000
TABLES = """
CREATE TABLE IF NOT EXISTS item (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, made_at_ms INTEGER NOT NULL,
    windows INTEGER NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS aside (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, made_at_ms INTEGER NOT NULL,
    windows INTEGER NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memo (name TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
"""
TOO_MUCH = """
SELECT id, windows FROM (
    SELECT id, windows, made_at_ms, sum(size) OVER (ORDER BY id DESC) AS newer FROM item
) WHERE newer > ? OR made_at_ms < ?
"""
ASIDE_SHARE = 4
"""What is set aside has this part of the spool's room."""
INTO_ASIDE = "INSERT INTO aside (kind, made_at_ms, windows, size, body) VALUES (?, ?, ?, ?, ?)"
OUT_OF_ASIDE = """
INSERT INTO item (kind, made_at_ms, windows, size, body)
SELECT kind, made_at_ms, windows, size, body FROM aside ORDER BY id
"""
INSERT = "INSERT INTO item (kind, made_at_ms, windows, size, body) VALUES (?, ?, ?, ?, ?)"
Row = tuple[Any, ...]


@dataclass(frozen=True, **SLOTS)
class Item:
    """Something to send; `body` is the JSON text of an object. `is_spare`: only memory has it."""

    id: int
    kind: str
    made_at_ms: int
    windows: int
    body: bytes
    is_spare: bool = False


@dataclass(frozen=True, **SLOTS)
class Depth:
    """How much waits, how long already, and how many windows were ever dropped unsent; of these
    the server refused `refused_windows` since the start. `aside_items` with `aside_windows` are not
    sent until they are brought back."""

    items: int
    size_bytes: int
    oldest_at_ms: int | None
    dropped_windows: int
    refused_windows: int = 0
    aside_items: int = 0
    aside_windows: int = 0


class Spool:
    """Safe for several threads. Nothing it does raises: where the disk fails, memory stands in.

    `problem` says in words what is wrong with the file; empty while nothing is.
    """

    def __init__(self, path: Path, *, most_bytes: int, most_days: float) -> None:
        self._path = path
        self._most_bytes, self._most_ms = most_bytes, int(most_days * DAY_MS)
        self._lock = threading.Lock()
        self.problem = ""
        # Taken, and yet on disk: a full or read-only one does not even forget.
        self._past = 0
        self._disk = self._opened()
        self._spare = _connected(MEMORY)
        self._dropped = 0
        self._refused = 0

    def next_boot(self, now_ms: int) -> int:
        """A boot id that no earlier process used, whatever its clock said."""
        with self._lock:
            boot = max(now_ms, self._fact("boot") + 1)
            self._note("boot", boot)
        return boot

    def put(self, kind: str, body: bytes, *, at_ms: int, windows: int = 0) -> None:
        """Keep until it is sent; the oldest go where there is no room."""
        with self._lock:
            row = _row(kind, body, at_ms, windows)
            if self._on_disk(INSERT, row) is None:
                self._spare.execute(INSERT, row)
            self._drop(at_ms)

    def put_with_memo(
        self, kind: str, bodies: Sequence[bytes], *, at_ms: int, memo: tuple[str, bytes]
    ) -> None:
        """Keep things to be sent, and what the next process has to know beside them: both or
        neither, whenever the process ends. Where the disk fails there is no memo."""
        name, text = memo
        rows = [_row(kind, body, at_ms) for body in bodies]
        note = "INSERT OR REPLACE INTO memo VALUES (?, ?)"
        with self._lock:
            asked = [*((INSERT, row) for row in rows), (note, (name, zlib.compress(text)))]
            if not self._together(asked):
                self._spare.executemany(INSERT, rows)
            self._drop(at_ms)

    def memo(self, name: str) -> bytes | None:
        """What an earlier process left under this name."""
        with self._lock:
            rows = self._on_disk("SELECT body FROM memo WHERE name = ?", (name,))
        try:
            return zlib.decompress(rows[0][0]) if rows else None
        except zlib.error:
            return None

    def first(self) -> Item | None:
        """What was put first of what is still here."""
        query = (
            "SELECT id, kind, made_at_ms, windows, body FROM item WHERE id > ? ORDER BY id LIMIT 1"
        )
        with self._lock:
            rows, is_spare = self._on_disk(query, (self._past,)), False
            if not rows:
                rows, is_spare = self._spare.execute(query, (0,)).fetchall(), True
            if not rows:
                return None
            id_, kind, made_at_ms, windows, packed = rows[0]
        try:
            return Item(id_, kind, made_at_ms, windows, zlib.decompress(packed), is_spare)
        except zlib.error:
            with self._lock:
                self._remove(Item(id_, kind, made_at_ms, windows, b"", is_spare))
                self._count_dropped(windows)
            return self.first()

    def remove(self, item: Item) -> None:
        """It was taken."""
        with self._lock:
            self._remove(item)

    def lose(self, item: Item) -> None:
        """The server will never take it: its windows are dropped, and counted."""
        with self._lock:
            self._remove(item)
            self._count_dropped(item.windows)
            self._refused += item.windows

    def set_aside(self, item: Item) -> None:
        """Keep it apart from what is sent; the oldest of these go where there is no room, counted."""
        row = _row(item.kind, item.body, item.made_at_ms, item.windows)
        with self._lock:
            if self._on_disk(INTO_ASIDE, row) is None:
                self._spare.execute(INTO_ASIDE, row)
            self._remove(item)
            self._drop_aside()

    def bring_back(self) -> None:
        """What was set aside is to be sent again, after all that waits."""
        with self._lock:
            self._together([(OUT_OF_ASIDE, ()), ("DELETE FROM aside", ())])
            self._spare.execute(OUT_OF_ASIDE)
            self._spare.execute("DELETE FROM aside")

    def depth(self) -> Depth:
        """What waits, on disk and in memory."""
        query = "SELECT count(*), coalesce(sum(size), 0), min(made_at_ms) FROM item WHERE id > ?"
        with self._lock:
            on_disk = self._on_disk(query, (self._past,)) or []
            found = [*on_disk, *self._spare.execute(query, (0,)).fetchall()]
            dropped, refused = self._fact("dropped") + self._dropped, self._refused
            apart = "SELECT count(*), coalesce(sum(windows), 0) FROM aside"
            aside = [*(self._on_disk(apart) or []), *self._spare.execute(apart).fetchall()]
        oldest = min((row[2] for row in found if row[2] is not None), default=None)
        items, size = sum(row[0] for row in found), sum(row[1] for row in found)
        aside_items, aside_windows = sum(row[0] for row in aside), sum(row[1] for row in aside)
        return Depth(items, size, oldest, dropped, refused, aside_items, aside_windows)

    def close(self) -> None:
        """Write everything out."""
        with self._lock:
            if self._disk is not None:
                self._disk.close()
            self._disk = None

    def _together(self, statements: Sequence[tuple[str, Row]]) -> bool:
        """Whether the file took all of them; else it took none."""
        if self._on_disk("BEGIN IMMEDIATE") is None:
            return False
        is_taken = all(self._on_disk(each, asked) is not None for each, asked in statements)
        if is_taken and self._on_disk("COMMIT") is not None:
            return True
        problem = self.problem
        self._on_disk("ROLLBACK")
        self.problem = problem
        return False

    def _drop(self, at_ms: int) -> None:
        """The oldest, until the rest is young and small enough; counted."""
        oldest = at_ms - self._most_ms
        on_disk = self._on_disk(TOO_MUCH, (self._most_bytes, oldest))
        in_memory = self._spare.execute(TOO_MUCH, (MOST_IN_MEMORY, oldest)).fetchall()
        for id_, _ in in_memory:
            self._spare.execute("DELETE FROM item WHERE id = ?", (id_,))
        gone = [
            (id_, windows)
            for id_, windows in on_disk or ()
            if self._on_disk("DELETE FROM item WHERE id = ?", (id_,)) is not None
            and id_ > self._past
        ]
        self._count_dropped(sum(windows for _, windows in [*gone, *in_memory]))

    def _drop_aside(self) -> None:
        """The oldest of these, until the rest has room."""
        most = self._most_bytes // ASIDE_SHARE
        statement = TOO_MUCH.replace("FROM item", "FROM aside")
        gone = self._on_disk(statement, (most, 0)) or []
        for id_, _ in gone:
            self._on_disk("DELETE FROM aside WHERE id = ?", (id_,))
        spare = self._spare.execute(statement, (MOST_IN_MEMORY // ASIDE_SHARE, 0)).fetchall()
        for id_, _ in spare:
            self._spare.execute("DELETE FROM aside WHERE id = ?", (id_,))
        windows = sum(count for _, count in [*gone, *spare])
        self._count_dropped(windows)
        self._refused += windows

    def _remove(self, item: Item) -> None:
        if item.is_spare:
            self._spare.execute("DELETE FROM item WHERE id = ?", (item.id,))
            return
        # What is sent is always the oldest: all up to it is done with.
        self._past = max(self._past, item.id)
        self._on_disk("DELETE FROM item WHERE id <= ?", (self._past,))

    def _count_dropped(self, windows: int) -> None:
        if windows and not self._note("dropped", self._fact("dropped") + windows):
            self._dropped += windows

    def _fact(self, name: str) -> int:
        rows = self._on_disk("SELECT value FROM fact WHERE name = ?", (name,))
        return int(rows[0][0]) if rows else 0

    def _note(self, name: str, value: int) -> bool:
        kept = self._on_disk("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))
        return kept is not None

    def _on_disk(self, statement: str, asked: Row = ()) -> list[Row] | None:
        """The rows; None where the file does not do it, with `problem` said."""
        if self._disk is None:
            self._disk = self._opened()
        if self._disk is None:
            return None
        try:
            rows = self._disk.execute(statement, asked).fetchall()
        except sqlite3.Error as broken:
            self._fail(broken)
            return None
        if not statement.lstrip().startswith("SELECT"):
            self.problem = ""
        return rows

    def _fail(self, broken: sqlite3.Error) -> None:
        self.problem = f"the spool {self._path} fails ({broken}); memory stands in for it"
        if _is_corrupt(broken) and self._disk is not None:
            self._disk.close()
            self._disk = self._begun_anew()

    def _opened(self) -> sqlite3.Connection | None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _connected(str(self._path))
        except (OSError, sqlite3.Error) as broken:
            self.problem = f"the spool {self._path} cannot be opened ({broken})"
            if not _is_corrupt(broken):
                return None
        return self._begun_anew()

    def _begun_anew(self) -> sqlite3.Connection | None:
        """A damaged file is kept for whoever wants to look, and what it still tells goes on."""
        damaged = self._path.with_suffix(".corrupt")
        try:
            self._path.replace(damaged)
            for tail in ("-wal", "-shm"):
                old, new = (each.with_name(each.name + tail) for each in (self._path, damaged))
                new.unlink(missing_ok=True)
                if old.exists():
                    old.replace(new)
            fresh = _connected(str(self._path))
        except (OSError, sqlite3.Error):
            return None
        salvage(damaged, fresh)
        return fresh


def _row(kind: str, body: bytes, at_ms: int, windows: int = 0) -> Row:
    packed = zlib.compress(body, 6)
    return kind, at_ms, windows, len(packed), packed


def _connected(path: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        # A power cut may cost the last seconds; a killed process costs nothing.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -256")
        db.execute("PRAGMA wal_autocheckpoint = 64")
        db.executescript(TABLES)
    except sqlite3.Error:
        db.close()
        raise
    return db


def _is_corrupt(broken: Exception) -> bool:
    return isinstance(broken, sqlite3.DatabaseError) and any(
        word in str(broken) for word in ("not a database", "malformed", "corrupt")
    )
