"""Computations on values alone, in workers and commands; numpy stays in here."""
