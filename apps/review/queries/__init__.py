"""Questions about findings."""
