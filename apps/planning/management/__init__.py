"""Helpers that commands of planning share."""
