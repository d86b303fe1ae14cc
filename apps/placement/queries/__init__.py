"""Questions about what can be had, and what was quoted."""
