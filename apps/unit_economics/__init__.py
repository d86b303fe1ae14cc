"""What it did cost: charges, settlements, lines and rollups."""
