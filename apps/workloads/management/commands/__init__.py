"""Commands that bring jobs in from files."""
