"""Costs: from teams down to workloads, jobs, lines and what made one line."""
