"""Alerts: what somebody should look at, and where it is sent."""
