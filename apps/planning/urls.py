"""Addresses of planning's REST surface."""

from django.urls import path

from apps.planning.api.budgets import BudgetHeadroom, Budgets, OneBudget
from apps.planning.api.crossover import (
    EvaluatedScenario,
    RunsOfScenario,
    SavedScenarioDetail,
    SavedScenarios,
)
from apps.planning.api.daily_forecasts import DaysOfForecast, MonthsOfForecast
from apps.planning.api.demand_events import DemandEvents, OneDemandEvent
from apps.planning.api.forecasts import Forecasts, HoursOfForecast
from apps.planning.api.gpu_quotas import GpuQuotas
from apps.planning.api.headroom import ActivityTargets, HeadroomPolicies
from apps.planning.api.plans import (
    CopiesOfPlan,
    HistoryOfPlan,
    ItemsOfPlan,
    OnePlannedItem,
    OneWhatIfPlan,
    WhatIfPlans,
)
from apps.planning.api.portfolio import (
    CancelledPortfolioRun,
    LatestPortfolio,
    OnePortfolioRun,
    PortfolioRuns,
)
from apps.planning.api.power_limits import PowerLimits
from apps.planning.api.requests import (
    CapacityRequestDecision,
    CapacityRequests,
    OneCapacityRequest,
)
from apps.planning.api.waiting_costs import WaitingCosts

urlpatterns = [
    path("budgets", Budgets.as_view(), name="api-budgets"),
    path("budgets/<int:budget_id>", OneBudget.as_view(), name="api-budget"),
    path("budgets/<int:budget_id>/headroom", BudgetHeadroom.as_view(), name="api-budget-headroom"),
    path("demand-events", DemandEvents.as_view(), name="api-demand-events"),
    path("demand-events/<int:demand_event_id>", OneDemandEvent.as_view(), name="api-demand-event"),
    path("gpu-quotas", GpuQuotas.as_view(), name="api-gpu-quotas"),
    path("forecasts", Forecasts.as_view(), name="api-forecasts"),
    path("forecasts/<int:forecast_id>/hours", HoursOfForecast.as_view(), name="api-forecast-hours"),
    path(
        "forecasts/<int:daily_forecast_id>/days", DaysOfForecast.as_view(), name="api-forecast-days"
    ),
    path(
        "forecasts/<int:daily_forecast_id>/months",
        MonthsOfForecast.as_view(),
        name="api-forecast-months",
    ),
    path("portfolio", LatestPortfolio.as_view(), name="api-portfolio"),
    path("portfolio/runs", PortfolioRuns.as_view(), name="api-portfolio-runs"),
    path("portfolio/runs/<int:portfolio_id>", OnePortfolioRun.as_view(), name="api-portfolio-run"),
    path(
        "portfolio/runs/<int:portfolio_id>/cancel",
        CancelledPortfolioRun.as_view(),
        name="api-cancel-portfolio-run",
    ),
    path("activity-targets", ActivityTargets.as_view(), name="api-activity-targets"),
    path("headroom-policies", HeadroomPolicies.as_view(), name="api-headroom-policies"),
    path("power-limits", PowerLimits.as_view(), name="api-power-limits"),
    path("crossovers", SavedScenarios.as_view(), name="api-crossovers"),
    path("crossovers/evaluate", EvaluatedScenario.as_view(), name="api-crossover-evaluate"),
    path("crossovers/<int:scenario_id>", SavedScenarioDetail.as_view(), name="api-crossover"),
    path("crossovers/<int:scenario_id>/runs", RunsOfScenario.as_view(), name="api-crossover-runs"),
    path("waiting-costs", WaitingCosts.as_view(), name="api-waiting-costs"),
    path("plans", WhatIfPlans.as_view(), name="api-plans"),
    path("plans/<int:plan_id>", OneWhatIfPlan.as_view(), name="api-plan"),
    path("plans/<int:plan_id>/copies", CopiesOfPlan.as_view(), name="api-plan-copies"),
    path("plans/<int:plan_id>/items", ItemsOfPlan.as_view(), name="api-plan-items"),
    path(
        "plans/<int:plan_id>/items/<int:item_id>", OnePlannedItem.as_view(), name="api-planned-item"
    ),
    path("plans/<int:plan_id>/history", HistoryOfPlan.as_view(), name="api-plan-history"),
    path("capacity-requests", CapacityRequests.as_view(), name="api-capacity-requests"),
    path(
        "capacity-requests/<int:capacity_request_id>",
        OneCapacityRequest.as_view(),
        name="api-capacity-request",
    ),
    path(
        "capacity-requests/<int:capacity_request_id>/decision",
        CapacityRequestDecision.as_view(),
        name="api-capacity-request-decision",
    ),
]
