"""Readers of what schedulers write down about jobs; they return frozen values, never models."""
