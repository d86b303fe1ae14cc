"""Formatters of apps.show that templates may call, under their own names."""
