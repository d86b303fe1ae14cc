"""Join tokens as they stand, without their secrets."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F

from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.fleet.models import JoinToken


@dataclass(frozen=True, slots=True)
class JoinTokenFact:
    """A join token: the nodes that it lets in, and how many agents came with it; nodes that are not on record go into `pool`."""

    id: int
    name: str
    cluster_id: int
    cluster: str
    pool_id: int | None
    pool: str | None
    node_names: tuple[str, ...]
    scopes: tuple[str, ...]
    most_nodes: int
    joined_agents: int
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None

    def is_good(self, at: datetime) -> bool:
        """Whether nodes may join with it at this moment."""
        return self.revoked_at is None and at < self.expires_at


def join_token_page(page_request: PageRequest) -> Page[JoinTokenFact]:
    """Join tokens by id, the newest first."""
    page = page_of(_token_rows(), page_request, "-id")
    return Page(list(map(_fact_of, page.rows)), page.after, page.before)


def join_tokens() -> list[JoinTokenFact]:
    """Every join token, the newest first, revoked and expired ones too."""
    return list(map(_fact_of, _token_rows().order_by("-id")))


def join_token(join_token_id: int) -> JoinTokenFact:
    """One join token; refuses JoinToken.DoesNotExist."""
    return _fact_of(_token_rows().get(id=join_token_id))


def _token_rows() -> Any:
    named = JoinToken.objects.annotate(cluster_name=F("cluster__name"), pool_name=F("pool__name"))
    return named.annotate(joined_agents=Count("agents")).values(
        *("id", "name", "cluster_id", "cluster_name", "pool_id", "pool_name", "node_names"),
        *("scopes", "most_nodes", "joined_agents", "created_at", "expires_at", "revoked_at"),
    )


def _fact_of(row: dict[str, Any]) -> JoinTokenFact:
    lists = {name: tuple(row[name]) for name in ("node_names", "scopes")}
    return JoinTokenFact(
        **{name.removesuffix("_name"): value for name, value in (row | lists).items()}
    )
