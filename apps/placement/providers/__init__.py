"""Files that bring what was seen of spot."""
