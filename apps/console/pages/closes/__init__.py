"""Months: closing them, and what each team was told."""
