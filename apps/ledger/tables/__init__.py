"""Tables of the ledger: each declared once, for its page, its CSV and its REST list."""
