"""Data that came in and was not understood in the last two weeks, by door and name."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Max, Min, Sum

from apps.fleet.models import NotUnderstood

DOORS = {
    str(value): str(label) for value, label in NotUnderstood._meta.get_field("door").flatchoices
}
"""The doors that count, in words."""


@dataclass(frozen=True, slots=True)
class NotUnderstoodFact:
    """How often a name came in, since and until when; `place` is empty where it is of no node or cluster.

    An empty `name` stands for further names of days that had more than are kept.
    """

    door: str
    place: str
    name: str
    times: int
    first_on: date
    last_at: datetime
    example: str


def not_understood(place: str | None = None) -> list[NotUnderstoodFact]:
    """Return what was not understood, of one place or of all, the most frequent first."""
    rows = (
        NotUnderstood.objects.all() if place is None else NotUnderstood.objects.filter(place=place)
    )
    summed = rows.values("door", "place", "name").annotate(
        times=Sum("times"), first_on=Min("day"), last_at=Max("last_at"), example=Max("example")
    )
    facts = [NotUnderstoodFact(**row) for row in summed]
    return sorted(facts, key=lambda fact: (-fact.times, fact.door, fact.place, fact.name))


def not_understood_by_door() -> Iterator[tuple[str, int]]:
    """Yield each door with how often it met a name that it does not know, in the days that are kept."""
    yield from (
        NotUnderstood.objects.values_list("door").annotate(times=Sum("times")).order_by("door")
    )
