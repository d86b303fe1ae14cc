"""Search: one field over everything that has a name."""
