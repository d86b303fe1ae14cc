"""Tables of placement: each declared once, for its page, its CSV and its REST list."""
