"""Questions to the ledger."""
