"""Clouds that can be read from: a folder each, whose `CLOUD` says what it is and what it takes.

All of Runrate asks `registry`; a reader's own libraries are loaded only where it reads.
"""
