"""Training runs: what they cost and bought, side by side, one by one, and over a programme."""
