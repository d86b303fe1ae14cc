"""Prices over the wire, for finance and platform."""
