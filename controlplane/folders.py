"""Folders that are Runrate's own: nobody else may enter them."""

import os
import stat
from pathlib import Path


def own_folder(path: Path) -> Path:
    """Make a folder that its owner alone may enter (0700), or shut one that is ours; the folder.

    What is for everybody, like /tmp, stays as it is, and so does what belongs to another account.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.stat()
    is_everybodys = bool(found.st_mode & stat.S_ISVTX)
    if stat.S_IMODE(found.st_mode) & 0o077 and found.st_uid == os.geteuid() and not is_everybodys:
        path.chmod(0o700)
    return path
