"""Changes of findings."""
