"""Cloud accounts: what is read of them and how that goes, limits, machines nobody knows."""
