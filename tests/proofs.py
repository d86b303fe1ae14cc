"""How often a proof tries what it proves."""

import os


def tries(most: int) -> int:
    """Its number of examples; `PROOF_TRIES` says another, to run it in pieces by seeds."""
    return int(os.environ.get("PROOF_TRIES", most))
