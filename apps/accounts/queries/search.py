"""The text that somebody typed into the search, and the teams and people it finds."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Case, IntegerField, Q, Value, When

from apps.accounts.models import Team, User
from apps.accounts.queries.viewers import Viewer

SHORTEST = 2
LONGEST = 100


class Kind(StrEnum):
    """Kinds of things that can be found, in the order in which they are shown."""

    VIEW = "view"
    TEAM = "team"
    WORKLOAD = "workload"
    JOB = "job"
    RUN = "run"
    NODE = "node"
    DEVICE = "device"
    POOL = "pool"
    RATE = "rate"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Search:
    """A text to look for, at least SHORTEST letters, and how many of each kind to tell."""

    text: str
    limit: int

    @property
    def is_long_enough(self) -> bool:
        """Shorter texts would find nearly everything."""
        return len(self.text) >= SHORTEST


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A thing by its own name, and in `about` what tells it from others of like name."""

    id: int
    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Hits:
    """Search hits of one kind; `has_more`: there is more than was to be told."""

    kind: Kind
    found: tuple[SearchHit, ...]
    has_more: bool


def sought(text: str, limit: int) -> Search:
    """Return the typed text without what no name holds: outer and double spaces, control characters."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return Search(" ".join(printable.split())[:LONGEST].strip(), limit)


def hits(kind: Kind, candidates: Iterable[SearchHit], sought_: Search) -> Hits:
    """Of what was read, one more than is to be told, so that it is known whether there is more."""
    rows = list(candidates)
    return Hits(kind, tuple(rows[: sought_.limit]), len(rows) > sought_.limit)


def begins_first(field: str, text: str) -> Case:
    """An order in which names that begin with the text come before those that only hold it."""
    begins = When(**{f"{field}__istartswith": text}, then=Value(0))
    return Case(begins, default=Value(1), output_field=IntegerField())


def about(*parts: str) -> str:
    """Return what is known of a thing as one text, without what is empty."""
    return ", ".join(filter(None, parts))


def search_teams(viewer: Viewer, query: Search) -> Hits:
    """The viewer's teams by a part of their name or the beginning of their cost centre."""
    named = Q(name__icontains=query.text) | Q(cost_centre__istartswith=query.text)
    rows = Team.objects.filter(named)
    if not viewer.sees_everything:
        rows = rows.filter(id__in=viewer.team_ids)
    ordered = rows.order_by(begins_first("name", query.text), "name")[: query.limit + 1]
    values = ordered.values_list("id", "name", "cost_centre")
    return hits(Kind.TEAM, (SearchHit(*row) for row in values), query)


def search_people(viewer: Viewer, query: Search) -> Hits:
    """People by a part of their name or the beginning of their address, for who sees everything."""
    if not viewer.sees_everything:
        return Hits(Kind.PERSON, (), has_more=False)
    named = Q(name__icontains=query.text) | Q(email__istartswith=query.text)
    ordered = User.objects.filter(named).order_by(begins_first("name", query.text), "name", "id")
    values = ordered.values_list("id", "name", "email", "is_active")[: query.limit + 1]
    search_hits = (
        SearchHit(id_, name, about(email, "" if is_active else "can no longer sign in"))
        for id_, name, email, is_active in values
    )
    return hits(Kind.PERSON, search_hits, query)
