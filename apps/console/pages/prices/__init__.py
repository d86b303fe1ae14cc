"""Prices: what is paid for what, since when, by which source; and use without a price."""
