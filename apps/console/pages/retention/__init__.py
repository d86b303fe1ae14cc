"""Retention: how long what is in the database stays there."""
