"""Placement over REST."""
