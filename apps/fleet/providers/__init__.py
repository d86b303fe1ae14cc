"""Clouds, as those that read from them all need: who asks, how fast, and what went wrong."""
