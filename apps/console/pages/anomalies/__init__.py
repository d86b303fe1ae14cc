"""Anomalies and improvements: which unit costs changed their level, by what, and what changed then."""
