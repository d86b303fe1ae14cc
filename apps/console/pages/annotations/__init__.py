"""Events on the days of a chart: marks, the list of them, and notes of one's own."""
