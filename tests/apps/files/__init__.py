"""Stored files."""
