"""Moves that could be made: the work of the last weeks held against what can be had, kind by kind."""
