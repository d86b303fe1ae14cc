"""The shape of the house, held in place."""
