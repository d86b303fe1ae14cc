"""Whole ways through the house: from a payload or a command to what a person reads."""
