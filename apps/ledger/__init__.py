"""The ledger of what it did cost: charges, settlements, lines and rollups."""
