"""Placement: a job tried by hand, quotes and what came of them."""
