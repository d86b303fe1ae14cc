"""Findings: which unit costs and trainings changed their level, by what, and what changed then."""
