"""One agent to a state folder: two would send the same spool twice, and end each other's tokens."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

LOCK_NAME = "lock"
WAIT_SECONDS = 15.0
"""As long as one that is being stopped may take to send what is left."""
PAUSE_SECONDS = 0.25


class FolderTaken(Exception):
    """Another agent runs with this state folder."""


def hold_folder(folder: Path, wait_seconds: float = WAIT_SECONDS) -> int | None:
    """Keep others out until this process ends; a descriptor to keep, None where the folder takes none.

    Refuses FolderTaken. The kernel lets go by itself, however the process ends.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        # The spool says what is wrong with it, and memory stands in.
        return None
    until = time.monotonic() + wait_seconds
    while not _is_ours(lock):
        if time.monotonic() >= until:
            holder = os.read(lock, 32).decode("ascii", "replace").strip()
            os.close(lock)
            raise FolderTaken(
                f"another agent runs with the state folder {folder} (process {holder or 'unknown'}): "
                "a unit and a DaemonSet on one node? Stop one of them"
            )
        time.sleep(PAUSE_SECONDS)
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _is_ours(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
