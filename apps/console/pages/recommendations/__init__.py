"""Recommendations: what to do about what work costs, and what came of it."""
