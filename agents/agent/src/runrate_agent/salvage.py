"""What can still be read of a damaged spool."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ITEMS = "SELECT id, kind, made_at_ms, windows, size, body FROM item ORDER BY id"
KEEP = "INSERT OR IGNORE INTO item (id, kind, made_at_ms, windows, size, body) VALUES (?,?,?,?,?,?)"
FACTS = "SELECT name, value FROM fact"


def salvage(damaged: Path, into: sqlite3.Connection) -> int:
    """Copy what is readable, from both ends up to the damage; how many items that were."""
    try:
        source = sqlite3.connect(f"{damaged.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        return 0
    source.text_factory = bytes
    kept = 0
    try:
        into.execute("BEGIN")
        for query in (ITEMS, f"{ITEMS} DESC"):
            for id_, kind, *rest in _readable(source, query):
                row = (id_, bytes(kind).decode("utf-8", "replace"), *rest)
                kept += into.execute(KEEP, row).rowcount
        for name, value in _readable(source, FACTS):
            told = (bytes(name).decode("utf-8", "replace"), value)
            into.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", told)
        into.execute("COMMIT")
    except (sqlite3.Error, TypeError):
        if into.in_transaction:
            into.execute("ROLLBACK")
        return 0
    finally:
        source.close()
    return kept


def _readable(source: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    try:
        yield from source.execute(query)
    except sqlite3.Error:
        return
