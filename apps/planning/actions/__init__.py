"""Changes by planning: budgets, headroom policies, quotas, targets, histories, forecasts, events, scenarios, portfolios and requests."""

from apps.planning.actions.budgets import (
    BudgetNameTaken,
    BudgetNotUnderstood,
    add_budget,
    check_budget,
    remove_budget,
    replace_budget,
)
from apps.planning.actions.crossover import (
    ScenarioEntry,
    ScenarioExists,
    keep_scenario,
    remove_scenario,
    replace_scenario,
    request_scenario_run,
    run_due_scenarios,
    run_scenario,
)
from apps.planning.actions.events import (
    add_demand_event,
    change_demand_event,
    remove_demand_event,
)
from apps.planning.actions.forecasts import make_forecasts, make_forecasts_if_due
from apps.planning.actions.gpu_quotas import (
    GpuQuotaExists,
    GpuQuotaNotUnderstood,
    add_gpu_quota,
    check_gpu_quota,
    remove_gpu_quota,
    replace_gpu_quota,
)
from apps.planning.actions.headroom import (
    HeadroomNameTaken,
    HeadroomNotUnderstood,
    add_headroom_policy,
    check_headroom_policy,
    remove_headroom_policy,
    replace_headroom_policy,
)
from apps.planning.actions.history import import_history
from apps.planning.actions.portfolio import (
    PortfolioRefused,
    answer_portfolios,
    cancel_portfolio,
    request_portfolio,
    request_weekly_portfolio,
)
from apps.planning.actions.power_limits import (
    PowerLimitNameTaken,
    PowerLimitNotUnderstood,
    add_power_limit,
    check_power_limit,
    remove_power_limit,
    replace_power_limit,
)
from apps.planning.actions.requests import clock_capacity_requests
from apps.planning.actions.targets import (
    TargetNotUnderstood,
    check_activity_target,
    remove_activity_target,
    set_activity_target,
)
from apps.planning.queries.budgets import EnteredBudget as EnteredBudget
from apps.planning.queries.gpu_quotas import EnteredGpuQuota as EnteredGpuQuota
from apps.planning.queries.headroom import EnteredHeadroomPolicy as EnteredHeadroomPolicy
from apps.planning.queries.power_limits import EnteredPowerLimit as EnteredPowerLimit
from apps.planning.queries.targets import EnteredActivityTarget as EnteredActivityTarget
