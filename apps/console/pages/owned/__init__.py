"""Hardware of one's own: plans, what they came to, and changes of them."""
