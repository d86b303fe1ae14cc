"""Recommendations on what work costs: detectors, a module for each sort, and the look that asks them all."""
