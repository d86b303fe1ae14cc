"""Rows that the divide pass and the sweep write of training runs: RunDay, RunFigures."""

from apps.unit_economics.actions.runs.days import write_run_days
from apps.unit_economics.actions.runs.figures import figure_due_runs, write_run_figures
