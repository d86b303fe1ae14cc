"""Questions about training runs: what they cost, where their time went, what to do."""
