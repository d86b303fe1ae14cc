"""Teams: what their work cost and came to, what of it bought nothing, and how long it waited."""
