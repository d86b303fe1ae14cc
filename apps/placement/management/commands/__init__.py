"""Commands of placement."""
