"""Histories of series by browser: sent, looked at, said what they are of, then imported in the background."""
