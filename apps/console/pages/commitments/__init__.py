"""Commitments: what was bought ahead, how it is used, entering and ending it."""
