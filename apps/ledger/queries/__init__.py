"""Questions to the ledger: what it cost, how sure that is, and how far it is settled."""

from apps.ledger.queries.comparison import Compared, Comparison
from apps.ledger.queries.costs import (
    Basis,
    CostFilter,
    CostGroup,
    GroupNotKnown,
    Standing,
    cost_groups,
    groupable,
    standing,
)
from apps.ledger.queries.open_questions import (
    UnclaimedWork,
    UnpricedPool,
    unclaimed_work,
    unpriced_pools,
)
from apps.ledger.queries.overview import (
    DaySum,
    OverviewFacts,
    PoolTime,
    Share,
    StateSum,
    TeamSum,
    overview_facts,
)
from apps.ledger.queries.windows import (
    Calendar,
    Window,
    WindowCutsADay,
    WindowNotUnderstood,
    calendar_of,
    window_of,
)
from apps.ledger.queries.ownership import JobCost, cost_of_jobs, unowned_costs

__all__ = [
    "Basis",
    "Calendar",
    "Compared",
    "Comparison",
    "CostFilter",
    "CostGroup",
    "DaySum",
    "GroupNotKnown",
    "OverviewFacts",
    "PoolTime",
    "Share",
    "Standing",
    "StateSum",
    "TeamSum",
    "UnclaimedWork",
    "UnpricedPool",
    "Window",
    "JobCost",
    "WindowCutsADay",
    "WindowNotUnderstood",
    "calendar_of",
    "cost_groups",
    "groupable",
    "overview_facts",
    "standing",
    "unclaimed_work",
    "unpriced_pools",
    "window_of",
]
    "cost_of_jobs",
    "unowned_costs",
