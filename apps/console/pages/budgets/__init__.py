"""Budgets: what may be spent or used, what came, what is expected, and what is left."""
