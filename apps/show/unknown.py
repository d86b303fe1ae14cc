"""The one mark for what is not known: never a zero, never an empty cell."""

UNKNOWN = "–"
