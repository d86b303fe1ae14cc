"""One search over everything that has a name, each viewer within what they may see."""

from collections.abc import Callable

from apps.accounts.queries import Viewer
from apps.accounts.queries.saved_views import views_found
from apps.accounts.queries.search import Hits, Kind, Sought, people_found, teams_found
from apps.fleet.queries.search import devices_found, nodes_found, pools_found
from apps.pricing.queries.search import rates_found
from apps.workloads.queries.search import work_found, workloads_found

READS: dict[frozenset[Kind], Callable[[Viewer, Sought], tuple[Hits, ...]]] = {
    frozenset({Kind.VIEW}): lambda viewer, query: (views_found(viewer, query),),
    frozenset({Kind.TEAM}): lambda viewer, query: (teams_found(viewer, query),),
    frozenset({Kind.WORKLOAD}): lambda viewer, query: (workloads_found(viewer, query),),
    frozenset({Kind.JOB, Kind.RUN}): work_found,
    frozenset({Kind.NODE}): lambda _, query: (nodes_found(query),),
    frozenset({Kind.DEVICE}): lambda _, query: (devices_found(query),),
    frozenset({Kind.POOL}): lambda _, query: (pools_found(query),),
    frozenset({Kind.RATE}): lambda viewer, query: (rates_found(viewer, query),),
    frozenset({Kind.PERSON}): lambda viewer, query: (people_found(viewer, query),),
}


def everything_found(viewer: Viewer, query: Sought, kind: Kind | None = None) -> tuple[Hits, ...]:
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
