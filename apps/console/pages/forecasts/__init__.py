"""Forecasts: what is expected of each series, how far to trust it, and how earlier ones turned out."""
