"""Planning's tables."""

from apps.planning.models.budgets import Budget, BudgetMeasure, BudgetRecurrence, BudgetScope
from apps.planning.models.crossover import KeptAdvice, KeptScenario, ScenarioRun
from apps.planning.models.forecasts import (
    Forecast,
    ForecastMethod,
    ForecastSeries,
    HistoryPoint,
    SeriesDimension,
    SeriesMeasure,
)
from apps.planning.models.requests import (
    CapacityRequest,
    CapacityRequestStep,
    RequestState,
    RequestStepKind,
)
