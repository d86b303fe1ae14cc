"""What engines on the node answered: their counters read, and told by the hour."""
