"""Costs that work did incur: charges, settlements, lines and rollups."""
