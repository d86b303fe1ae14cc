"""Tables of the fleet: each declared once, for its page, its CSV and its REST list."""
