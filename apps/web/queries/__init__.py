"""Queries of what this server itself has to give."""
