"""One search over everything that has a name, each viewer within what they may see."""

from collections.abc import Callable

from apps.accounts.queries import Viewer
from apps.accounts.queries.saved_views import search_views
from apps.accounts.queries.search import Hits, Kind, Search, search_people, search_teams
from apps.fleet.queries.search import search_devices, search_nodes, search_pools
from apps.pricing.queries.search import search_rates
from apps.workloads.queries.search import search_jobs_and_runs, search_workloads

READS: dict[frozenset[Kind], Callable[[Viewer, Search], tuple[Hits, ...]]] = {
    frozenset({Kind.VIEW}): lambda viewer, query: (search_views(viewer, query),),
    frozenset({Kind.TEAM}): lambda viewer, query: (search_teams(viewer, query),),
    frozenset({Kind.WORKLOAD}): lambda viewer, query: (search_workloads(viewer, query),),
    frozenset({Kind.JOB, Kind.RUN}): search_jobs_and_runs,
    frozenset({Kind.NODE}): lambda _, query: (search_nodes(query),),
    frozenset({Kind.DEVICE}): lambda _, query: (search_devices(query),),
    frozenset({Kind.POOL}): lambda _, query: (search_pools(query),),
    frozenset({Kind.RATE}): lambda viewer, query: (search_rates(viewer, query),),
    frozenset({Kind.PERSON}): lambda viewer, query: (search_people(viewer, query),),
}


def search_everything(viewer: Viewer, query: Search, kind: Kind | None = None) -> tuple[Hits, ...]:
    """Return what bears the name, by kind (None: every kind), without kinds of which there is nothing.

    A text that is too short finds nothing.
    """
    if not query.is_long_enough:
        return ()
    return tuple(
        hits
        for kinds, read in READS.items()
        if kind is None or kind in kinds
        for hits in read(viewer, query)
        if hits.found and kind in {None, hits.kind}
    )
