"""Headroom: stated policies per class of work, and the forecasts held against them."""
