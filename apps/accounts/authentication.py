"""Bearer tokens: written by the accounts person."""
