"""The sweeps that forget sessions which ended, and finish what takes names out."""

import logging

from celery import shared_task
from django.utils import timezone

from apps.accounts import actions
from apps.files import PlaceUnreachable
from apps.personal.files import forget_files_naming
from apps.personal.names import FileOutcome, TakenNames

log = logging.getLogger(__name__)


@shared_task
def forget_ended_sessions() -> None:
    """Nobody can come back with them."""
    actions.forget_ended_sessions(at=timezone.now())


@shared_task
def finish_removals() -> None:
    """Go on with removals of names, unless somebody is at them: what was broken off, and files."""
    for removal_id in actions.removals_to_finish():
        try:
            actions.go_on_removing(
                removal_id=removal_id, at=timezone.now(), look_through=_forget_names_in_files
            )
        except actions.RemovalUnderWay:
            continue
        except actions.NamesNotReadable as unreadable:
            log.warning("removal_not_finished removal=%s reason=%s", removal_id, unreadable)
        except PlaceUnreachable as away:
            log.warning("removal_waits removal=%s reason=%s", removal_id, away)
        except Exception:
            # One that fails keeps no other from its end.
            log.exception("removal_failed removal=%s", removal_id)


def _forget_names_in_files(names: TakenNames) -> list[FileOutcome]:
    """Those that were made until now: the last of them may have read a name before it went."""
    return forget_files_naming(names, timezone.now())
