"""Saved views: pages with their filters, kept by name, and where they are opened from."""
