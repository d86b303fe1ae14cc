"""Who can do what whoever asks may not do."""

from apps.accounts.queries import manager_names
from apps.show.amounts import counted

MOST_NAMES = 3


def who_manages(does: str) -> str:
    """A sentence that names people of the platform, who do it; there may be none."""
    names = manager_names()
    if not names:
        return f"Somebody of the role platform {does}."
    more = f" or {counted(len(names) - MOST_NAMES, 'other')}" if len(names) > MOST_NAMES else ""
    return f"Somebody of the role platform {does}: {', '.join(names[:MOST_NAMES])}{more}."
