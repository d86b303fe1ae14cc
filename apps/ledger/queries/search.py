"""One search over everything that has a name, each viewer within what they may see."""

from collections.abc import Callable

from apps.accounts.queries import Viewer
from apps.accounts.queries.saved_views import views_found
from apps.accounts.queries.search import Hits, Kind, Sought, people_found, teams_found
from apps.fleet.queries.search import devices_found, nodes_found, pools_found
from apps.pricing.queries.search import rates_found
from apps.workloads.queries.search import work_found, workloads_found

READS: dict[frozenset[Kind], Callable[[Viewer, Sought], tuple[Hits, ...]]] = {
    frozenset({Kind.VIEW}): lambda viewer, asked: (views_found(viewer, asked),),
    frozenset({Kind.TEAM}): lambda viewer, asked: (teams_found(viewer, asked),),
    frozenset({Kind.WORKLOAD}): lambda viewer, asked: (workloads_found(viewer, asked),),
    frozenset({Kind.JOB, Kind.RUN}): work_found,
    frozenset({Kind.NODE}): lambda _, asked: (nodes_found(asked),),
    frozenset({Kind.DEVICE}): lambda _, asked: (devices_found(asked),),
    frozenset({Kind.POOL}): lambda _, asked: (pools_found(asked),),
    frozenset({Kind.RATE}): lambda viewer, asked: (rates_found(viewer, asked),),
    frozenset({Kind.PERSON}): lambda viewer, asked: (people_found(viewer, asked),),
}


def everything_found(viewer: Viewer, asked: Sought, kind: Kind | None = None) -> tuple[Hits, ...]:
    """What bears the name, by kind (None: every kind), without kinds of which there is nothing.

    A text that is too short finds nothing.
    """
    if not asked.is_long_enough:
        return ()
    return tuple(
        hits
        for kinds, read in READS.items()
        if kind is None or kind in kinds
        for hits in read(viewer, asked)
        if hits.found and kind in {None, hits.kind}
    )
