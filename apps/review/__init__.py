"""Review of what to do about cost: what changed in what work costs, since when, and why."""
