"""Questions to the ledger: what it cost, how sure that is, and how far it is settled."""

from apps.ledger.queries.costs import (
    Basis,
    SettlementStatus,
    settlement_status,
)
from apps.ledger.queries.cube.groups import cost_groups
from apps.ledger.queries.cube.states import States, StateSum
from apps.ledger.queries.node_time import (
    PoolSpan,
    charged_since,
    hours_of_node,
    time_of_nodes,
    time_of_pools,
)
from apps.ledger.queries.open_questions import (
    UnclaimedWork,
    UnpricedPool,
    unclaimed_work,
    unpriced_pools,
)
from apps.ledger.queries.overview import (
    OverviewFacts,
    Share,
    overview_facts,
)
from apps.ledger.queries.ownership import cost_of_jobs
from apps.ledger.queries.unowned import UnownedWork, unowned_work
from apps.ledger.queries.windows import (
    Calendar,
    Window,
    WindowCutsADay,
    WindowNotUnderstood,
    calendar_of,
    window_of,
)
