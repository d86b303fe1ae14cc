"""Counting what came in and was not understood, within bounds, and forgetting it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db import connection, transaction

from apps.fleet.models import NotUnderstood
from apps.logs.changes import answered, logged_change

KEPT_DAYS = 14
MOST_NAMES, MOST_NAMES_OF_A_PLACE = 2_000, 100
"""Of one door and day, and of one place of it: names beyond are counted together, by their place while there is room."""
LONGEST_NAME = 200
# Arbitrary but fixed: who adds a name of a door counts those that are there alone.
ADDING = 7_305_062

COUNT = """
INSERT INTO fleet_notunderstood (door, place, name, day, times, last_at, example)
VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (door, day, place, name) DO UPDATE
SET times = fleet_notunderstood.times + excluded.times, last_at = excluded.last_at,
    example = CASE WHEN excluded.example = '' THEN fleet_notunderstood.example ELSE excluded.example END
"""


@dataclass(frozen=True, slots=True)
class Unread:
    """A name that a door met and no table has; `example` is an id of what had it."""

    door: str
    name: str
    place: str = ""
    example: str = ""


@logged_change(count=answered)
@transaction.atomic
def count_not_understood(*, unread: Iterable[Unread], at: datetime) -> int:
    """Count each by its door, place and name; how many there were."""
    day = at.astimezone(UTC).date()
    times: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], str] = {}
    for one in unread:
        key = (one.door, _storable_text(one.place), _storable_text(one.name) or "?")
        times[key] += 1
        if one.example:
            examples[key] = _storable_text(one.example)
    if not times:
        return 0
    rows = _bounded(times, day)
    with connection.cursor() as cursor:
        # In one order, so that two deliveries wait for each other in turn.
        for key in sorted(rows):
            door, place, name = key
            values = (door, place, name, day, rows[key], at, examples.get(key, ""))
            cursor.execute(COUNT, values)
    return sum(times.values())


@logged_change(count=answered)
def forget_not_understood(*, at: datetime) -> int:
    """Delete what is older than two weeks; how many rows."""
    before = at.astimezone(UTC).date() - timedelta(days=KEPT_DAYS)
    return NotUnderstood.objects.filter(day__lt=before).delete()[0]


def _bounded(times: Counter[tuple[str, str, str]], day: date) -> dict[tuple[str, str, str], int]:
    """The counts with names beyond a bound together under an empty one."""
    bounded: Counter[tuple[str, str, str]] = Counter()
    for door in sorted({key[0] for key in times}):
        known_keys = _counted_names(door, day)
        if any(key[0] == door and key not in known_keys for key in times):
            # Others may be about to add names too: who counts before they are stored finds room that they have.
            _add_alone(door)
            known_keys = _counted_names(door, day)
        of_place = Counter(place for _, place, _ in known_keys)
        for key, count in sorted(times.items()):
            if key[0] != door:
                continue
            if key not in known_keys:
                if len(known_keys) >= MOST_NAMES:
                    key = (door, "", "")
                elif of_place[key[1]] >= MOST_NAMES_OF_A_PLACE:
                    key = (door, key[1], "")
                else:
                    known_keys.add(key)
                    of_place[key[1]] += 1
            bounded[key] += count
    return dict(bounded)


def _counted_names(door: str, day: date) -> set[tuple[str, str, str]]:
    """The names of a door that have a count of their own on this day."""
    rows = NotUnderstood.objects.filter(door=door, day=day).exclude(name="")
    return {(door, *row) for row in rows.values_list("place", "name")}


def _add_alone(door: str) -> None:
    """Wait for whoever else adds names of this door, until their transaction is over; others wait for ours."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [ADDING, door])


def _storable_text(text: str) -> str:
    return text.replace("\x00", "")[:LONGEST_NAME]
