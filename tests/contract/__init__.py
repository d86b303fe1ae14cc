"""Contracts between processes, held by tests on both sides."""
