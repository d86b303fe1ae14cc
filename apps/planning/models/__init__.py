"""Planning's tables."""

from apps.planning.models.budgets import Budget, BudgetMeasure, BudgetRecurrence, BudgetScope
from apps.planning.models.crossover import KeptAdvice, KeptScenario, ScenarioRun
from apps.planning.models.events import DemandEvent, DemandEventKind, EventEffect
from apps.planning.models.forecasts import (
    Forecast,
    ForecastMethod,
    ForecastPaths,
    ForecastSeries,
    Granularity,
    HistoryDay,
    HistoryPoint,
    Reconciliation,
    SeriesDimension,
    SeriesMeasure,
)
from apps.planning.models.gpu_quotas import GpuQuota
from apps.planning.models.headroom import HeadroomDimension, HeadroomPolicy
from apps.planning.models.personal import PERSONAL_FIELDS
from apps.planning.models.plans import PlannedItem, PlannedKind, WhatIfPlan
from apps.planning.models.portfolio import PortfolioRun, PortfolioState
from apps.planning.models.power_limits import PowerLimit
from apps.planning.models.requests import (
    CapacityRequest,
    CapacityRequestStep,
    RequestState,
    RequestStepKind,
)
from apps.planning.models.series_imports import RejectedSeriesRow, SeriesImport
from apps.planning.models.targets import ActivityTarget, TargetMeasure, TargetScope
