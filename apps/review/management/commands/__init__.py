"""Commands of review."""
