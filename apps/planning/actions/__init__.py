"""What planning changes: histories that are brought, forecasts that are kept."""

from apps.planning.actions.forecasts import make_forecasts, make_forecasts_if_due
from apps.planning.actions.history import import_history
