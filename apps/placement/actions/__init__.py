"""Changes: books of offers, prices of egress, quotes."""
