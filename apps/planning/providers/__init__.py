"""Files that bring the history of a figure."""
