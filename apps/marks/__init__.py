"""Marks of the hours that changed and must be done again, by which pass."""
