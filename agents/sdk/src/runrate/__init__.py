"""Runrate's training SDK: reserves the import name; the SDK itself comes with runs."""
