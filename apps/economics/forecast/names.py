"""Names of what forecasts are made of, for those that only show them: without numpy."""

NAIVE = "naive"
BASELINES = (NAIVE, "seasonal_naive_24", "seasonal_naive_168", "hour_of_day_mean_7", "ses")
CANDIDATES = (
    *BASELINES,
    "median_24",
    "median_168",
    "hour_of_week_mean_4",
    "day_shape_at_last_level",
    "day_shape_at_level_of_day",
    "week_shape_at_level_of_day",
)
RUNRATE = "runrate"
QUANTILE_LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The outermost two are the ends of the 80 % interval."""
SEEN_LEVELS = (0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
"""At which a forecast keeps quantiles of the hours that came: what its own nine say nothing of."""
JUDGED_HORIZONS = (24, 168)
"""So many hours ahead a forecast's method is judged on the history it was made from."""
JUDGED_DAYS_AHEAD = (28, 84)
"""The same of a forecast by day."""
SCENARIOS = 200
"""That a forecast by day has, and that planned work on top of it has."""
