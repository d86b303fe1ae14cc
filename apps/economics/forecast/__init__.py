"""Forecasts of hourly demand: candidates, their mix, intervals, and how far to trust them."""
