"""Copies of an installation: made, brought back, and what stands on them (upgrades, moves, a schedule)."""
