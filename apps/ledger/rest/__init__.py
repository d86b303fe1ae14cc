"""Shared parts of the REST answers about costs, of this app and of those above it."""
