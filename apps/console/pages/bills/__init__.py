"""Bills by browser: sent, taken in while the page says how far, looked at, undone."""
