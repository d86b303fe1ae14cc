"""Teams and tokens as lists and single things, for whoever asks over the wire."""

from collections.abc import Collection
from typing import Any, TypeAlias

from django.db.models import F, Q, QuerySet

from apps.accounts.models import AccessToken, Team
from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.accounts.queries.viewers import Viewer

Rows: TypeAlias = "QuerySet[Any, Any]"


def team_page(
    viewer: Viewer, page_request: PageRequest, parent: str | None = None
) -> Page[dict[str, Any]]:
    """The viewer's teams by name (those right below one of them)."""
    rows = _team_rows(viewer)
    if parent is not None:
        rows = rows.filter(parent__name=parent, parent_id__in=viewer.team_ids)
    return page_of(rows, page_request, "name")


def team_row(viewer: Viewer, team_id: int) -> dict[str, Any]:
    """One team; refuses Team.DoesNotExist also where it is none of the viewer's."""
    row: dict[str, Any] = _team_rows(viewer).get(id=team_id)
    return row


def team_named(name: str) -> int | None:
    """The team of this name."""
    return Team.objects.filter(name=name).values_list("id", flat=True).first()


def token_page(page_request: PageRequest) -> Page[dict[str, Any]]:
    """Tokens by id, the newest first; never their secrets, which nobody has."""
    return page_of(_token_rows(), page_request, "-id")


def token_row(token_id: int) -> dict[str, Any]:
    """One token; refuses AccessToken.DoesNotExist."""
    row: dict[str, Any] = _token_rows().get(id=token_id)
    return row


def _team_rows(viewer: Viewer) -> Rows:
    team_ids: Collection[int] = viewer.team_ids
    visible = Q() if viewer.sees_everything else Q(id__in=team_ids)
    rows: Rows = (
        Team.objects.filter(visible)
        .annotate(parent_name=F("parent__name"))
        .values("id", "name", "kind", "parent_id", "parent_name", "cost_centre")
    )
    return rows


def _token_rows() -> Rows:
    rows: Rows = AccessToken.objects.annotate(team_name=F("team__name")).values(
        *("id", "name", "prefix", "scopes", "team_id", "team_name", "created_at"),
        *("expires_at", "revoked_at", "last_used_at"),
    )
    return rows
