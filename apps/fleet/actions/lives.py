"""When a node's life becomes known, or its end: told to whoever puts things on nodes by name.

Rooms above cannot be called from here, and what they keep by name must follow in the transaction of
the change: an app's registration names its follower, as `follows_lives`, which is loaded with the
first change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from django.apps import apps
from django.db import connection
from django.utils.module_loading import import_string

# Arbitrary but fixed: who reads names to put something there shares it, who changes lives has it
# alone. So either sees what the other wrote, whoever came first.
LIVES = 7_305_061


@dataclass(frozen=True, slots=True)
class ChangedLife:
    """Who bears this name of the cluster in `[starts_at, ends_at)` (None: for good) changed."""

    cluster_id: int
    name: str
    starts_at: datetime
    ends_at: datetime | None
    at: datetime


Follower = Callable[[ChangedLife], None]


@cache
def _followers() -> tuple[Follower, ...]:
    names = [getattr(app, "follows_lives", "") for app in apps.get_app_configs()]
    return tuple(import_string(name) for name in names if name)


def notify_lifetime_change(change: ChangedLife) -> None:
    """Have everybody follow a change, after it is written."""
    for follower in _followers():
        follower(change)


def lock_lifetimes_shared() -> None:
    """Until the transaction ends no node is added or ended; before names are read."""
    _lock_lifetimes("SELECT pg_advisory_xact_lock_shared(%s)")


def lock_lifetimes_exclusive() -> None:
    """Wait for everybody who reads names, and keep them out until the transaction ends.

    To be called before anything else is locked or written.
    """
    _lock_lifetimes("SELECT pg_advisory_xact_lock(%s)")


def _lock_lifetimes(query: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query, [LIVES])
