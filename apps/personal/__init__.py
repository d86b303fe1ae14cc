"""Columns that hold what names a person, and how a name is replaced in what they hold."""
