"""Teams: what their work cost and came to, what of it was waste, and how long it waited."""
