"""Teams and tokens over the wire."""
