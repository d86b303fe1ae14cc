"""Savings since of recommendations that were done, by the ledger's days."""
