"""Helpers that commands of placement share."""
