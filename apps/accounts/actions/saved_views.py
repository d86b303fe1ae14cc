"""Pages with their filters, kept by name; whoever kept one changes and removes it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.accounts.actions.removal import delete_locked
from apps.accounts.models import SavedView
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change

MOST_VIEWS = 200
"""As many as one person keeps."""


class SavedViewRefused(Refusal):
    """A view has a name of its own, and a person keeps no more than MOST_VIEWS."""


@dataclass(frozen=True, slots=True)
class SavedViewEntry:
    """The name of a saved view and who finds it: with no team and not for everybody its owner alone."""

    name: str
    team_id: int | None = None
    is_for_everybody: bool = False


@logged_change()
@transaction.atomic
def save_view(*, owner_id: int, address: str, entry: SavedViewEntry, at: datetime) -> int:
    """Keep an address of the console, path and query, for its owner; the id. Refuses SavedViewRefused."""
    if SavedView.objects.filter(owner_id=owner_id).count() >= MOST_VIEWS:
        raise SavedViewRefused(
            "name", f"nobody keeps more than {MOST_VIEWS} views: remove one first"
        )
    with _named_once(entry.name):
        view = SavedView.objects.create(
            owner_id=owner_id, address=address, created_at=at, **_fields_of(entry)
        )
    return view.id


@logged_change()
@transaction.atomic
def change_saved_view(*, view_id: int, owner_id: int, entry: SavedViewEntry) -> None:
    """Name and share it anew. Refuses SavedViewRefused, also where it is not the owner's."""
    with _named_once(entry.name):
        changed = SavedView.objects.filter(id=view_id, owner_id=owner_id).update(
            **_fields_of(entry)
        )
    if not changed:
        raise SavedViewRefused("", "there is no such view of yours any more")


@logged_change()
def remove_saved_view(*, view_id: int, owner_id: int) -> None:
    """Forget it, for those it is shared with too. Refuses SavedViewRefused where it is not the owner's."""
    if not delete_locked(SavedView.objects.filter(id=view_id, owner_id=owner_id)):
        raise SavedViewRefused("", "there is no such view of yours any more")


def _fields_of(entry: SavedViewEntry) -> dict[str, object]:
    return {
        "name": entry.name,
        "team_id": entry.team_id,
        "is_for_everybody": entry.is_for_everybody,
    }


def _named_once(name: str) -> AbstractContextManager[None]:
    taken = SavedViewRefused("name", f"you keep a view named {name!r} already")
    return refusing({"saved_view_named_once": taken})
