"""Files of a process under /proc."""

from __future__ import annotations

import os
from pathlib import Path

PART_BYTES = 1 << 14


def read_of(root: Path, pid: int, name: str, most_bytes: int = 1 << 16) -> bytes | None:
    """The file's first bytes; None where the process is gone or another user's."""
    try:
        return bytes_of(root, pid, name, most_bytes)
    except OSError:
        return None


def bytes_of(root: Path, pid: int, name: str, most_bytes: int = 1 << 16) -> bytes:
    """The file's first bytes; refuses PermissionError of another user's, OSError of one that is gone.

    Not by pathlib: it interns each part of a path, and pids that come and go make the interpreter's
    table of such words, a megabyte, be laid out anew time and again, which scatters memory.
    """
    file = os.open(f"{root}/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = b""
        while len(found) < most_bytes:
            part = os.read(file, min(PART_BYTES, most_bytes - len(found)))
            if not part:
                break
            found += part
    finally:
        os.close(file)
    return found
