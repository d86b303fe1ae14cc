"""Answers kept for a day, so that a write repeated under its key is done once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from apps.accounts.models import RepeatedRequest

KEPT_FOR = timedelta(hours=24)


class RepeatDiffers(Exception):
    """One key names two different requests: nobody could say which is meant."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A request by the caller's own name of it; `digest` is of all that it asks."""

    caller: str
    key: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The answer that was given the first time."""

    status: int
    body: Mapping[str, Any]


@transaction.atomic
def find_stored_answer(*, repeat: Repeat, at: datetime) -> StoredAnswer | None:
    """The first answer; None where this is the first request, whose answer is now to be kept.

    A second one that comes meanwhile waits for the caller's transaction. Refuses RepeatDiffers.
    """
    RepeatedRequest.objects.filter(created_at__lte=at - KEPT_FOR).delete()
    row, is_first = RepeatedRequest.objects.get_or_create(
        caller=repeat.caller,
        key=repeat.key,
        defaults={"digest": repeat.digest, "created_at": at},
    )
    if is_first:
        return None
    if bytes(row.digest) != repeat.digest:
        raise RepeatDiffers(f"Idempotency-Key {repeat.key!r} was used for another request")
    return StoredAnswer(row.status, row.body)


def keep_answer(*, repeat: Repeat, status: int, body: Mapping[str, Any]) -> None:
    """Keep what was answered, in the transaction of what was done."""
    RepeatedRequest.objects.filter(caller=repeat.caller, key=repeat.key).update(
        status=status, body=body
    )
