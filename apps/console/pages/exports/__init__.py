"""Files of ledger rows: asked for, watched, fetched and called off."""
