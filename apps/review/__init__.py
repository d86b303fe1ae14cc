"""What to do about it: what changed in what work costs, since when, and why."""
