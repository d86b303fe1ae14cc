"""A bill beside what was estimated."""
