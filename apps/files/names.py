"""Names of stored files: parts between slashes, none of which leads out of the place they are in."""

import re

PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
DRAFT_ENDING = ".part"
"""Of what is being written; a file that is whole never ends so."""


class BadFileName(ValueError):
    """A name that is none of a stored file's, such as one with `..` in it."""


def checked_name(name: str) -> str:
    """Return `name`, as in uploads/3f.csv; refuses BadFileName."""
    is_good = all(PART.fullmatch(part) for part in name.split("/"))
    if not is_good or name.endswith(DRAFT_ENDING):
        raise BadFileName(f"{name!r} is no name of a stored file")
    return name
