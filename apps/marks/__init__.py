"""Which hours changed and must be done again, by which pass."""
