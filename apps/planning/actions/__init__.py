"""What planning changes: budgets, histories that are brought, forecasts, events, scenarios and requests that are kept."""

from apps.planning.actions.budgets import (
    BudgetNameTaken,
    BudgetNotUnderstood,
    NewBudget,
    add_budget,
    check_budget,
    remove_budget,
    replace_budget,
)
from apps.planning.actions.crossover import (
    ScenarioEntry,
    ScenarioExists,
    ask_scenario_run,
    keep_scenario,
    remove_scenario,
    replace_scenario,
    run_due_scenarios,
    run_scenario,
)
from apps.planning.actions.events import (
    add_demand_event,
    change_demand_event,
    remove_demand_event,
)
from apps.planning.actions.forecasts import make_forecasts, make_forecasts_if_due
from apps.planning.actions.history import import_history
from apps.planning.actions.requests import clock_capacity_requests
