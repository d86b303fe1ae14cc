"""Pages with their filters that people keep by name, as far as a viewer finds them."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q, QuerySet

from apps.accounts.models import SavedView
from apps.accounts.queries.search import Hits, Kind, Search, SearchHit, begins_first, hits
from apps.accounts.queries.viewers import Viewer


@dataclass(frozen=True, slots=True)
class SavedViewFact:
    """A kept page; `address` is its path and query. Without a team, and not for everybody, it is its owner's."""

    id: int
    name: str
    address: str
    owner_id: int
    owner_name: str
    team_id: int | None
    team_name: str
    is_for_everybody: bool
    created_at: datetime

    @property
    def shared_with(self) -> str:
        """Who finds it, in words."""
        if self.is_for_everybody:
            return "everybody"
        return f"team {self.team_name}" if self.team_name else "nobody else"


def saved_views(viewer: Viewer) -> list[SavedViewFact]:
    """The viewer's own, and those that are shared with a team that they see or with everybody; by name."""
    return _facts_of(_visible_views(viewer).order_by("name", "id"))


def saved_view(view_id: int, viewer: Viewer) -> SavedViewFact | None:
    """One of them."""
    return next(iter(_facts_of(_visible_views(viewer).filter(id=view_id))), None)


def search_views(viewer: Viewer, query: Search) -> Hits:
    """Those that have the text in their name."""
    named = _visible_views(viewer).filter(name__icontains=query.text)
    ordered = named.order_by(begins_first("name", query.text), "name", "id")
    facts = _facts_of(ordered[: query.limit + 1])
    return hits(
        Kind.VIEW,
        (SearchHit(fact.id, fact.name, f"kept by {fact.owner_name}") for fact in facts),
        query,
    )


def _visible_views(viewer: Viewer) -> QuerySet[SavedView]:
    """Shared with a team: for whoever sees that team, finance and platform among them."""
    mine = Q(owner_id=viewer.person_id) if viewer.person_id is not None else Q(pk__in=())
    of_teams = ~Q(team=None) if viewer.sees_everything else Q(team_id__in=viewer.team_ids)
    return SavedView.objects.filter(mine | of_teams | Q(is_for_everybody=True))


def _facts_of(views: QuerySet[SavedView]) -> list[SavedViewFact]:
    rows = views.annotate(owner_name=F("owner__name"), team_name=F("team__name"))
    facts = rows.values(*SavedViewFact.__slots__)
    return [SavedViewFact(**{**fact, "team_name": fact["team_name"] or ""}) for fact in facts]
