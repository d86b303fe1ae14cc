"""Overview: what the period cost, what share of it worked, and where the rest went."""
