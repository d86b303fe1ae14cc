"""Shared costs: what is shared, by which method, and what each team carries of it."""
