"""What recommendations that were done have saved since, by the ledger's days."""
